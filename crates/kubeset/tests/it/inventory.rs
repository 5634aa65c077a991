//! The record of what may exist, lost, broken and large.

use evenkeel_kubeset::SetPolicy;
use evenkeel_kubesim::faults::{Fault, Moment, Which};
use evenkeel_kubesim::{Cluster, Verb};
use evenkeel_reconcile::Word;
use evenkeel_testkit::on_each_cluster;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{ListParams, Patch, PatchParams};
use serde_json::json;

use crate::bed::{Bed, read, settle, told, why};

async fn chunks(bed: &Bed) -> (Api<ConfigMap>, Vec<ConfigMap>) {
    let maps: Api<ConfigMap> = Api::namespaced(bed.client.clone(), "default");
    let selector = format!("evenkeel.io/inventory={}", bed.owner("a"));
    let found = maps
        .list(&ListParams::default().labels(&selector))
        .await
        .expect("a list");
    (maps, found.items)
}

/// Incidents: kpt#4250 and kpt#4580, a lost inventory has no way back.
#[tokio::test]
async fn a_lost_or_corrupt_inventory_is_made_anew() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "inventory-lost").await;
        let policy = SetPolicy::default();
        let all = |names: &[&str]| {
            bed.namespace()
                + &names
                    .iter()
                    .map(|name| bed.map(name, "1"))
                    .collect::<String>()
        };
        settle(&bed.set("a"), &all(&["m1", "m2", "m3"]), &policy).await;
        let (maps, found) = chunks(&bed).await;
        let name = found[0].metadata.name.clone().unwrap();
        maps.delete(&name, &Default::default()).await.unwrap();
        let pruned = settle(&bed.restarted().set("a"), &all(&["m1", "m2"]), &policy).await;
        assert_eq!(
            told(&pruned)["ConfigMap m3"],
            Word::Deleted,
            "{}",
            why(&pruned)
        );
        let broken = Patch::Merge(json!({"data": {"entries": "[{\"kind\""}}));
        maps.patch(&name, &PatchParams::default(), &broken)
            .await
            .unwrap();
        let pruned = settle(&bed.restarted().set("a"), &all(&["m1"]), &policy).await;
        assert_eq!(
            told(&pruned)["ConfigMap m2"],
            Word::Deleted,
            "{}",
            why(&pruned)
        );
    })
    .await;
}

#[tokio::test]
async fn it_lists_what_exists_with_its_uid_and_goes_with_the_set() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "inventory-uid").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        settle(&set, &(bed.namespace() + &bed.map("m", "1")), &policy).await;
        let uid = bed.maps().get("m").await.unwrap().metadata.uid.unwrap();
        let (_, found) = chunks(&bed).await;
        let entries = &found[0].data.as_ref().unwrap()["entries"];
        assert!(entries.contains(&uid), "{entries}");
        settle(&set, &bed.namespace(), &policy).await;
        let (_, found) = chunks(&bed).await;
        assert!(!found[0].data.as_ref().unwrap()["entries"].contains(&uid));
    })
    .await;
}

/// Incidents: helm#9788, kyverno#14378, kustomize#1516: the wall of 1 MiB.
#[tokio::test]
async fn a_set_too_large_for_one_object_has_several() {
    let bed = Bed::seen_through(Cluster::new().view("sets"), "inventory-wall");
    let (set, policy) = (bed.set("a"), SetPolicy::default());
    let maps = (0..4_000).map(|at| bed.map(&format!("m{at:0>200}"), "1"));
    settle(
        &set,
        &(bed.namespace() + &maps.collect::<String>()),
        &policy,
    )
    .await;
    let (_, found) = chunks(&bed).await;
    assert!(found.len() > 1);
    let again = bed.restarted();
    assert_eq!(
        again
            .set("a")
            .converge(&read(&bed.namespace()), &policy)
            .await
            .changes()
            .count(Word::Refused),
        4_000
    );
}

/// Incidents: kustomize-controller#409 and flux2#1723, a crash before the inventory was written.
#[tokio::test]
async fn a_crash_at_any_write_leaves_nothing_that_nobody_remembers() {
    let policy = SetPolicy::default();
    for moment in [
        Moment::BeforeCommit,
        Moment::BeforeReply,
        Moment::AfterReply,
    ] {
        for write in 1..=8 {
            let cluster = Cluster::new();
            let view = cluster.view("dies");
            let bed = Bed::seen_through(view.clone(), "crash");
            let text = [bed.namespace(), bed.map("m1", "1"), bed.map("m2", "1")].concat();
            view.crash_at(write, moment);
            let _ = bed.set("a").converge(&read(&text), &policy).await;
            let bed = Bed::seen_through(cluster.view("lives"), "crash");
            let set = bed.set("a");
            let fewer = bed.namespace() + &bed.map("m1", "1");
            let mut last = set.converge(&read(&fewer), &policy).await;
            for _ in 0..2 {
                last = set.converge(&read(&fewer), &policy).await;
            }
            assert!(
                last.is_settled() && last.changes().writes() == 0,
                "write {write} {moment:?}: {}",
                why(&last)
            );
            assert!(bed.maps().get_opt("m1").await.unwrap().is_some());
            assert!(
                bed.maps().get_opt("m2").await.unwrap().is_none(),
                "write {write} {moment:?}"
            );
        }
    }
}

/// Incidents: kpt#4250, argo-cd#18480: an inventory that was made anew while not everything could be
/// seen does not count as whole, also not for the next process.
#[tokio::test]
async fn an_inventory_made_anew_with_gaps_is_made_anew_again() {
    let cluster = Cluster::new();
    let bed = Bed::seen_through(cluster.view("sets"), "inventory-gap");
    let policy = SetPolicy::default();
    let all = [bed.namespace(), bed.map("m", "1"), bed.deployment("d", 1)].concat();
    settle(&bed.set("a"), &all, &policy).await;
    let (maps, found) = chunks(&bed).await;
    let name = found[0].metadata.name.clone().unwrap();
    maps.delete(&name, &Default::default()).await.unwrap();
    let blind = cluster.view("blind");
    let deployments = Which::all().verbs(&[Verb::List]).of("apps", "deployments");
    blind.fault(deployments, Fault::Forbid);
    let blind = Bed::seen_through(blind, "inventory-gap");
    let fewer = bed.namespace() + &bed.map("m", "2");
    let seen = blind.set("a").converge(&read(&fewer), &policy).await;
    assert_eq!(told(&seen)["ConfigMap m"], Word::Updated, "{}", why(&seen));
    let (_, found) = chunks(&bed).await;
    assert!(found[0].data.as_ref().unwrap().contains_key("pending"));
    let pruned = settle(&bed.restarted().set("a"), &fewer, &policy).await;
    assert_eq!(
        told(&pruned)["Deployment d"],
        Word::Deleted,
        "{}",
        why(&pruned)
    );
    let (_, found) = chunks(&bed).await;
    assert!(!found[0].data.as_ref().unwrap().contains_key("pending"));
}
