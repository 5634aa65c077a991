//! Definitions and their objects in one set.

use evenkeel_kubeset::SetPolicy;
use evenkeel_reconcile::{Approval, Policy, Word};
use evenkeel_testkit::on_each_cluster;

use crate::bed::{Bed, eventually, read, settle, told, why};

fn definition(group: &str) -> String {
    format!(
        "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
         metadata: {{name: foos.{group}}}\nspec:\n  group: {group}\n  scope: Namespaced\n  \
         names: {{kind: Foo, plural: foos}}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    \
         schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          \
         spec: {{type: object, properties: {{size: {{type: integer}}}}}}\n"
    )
}

fn foo(bed: &Bed, group: &str, name: &str) -> String {
    let namespace = &bed.name;
    format!(
        "---\napiVersion: {group}/v1\nkind: Foo\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec: {{size: 1}}\n"
    )
}

/// Incidents: a CRD and its CRs in one set; a CR deleted after its CRD (kustomize-controller#301).
#[tokio::test]
async fn a_definition_and_its_objects_come_and_go_in_one_set() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "crd-set").await;
        let group = "crd-set.example.com";
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        let text = [foo(&bed, group, "x"), bed.namespace(), definition(group)].concat();
        let made = settle(&set, &text, &policy).await;
        assert_eq!(told(&made)["Foo x"], Word::Created, "{}", why(&made));
        let again = settle(&set, &text, &policy).await;
        assert_eq!(again.changes().writes(), 0, "{}", why(&again));
        let smaller = settle(&set, &(bed.namespace() + &definition(group)), &policy).await;
        assert_eq!(told(&smaller)["Foo x"], Word::Deleted);
        settle(&set, &text, &policy).await;
        let engine = Policy {
            approval: Approval::Given,
            ..Policy::default()
        };
        let policy = SetPolicy { engine, ..policy };
        let removed = set.remove("the test says so", &policy).await;
        let order: Vec<_> = removed
            .changes()
            .iter()
            .map(|change| change.key.kind.kind.as_str())
            .collect();
        assert_eq!(order[0], "Foo", "{}", why(&removed));
        eventually("the set is gone", || async {
            set.remove("the test says so", &policy)
                .await
                .changes()
                .is_empty()
        })
        .await;
    })
    .await;
}

/// Incident: flux-operator#423, deleting a definition deletes every object of its kind.
#[tokio::test]
async fn a_definition_that_holds_objects_of_others_waits_for_approval() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "crd-foreign").await;
        let group = "crd-foreign.example.com";
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        settle(&set, &(bed.namespace() + &definition(group)), &policy).await;
        let other = bed.set("b");
        let theirs = read(&foo(&bed, group, "theirs"));
        eventually("the kind is served", || async {
            other.converge(&theirs, &policy).await.is_settled()
        })
        .await;
        let kept = set.converge(&read(&bed.namespace()), &policy).await;
        let change = kept
            .changes()
            .iter()
            .find(|change| change.key.kind.is_definition())
            .unwrap();
        assert_eq!(change.word, Word::Refused, "{}", why(&kept));
        assert!(
            change.text.contains("it holds 1 objects of others"),
            "{}",
            change.text
        );
    })
    .await;
}

/// Incident: whoever applies a definition and then its objects from elsewhere finds no such kind.
#[tokio::test]
async fn a_definition_alone_is_waited_for() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "crd-alone").await;
        let group = "crd-alone.example.com";
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        settle(&set, &definition(group), &policy).await;
        let definitions = bed.of("apiextensions.k8s.io/v1", "CustomResourceDefinition", None);
        let made = definitions.get(&format!("foos.{group}")).await.unwrap();
        let conditions = made.data["status"]["conditions"].as_array().unwrap();
        let established = |condition: &&serde_json::Value| condition["type"] == "Established";
        assert_eq!(
            conditions.iter().find(established).unwrap()["status"],
            "True"
        );
    })
    .await;
}
