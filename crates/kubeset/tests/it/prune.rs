//! Deleting: only what is provably ours, no more than people expect, and never by accident.

use evenkeel_kubeset::{Manifests, SetPolicy};
use evenkeel_kubesim::faults::{Fault, Which};
use evenkeel_kubesim::{Cluster, Verb};
use evenkeel_reconcile::{Adopt, Approval, Policy, Prune, Word};
use evenkeel_testkit::on_each_cluster;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::bed::{Bed, OWNER_KEY, read, settle, told, why};

fn maps(bed: &Bed, count: usize) -> String {
    (0..count)
        .map(|at| bed.map(&format!("m{at}"), "1"))
        .collect()
}

#[tokio::test]
async fn what_is_no_longer_wanted_goes_and_what_is_to_be_kept_stays() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "prune-keep").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        let kept = bed.map("kept", "1").replace("metadata: {", "metadata: {annotations: {evenkeel.io/on-removal: keep}, ");
        settle(&set, &[bed.namespace(), bed.map("goes", "1"), bed.map("owned", "1"), kept].concat(), &policy).await;
        let namespace = bed.of("v1", "Namespace", None).get(&bed.name).await.unwrap();
        let owner = json!({"metadata": {"ownerReferences": [{
            "apiVersion": "v1", "kind": "Namespace", "name": bed.name, "uid": namespace.metadata.uid}]}});
        bed.maps().patch("owned", &PatchParams::default(), &Patch::Merge(owner)).await.unwrap();
        let pruned = settle_again(&bed, &set, &policy).await;
        assert_eq!(told(&pruned)["ConfigMap goes"], Word::Deleted, "{}", why(&pruned));
        assert!(bed.maps().get_opt("goes").await.unwrap().is_none());
        assert!(bed.maps().get_opt("kept").await.unwrap().is_some());
        assert!(bed.maps().get_opt("owned").await.unwrap().is_some());
    })
    .await;
}

/// The owner reference may reach the view a moment later; until then the delete is stale.
async fn settle_again(
    bed: &Bed,
    set: &evenkeel_kubeset::Set,
    policy: &SetPolicy,
) -> evenkeel_kubeset::Converged {
    let text = read(&bed.namespace());
    let first = set.converge(&text, policy).await;
    if !first.is_settled() {
        set.converge(&text, policy).await;
    }
    first
}

/// Incidents: argo-cd#18480 and fleet#1650, an empty render deletes everything.
#[tokio::test]
async fn an_empty_text_deletes_nothing_and_says_so() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "prune-empty").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        settle(&set, &(bed.namespace() + &bed.map("m", "1")), &policy).await;
        let empty = set.converge(&Manifests::default(), &policy).await;
        assert!(
            told(&empty).values().all(|word| *word == Word::Refused),
            "{}",
            why(&empty)
        );
        assert!(bed.maps().get_opt("m").await.unwrap().is_some());
    })
    .await;
}

/// Incident: argo-cd#9227, a small edit deletes most of everything.
#[tokio::test]
async fn many_deletes_wait_for_approval_while_the_rest_proceeds() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "prune-brake").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        settle(&set, &(bed.namespace() + &maps(&bed, 14)), &policy).await;
        let fewer = [bed.namespace(), bed.map("m0", "2"), bed.map("new", "1")].concat();
        let braked = set.converge(&read(&fewer), &policy).await;
        assert_eq!(
            braked.changes().count(Word::Refused),
            13,
            "{}",
            why(&braked)
        );
        assert_eq!(told(&braked)["ConfigMap m0"], Word::Updated);
        assert_eq!(told(&braked)["ConfigMap new"], Word::Created);
        let engine = Policy {
            approval: Approval::UpTo(13),
            ..Policy::default()
        };
        let approved = settle(&set, &fewer, &SetPolicy { engine, ..policy }).await;
        assert_eq!(approved.changes().count(Word::Deleted), 13);
    })
    .await;
}

#[tokio::test]
async fn a_set_may_leave_its_objects_behind() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "prune-orphan").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        settle(&set, &(bed.namespace() + &bed.map("m", "1")), &policy).await;
        let engine = Policy {
            prune: Prune::Release,
            ..Policy::default()
        };
        let left = set
            .remove(
                "the set was deleted",
                &SetPolicy {
                    engine,
                    ..policy.clone()
                },
            )
            .await;
        assert!(left.is_settled(), "{}", why(&left));
        assert_eq!(told(&left)["ConfigMap m"], Word::Released);
        let metadata = bed.maps().get("m").await.unwrap().metadata;
        assert!(!metadata.labels.unwrap_or_default().contains_key(OWNER_KEY));
        assert!(
            !metadata
                .annotations
                .unwrap_or_default()
                .contains_key(OWNER_KEY)
        );
        for set in [set, bed.restarted().set("a")] {
            let gone = set.remove("again", &policy).await;
            assert_eq!(gone.changes().writes(), 0, "{}", why(&gone));
        }
        assert!(bed.maps().get_opt("m").await.unwrap().is_some());
        let engine = Policy {
            adopt: Adopt::On,
            ..Policy::default()
        };
        let adopting = SetPolicy { engine, ..policy };
        let text = bed.namespace() + &bed.map("m", "1");
        settle(&bed.set("b"), &text, &adopting).await;
    })
    .await;
}

/// Incident: argo-cd#18480, listing failed and what was not seen counted as gone.
#[tokio::test]
async fn nothing_is_deleted_while_a_kind_cannot_be_listed() {
    let cluster = Cluster::new();
    let bed = Bed::seen_through(cluster.view("sets"), "prune-partial");
    let policy = SetPolicy::default();
    settle(
        &bed.set("a"),
        &[bed.namespace(), bed.map("m", "1"), bed.deployment("d", 1)].concat(),
        &policy,
    )
    .await;
    let blind = cluster.view("blind");
    blind.fault(
        Which::all().verbs(&[Verb::List]).of("apps", "deployments"),
        Fault::Forbid,
    );
    let blind = Bed::seen_through(blind, "prune-partial");
    let seen = blind
        .set("a")
        .converge(&read(&bed.namespace()), &policy)
        .await;
    assert_eq!(told(&seen)["ConfigMap m"], Word::Unseen, "{}", why(&seen));
    assert!(bed.maps().get_opt("m").await.unwrap().is_some());
}

/// Incident: kustomize-controller#1664, a refused delete is forgotten.
#[tokio::test]
async fn a_refused_delete_is_tried_again() {
    let view = Cluster::new().view("sets");
    let bed = Bed::seen_through(view.clone(), "prune-refused");
    let (set, policy) = (bed.set("a"), SetPolicy::default());
    settle(&set, &(bed.namespace() + &bed.map("m", "1")), &policy).await;
    view.fault(Which::all().verbs(&[Verb::Delete]), Fault::Forbid);
    let refused = set.converge(&read(&bed.namespace()), &policy).await;
    assert_eq!(
        told(&refused)["ConfigMap m"],
        Word::Failed,
        "{}",
        why(&refused)
    );
    view.heal();
    let restarted = bed.restarted();
    let done = settle(&restarted.set("a"), &bed.namespace(), &policy).await;
    assert_eq!(told(&done)["ConfigMap m"], Word::Deleted);
}

/// Incident: an object that somebody deleted and made anew is not the one that we made.
#[tokio::test]
async fn an_object_made_anew_by_somebody_else_is_not_deleted_without_approval() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "prune-anew").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        settle(&set, &(bed.namespace() + &bed.map("m", "1")), &policy).await;
        bed.maps().delete("m", &Default::default()).await.unwrap();
        let copy = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m",
            "labels": {OWNER_KEY: "prune-anew-a"}, "annotations": {OWNER_KEY: "prune-anew-a"}}});
        bed.maps()
            .create(&Default::default(), &serde_json::from_value(copy).unwrap())
            .await
            .unwrap();
        let restarted = bed.restarted();
        let kept = restarted
            .set("a")
            .converge(&read(&bed.namespace()), &policy)
            .await;
        assert_eq!(told(&kept)["ConfigMap m"], Word::Refused, "{}", why(&kept));
        assert!(bed.maps().get_opt("m").await.unwrap().is_some());
    })
    .await;
}

/// Incident: flux2#4032, a tenant's namespace goes with objects that nobody managed.
#[tokio::test]
async fn a_namespace_that_holds_objects_of_others_waits_for_approval() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "prune-namespace").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        settle(&set, &bed.namespace(), &policy).await;
        let theirs =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs"}});
        bed.maps()
            .create(
                &Default::default(),
                &serde_json::from_value(theirs).unwrap(),
            )
            .await
            .unwrap();
        let removed = set.remove("the set was deleted", &policy).await;
        assert_eq!(
            told(&removed)["Namespace prune-namespace"],
            Word::Refused,
            "{}",
            why(&removed)
        );
        bed.maps()
            .delete("theirs", &Default::default())
            .await
            .unwrap();
        let removed = set.remove("the set was deleted", &policy).await;
        assert!(
            matches!(
                told(&removed)["Namespace prune-namespace"],
                Word::Deleted | Word::Deleting
            ),
            "{}",
            why(&removed)
        );
    })
    .await;
}
