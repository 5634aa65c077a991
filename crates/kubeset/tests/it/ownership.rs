//! Two sets and one object.

use evenkeel_kubeset::SetPolicy;
use evenkeel_reconcile::Word;
use evenkeel_testkit::on_each_cluster;

use crate::bed::{Bed, read, settle, told, why};

/// Incidents: argo-cd#20440 (one app takes over what others track), ocm "two works fight by design".
#[tokio::test]
async fn what_another_set_has_is_refused_with_its_name() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "owner-conflict").await;
        let policy = SetPolicy::default();
        settle(
            &bed.set("a"),
            &(bed.namespace() + &bed.map("m", "a")),
            &policy,
        )
        .await;
        let refused = bed
            .set("b")
            .converge(&read(&bed.map("m", "b")), &policy)
            .await;
        let change = refused.changes().iter().next().unwrap();
        assert_eq!(change.word, Word::Refused, "{}", why(&refused));
        assert_eq!(
            change.text,
            "it belongs to owner-conflict-a, not to owner-conflict-b"
        );
        assert_eq!(
            bed.maps().get("m").await.unwrap().data["data"]["value"],
            "a"
        );
    })
    .await;
}

/// Incident: argo-cd#22607, two apps share a namespace, and deleting one deletes it.
#[tokio::test]
async fn a_namespace_that_two_sets_want_goes_with_neither() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "owner-shared").await;
        let policy = SetPolicy::default();
        let (one, two) = (bed.set("a"), bed.set("b"));
        settle(&one, &(bed.namespace() + &bed.map("m1", "1")), &policy).await;
        settle(&two, &bed.map("m2", "2"), &policy).await;
        let removed = one.remove("the set was deleted", &policy).await;
        assert_eq!(
            told(&removed)["Namespace owner-shared"],
            Word::Refused,
            "{}",
            why(&removed)
        );
        assert_eq!(told(&removed)["ConfigMap m1"], Word::Deleted);
        assert!(bed.maps().get_opt("m2").await.unwrap().is_some());
    })
    .await;
}

/// Incidents: kustomize-controller#338 (moved objects are deleted and made anew), flux2#2421 (a
/// renamed set).
#[tokio::test]
async fn an_object_that_moves_between_sets_is_the_same_object_all_the_time() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "owner-move").await;
        let policy = SetPolicy::default();
        let (from, to) = (bed.set("a"), bed.set("b"));
        settle(
            &from,
            &[bed.namespace(), bed.map("m", "1"), bed.map("stays", "1")].concat(),
            &policy,
        )
        .await;
        let uid = bed.maps().get("m").await.unwrap().metadata.uid;
        let taking = SetPolicy {
            take_from: [bed.owner("a")].into(),
            ..policy.clone()
        };
        let moved = settle(&to, &bed.map("m", "1"), &taking).await;
        assert_eq!(told(&moved)["ConfigMap m"], Word::Updated);
        let left = settle(&from, &(bed.namespace() + &bed.map("stays", "1")), &policy).await;
        assert!(
            !told(&left).contains_key("ConfigMap m") || told(&left)["ConfigMap m"] == Word::Kept,
            "{}",
            why(&left)
        );
        let now = bed.maps().get("m").await.unwrap().metadata;
        assert_eq!(
            (
                now.uid,
                now.annotations.unwrap()[crate::bed::OWNER_KEY].as_str()
            ),
            (uid, "owner-move-b")
        );
        let again = settle(&to, &bed.map("m", "1"), &policy).await;
        assert_eq!(again.changes().writes(), 0, "{}", why(&again));
    })
    .await;
}

/// What the server refuses is a change to somebody else's object; the rest of the set is in order.
#[tokio::test]
async fn what_others_have_is_in_the_way_also_when_it_could_not_become_what_we_want() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "owner-refusal").await;
        let policy = SetPolicy::default();
        let service = |ports: &str| {
            format!("---\napiVersion: v1\nkind: Service\nmetadata: {{name: s, namespace: owner-refusal}}\nspec: {{ports: {ports}}}\n")
        };
        settle(
            &bed.set("a"),
            &(bed.namespace() + &service("[{port: 1}]")),
            &policy,
        )
        .await;
        // Two ports need names, and theirs has none.
        let wanted = service("[{name: http, port: 2}]") + &bed.map("m", "b");
        let converged = bed.set("b").converge(&read(&wanted), &policy).await;
        let told = told(&converged);
        assert_eq!(told["Service s"], Word::Refused, "{}", why(&converged));
        assert_eq!(told["ConfigMap m"], Word::Created);
    })
    .await;
}
