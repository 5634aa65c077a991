//! Sets that belong to an object of the cluster, as operators make them.

use evenkeel_kubeset::{Error, Parent, Set, SetPolicy};
use evenkeel_kubesim::Cluster;
use evenkeel_reconcile::{Adopt, Policy, Word};
use evenkeel_testkit::on_each_cluster;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::Api;
use kube::api::{ObjectMeta, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::bed::{Bed, OWNER_KEY, eventually, hears, read, settle, told, why};

/// A parent in the test's namespace; any object can be one.
async fn parent(bed: &Bed, name: &str) -> Parent {
    let metadata = |name: &str| ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    };
    let own = Namespace {
        metadata: metadata(&bed.name),
        ..Namespace::default()
    };
    let _ = Api::<Namespace>::all(bed.client.clone())
        .create(&PostParams::default(), &own)
        .await;
    let own = ConfigMap {
        metadata: metadata(name),
        ..ConfigMap::default()
    };
    let maps: Api<ConfigMap> = Api::namespaced(bed.client.clone(), &bed.name);
    let made = maps.create(&PostParams::default(), &own).await;
    Parent::of(&made.expect("a parent")).expect("a uid")
}

async fn family(bed: &Bed, name: &str) -> (Parent, Set) {
    let parent = parent(bed, name).await;
    (parent.clone(), bed.sets.children(parent))
}

/// The text of a secret with these annotations.
fn secret(name: &str, word: &str, annotations: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, annotations: {{{annotations}}}}}\n\
         stringData: {{word: {word}}}\n"
    )
}

async fn make(bed: &Bed, object: Value) {
    let object = serde_json::from_value(object).expect("an object");
    let made = bed.maps().create(&PostParams::default(), &object).await;
    made.expect("made by somebody else");
}

#[tokio::test]
async fn children_refer_to_their_parent_and_go_when_it_does_not_want_them() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "child-life").await;
        let ((parent, set), policy) = (family(&bed, "p").await, SetPolicy::default());
        let text = [bed.map("m", "1"), bed.deployment("d", 1)].concat();
        settle(&set, &text, &policy).await;
        let metadata = bed.maps().get("m").await.unwrap().metadata;
        let reference = &metadata.owner_references.unwrap()[0];
        assert_eq!(
            (reference.kind.as_str(), reference.name.as_str()),
            ("ConfigMap", "p")
        );
        assert_eq!(reference.uid, parent.uid());
        assert_eq!(
            (reference.controller, reference.block_owner_deletion),
            (Some(true), Some(true))
        );
        assert_eq!(metadata.labels.unwrap()[OWNER_KEY], parent.uid());
        let again = settle(&set, &text, &policy).await;
        assert_eq!(again.changes().writes(), 0, "{}", why(&again));

        // A new process that does not even want the kind any more.
        let set = bed.restarted().sets.children(parent);
        let pruned = settle(&set, &bed.map("m", "1"), &policy).await;
        assert_eq!(
            told(&pruned)["Deployment d"],
            Word::Deleted,
            "{}",
            why(&pruned)
        );
        assert_eq!(told(&pruned)["ConfigMap m"], Word::Kept);
        let deployments = bed.of("apps/v1", "Deployment", bed.name.as_str());
        assert!(
            deployments
                .get_opt("d")
                .await
                .unwrap()
                .is_none_or(|left| left.metadata.deletion_timestamp.is_some())
        );
        let removed = set.remove("the parent goes", &policy).await;
        assert!(removed.is_settled(), "{}", why(&removed));
        assert!(bed.maps().get_opt("m").await.unwrap().is_none());
        assert!(
            bed.maps().get_opt("p").await.unwrap().is_some(),
            "the parent is no child"
        );
    })
    .await;
}

#[tokio::test]
async fn what_others_have_or_nobody_controls_is_refused() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "child-foreign").await;
        let ((_, set), policy) = (family(&bed, "p").await, SetPolicy::default());
        let (_, other) = family(&bed, "q").await;
        settle(&other, &bed.map("theirs", "q"), &policy).await;
        make(
            &bed,
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "foreign"}}),
        )
        .await;
        let text = [
            bed.map("theirs", "p"),
            bed.map("foreign", "p"),
            bed.map("m", "p"),
        ]
        .concat();
        let adopting = SetPolicy {
            engine: Policy {
                adopt: Adopt::On,
                ..Policy::default()
            },
            ..policy.clone()
        };
        let refused = set.converge(&read(&text), &policy).await;
        let told_of = |name: &str| {
            let mut changes = refused.changes().iter();
            changes
                .find(|change| change.key.name == name)
                .map(|change| (change.word, change.text.to_string()))
        };
        assert_eq!(
            told_of("theirs"),
            Some((
                Word::Refused,
                "it belongs to ConfigMap q, not to ConfigMap p".into()
            )),
            "{}",
            why(&refused)
        );
        assert_eq!(
            told_of("foreign"),
            Some((
                Word::Refused,
                "it exists, is not ours, and adopting is off".into()
            ))
        );
        assert_eq!(told(&refused)["ConfigMap m"], Word::Created);
        let adopted = set.converge(&read(&text), &adopting).await;
        assert_eq!(
            told(&adopted)["ConfigMap foreign"],
            Word::Adopted,
            "{}",
            why(&adopted)
        );
        assert_eq!(told(&adopted)["ConfigMap theirs"], Word::Refused);
        assert_eq!(
            bed.maps().get("theirs").await.unwrap().data["data"]["value"],
            "q"
        );
        let removed = set.remove("the parent goes", &policy).await;
        assert!(removed.is_settled(), "{}", why(&removed));
        assert!(bed.maps().get_opt("theirs").await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn drift_of_children_is_repaired_and_a_lost_reference_releases() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "child-drift").await;
        let ((parent, mut set), policy) = (family(&bed, "p").await, SetPolicy::default());
        let (text, mut touched) = (bed.map("m", "1"), bed.sets.touched());
        settle(&set, &text, &policy).await;
        let edit = |patch: Value| {
            let (maps, how) = (bed.maps(), PatchParams::default());
            async move {
                maps.patch("m", &how, &Patch::Merge(patch))
                    .await
                    .expect("an edit")
            }
        };
        edit(json!({"data": {"value": "theirs"}})).await;
        hears(&mut set).await;
        // Other tests are at work on the same cluster.
        while !touched.next().await.contains(parent.uid()) {}
        let repaired = settle(&set, &text, &policy).await;
        assert_eq!(
            (repaired.changes().writes(), repaired.drift.len()),
            (1, 1),
            "{}",
            why(&repaired)
        );
        bed.maps().delete("m", &Default::default()).await.unwrap();
        hears(&mut set).await;
        let repaired = settle(&set, &text, &policy).await;
        assert_eq!(
            (repaired.changes().writes(), repaired.drift.len()),
            (1, 1),
            "{}",
            why(&repaired)
        );

        edit(json!({"metadata": {"ownerReferences": null}})).await;
        hears(&mut set).await;
        let released = set.converge(&read(&text), &policy).await;
        assert_eq!(
            told(&released)["ConfigMap m"],
            Word::Refused,
            "{}",
            why(&released)
        );
        let engine = Policy {
            adopt: Adopt::On,
            ..Policy::default()
        };
        let taken = settle(
            &set,
            &text,
            &SetPolicy {
                engine,
                ..policy.clone()
            },
        )
        .await;
        assert_eq!(told(&taken)["ConfigMap m"], Word::Adopted);
        let again = settle(&set, &text, &policy).await;
        assert_eq!(again.changes().writes(), 0, "{}", why(&again));
    })
    .await;
}

#[tokio::test]
async fn some_children_are_made_once_and_some_outlive_their_parent() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "child-options").await;
        let ((_, set), policy) = (family(&bed, "p").await, SetPolicy::default());
        let secrets = bed.of("v1", "Secret", bed.name.as_str());
        let text = |word: &str| {
            secret("once", word, "evenkeel.io/on-change: leave")
                + &secret("kept", word, "evenkeel.io/on-removal: keep")
        };
        settle(&set, &text("first"), &policy).await;
        let kept = secrets.get("kept").await.unwrap().metadata;
        assert_eq!(kept.owner_references, None, "the cluster would clean it up");
        let changed = settle(&set, &text("second"), &policy).await;
        assert_eq!(
            told(&changed)["Secret once"],
            Word::Kept,
            "{}",
            why(&changed)
        );
        assert_eq!(told(&changed)["Secret kept"], Word::Updated);
        assert_eq!(
            secrets.get("once").await.unwrap().data["data"]["word"],
            "Zmlyc3Q="
        );
        secrets.delete("once", &Default::default()).await.unwrap();
        eventually("it is made again", || async {
            settle(&set, &text("third"), &policy).await;
            secrets.get_opt("once").await.unwrap().is_some()
        })
        .await;
        let removed = set.remove("the parent goes", &policy).await;
        assert!(removed.is_settled(), "{}", why(&removed));
        assert!(secrets.get_opt("once").await.unwrap().is_none());
        assert!(secrets.get_opt("kept").await.unwrap().is_some());

        // A parent made anew takes what the old one left only when its operator says so.
        let (_, heir) = family(&bed, "heir").await;
        let left = secret("kept", "second", "evenkeel.io/on-removal: keep");
        let refused = heir.converge(&read(&left), &policy).await;
        assert_eq!(
            told(&refused)["Secret kept"],
            Word::Refused,
            "{}",
            why(&refused)
        );
        let engine = Policy {
            adopt: Adopt::On,
            ..Policy::default()
        };
        let adopted = settle(
            &heir,
            &left,
            &SetPolicy {
                engine,
                ..policy.clone()
            },
        )
        .await;
        assert_eq!(
            told(&adopted)["Secret kept"],
            Word::Adopted,
            "{}",
            why(&adopted)
        );
    })
    .await;
}

#[tokio::test]
async fn children_are_near_their_parent_and_of_kinds_that_are_followed() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "child-near").await;
        let ((_, set), policy) = (family(&bed, "p").await, SetPolicy::default());
        let far = bed.map("m", "1").replace("namespace: child-near", "namespace: default");
        let failed = set.converge(&read(&far), &policy).await.result.unwrap_err();
        assert!(matches!(failed.failures[0].error, Error::OutOfReach { .. }), "{failed:?}");
        let unlisted = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: s}\n";
        let failed = set.converge(&read(unlisted), &policy).await.result.unwrap_err();
        assert_eq!(
            failed.failures[0].error.to_string(),
            "ServiceAccount child-near/s cannot be a child of ConfigMap p: its kind is not among those that are followed"
        );
    })
    .await;
}

#[tokio::test]
async fn the_cluster_cleans_up_after_a_parent_but_for_what_is_to_be_kept() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "child-collect").await;
        let ((_, set), policy) = (family(&bed, "p").await, SetPolicy::default());
        let kept = secret("kept", "w", "evenkeel.io/on-removal: keep");
        settle(&set, &(bed.map("m", "1") + &kept), &policy).await;
        bed.maps().delete("p", &Default::default()).await.unwrap();
        eventually("the child is gone", || async {
            bed.maps().get_opt("m").await.unwrap().is_none()
        })
        .await;
        let secrets = bed.of("v1", "Secret", bed.name.as_str());
        assert!(secrets.get_opt("kept").await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn a_thousand_parents_share_the_watches_and_cost_nothing_at_rest() {
    let view = Cluster::new().view("operator");
    let bed = Bed::seen_through(view.clone(), "child-many");
    let policy = SetPolicy::default();
    let mut families = Vec::new();
    for at in 0..1_000 {
        let (_, set) = family(&bed, &format!("p{at}")).await;
        let text = bed.map(&format!("m{at}"), "1");
        settle(&set, &text, &policy).await;
        families.push((set, text));
    }
    view.reset_log();
    for (set, text) in &families {
        settle(set, text, &policy).await;
    }
    let log = view.reset_log();
    assert_eq!(
        (log.requests() + log.other_requests(), log.writes()),
        (0, 0)
    );
}

/// Their object and ours would make an invalid mixture; what is wrong is that it is theirs.
#[tokio::test]
async fn a_foreign_object_is_refused_whatever_the_mixture_would_be() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "child-mixture").await;
        let ((_, set), policy) = (family(&bed, "p").await, SetPolicy::default());
        let labels = json!({"other": "labels"});
        let template = json!({
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "theirs", "image": "theirs"}]},
        });
        let theirs = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
            "spec": {"selector": {"matchLabels": labels}, "template": template},
        });
        bed.of("apps/v1", "Deployment", bed.name.as_str())
            .create(
                &PostParams::default(),
                &serde_json::from_value(theirs).unwrap(),
            )
            .await
            .expect("theirs");
        let text = [bed.map("m", "1"), bed.deployment("d", 1)].concat();
        let converged = set.converge(&read(&text), &policy).await;
        let words = told(&converged);
        assert_eq!(words["Deployment d"], Word::Refused, "{}", why(&converged));
        assert_eq!(words["ConfigMap m"], Word::Created, "{}", why(&converged));
    })
    .await;
}

/// Whoever takes a child, label and all, wakes the one whom it is taken from.
#[tokio::test]
async fn a_child_that_is_taken_away_wakes_its_parent() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "child-taken").await;
        let ((_, mut set), policy) = (family(&bed, "p").await, SetPolicy::default());
        let (thief, _) = family(&bed, "q").await;
        settle(&set, &bed.map("m", "1"), &policy).await;
        let theft = json!({"metadata": {
            "labels": {OWNER_KEY: thief.uid()},
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "ConfigMap", "name": "q", "uid": thief.uid(),
                "controller": true,
            }],
        }});
        bed.maps()
            .patch("m", &PatchParams::default(), &Patch::Merge(theft))
            .await
            .expect("a theft");
        hears(&mut set).await;
        let after = set.converge(&read(&bed.map("m", "1")), &policy).await;
        assert_eq!(
            told(&after)["ConfigMap m"],
            Word::Refused,
            "{}",
            why(&after)
        );
    })
    .await;
}
