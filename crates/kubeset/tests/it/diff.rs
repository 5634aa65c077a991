//! What a pass would do, asked and not done.

use std::collections::BTreeMap;

use evenkeel_kubeset::{Diff, Fate, ObjectDiff, SetPolicy};
use evenkeel_kubesim::Cluster;
use evenkeel_reconcile::{Adopt, Policy};
use evenkeel_testkit::on_each_cluster;
use kube::api::PostParams;
use serde_json::json;

use crate::bed::{Bed, read, settle, short};

fn secret(bed: &Bed, word: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: s, namespace: {}}}\nstringData: {{word: {word}}}\n",
        bed.name
    )
}

fn by_name(diff: &Diff) -> BTreeMap<String, &ObjectDiff> {
    let objects = diff.objects.iter();
    objects.map(|diff| (short(&diff.key), diff)).collect()
}

#[tokio::test]
async fn a_diff_shows_before_and_after_and_changes_nothing() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "diff-all").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        let before = [
            bed.namespace(),
            bed.map("same", "1"),
            bed.map("changed", "1"),
            bed.map("gone", "1"),
            secret(&bed, "hunter2"),
        ];
        settle(&set, &before.concat(), &policy).await;
        let theirs =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs"}});
        let theirs = serde_json::from_value(theirs).unwrap();
        bed.maps()
            .create(&PostParams::default(), &theirs)
            .await
            .unwrap();
        let after = [
            bed.namespace(),
            bed.map("same", "1"),
            bed.map("changed", "2"),
            bed.map("new", "1"),
            bed.map("theirs", "1"),
            secret(&bed, "swordfish"),
            bed.deployment("bad", 1)
                .replace("image: 'main:1'", "image: ''"),
        ];
        let diff = set.diff(&read(&after.concat()), &policy).await.unwrap();
        let of = by_name(&diff);
        assert_eq!(of["ConfigMap same"].fate, Fate::Unchanged);
        let changed = of["ConfigMap changed"];
        assert_eq!(changed.fate, Fate::Update);
        let (before, after) = (
            changed.before.as_ref().unwrap(),
            changed.after.as_ref().unwrap(),
        );
        assert_eq!(
            (&before["data"]["value"], &after["data"]["value"]),
            (&json!("1"), &json!("2"))
        );
        assert!(!after.to_string().contains("managedFields"), "{after}");
        assert!(
            !after.to_string().contains("evenkeel.io/applied"),
            "{after}"
        );
        assert_eq!(
            (of["ConfigMap new"].fate, &of["ConfigMap new"].before),
            (Fate::Create, &None)
        );
        assert_eq!(
            (of["ConfigMap gone"].fate, &of["ConfigMap gone"].after),
            (Fate::Delete, &None)
        );
        assert_eq!(
            of["ConfigMap theirs"].fate,
            Fate::Held,
            "{}",
            of["ConfigMap theirs"].why
        );
        assert_eq!(of["Deployment bad"].fate, Fate::Error);
        assert_eq!(of["Secret s"].fate, Fate::Update);
        assert_ne!(of["Secret s"].before, of["Secret s"].after);
        let secrets = format!("{:?}", of["Secret s"]);
        for word in ["hunter2", "swordfish", "aHVudGVyMg", "c3dvcmRmaXNo"] {
            assert!(!secrets.contains(word), "{secrets}");
        }

        let adopting = Policy {
            adopt: Adopt::On,
            ..Policy::default()
        };
        let adopting = SetPolicy {
            engine: adopting,
            ..policy.clone()
        };
        let diff = set
            .diff(&read(&bed.map("theirs", "1")), &adopting)
            .await
            .unwrap();
        assert_eq!(by_name(&diff)["ConfigMap theirs"].fate, Fate::Update);
        assert!(bed.maps().get_opt("new").await.unwrap().is_none());
        assert_eq!(
            bed.maps().get("changed").await.unwrap().data["data"]["value"],
            "1"
        );
        assert!(bed.maps().get_opt("gone").await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn a_diff_writes_nothing_and_of_a_settled_set_reads_nothing() {
    let view = Cluster::new().view("sets");
    let bed = Bed::seen_through(view.clone(), "diff-cost");
    let (set, policy) = (bed.set("a"), SetPolicy::default());
    let text = bed.namespace() + &bed.map("m", "1");
    let first = set.diff(&read(&text), &policy).await.unwrap();
    assert_eq!(view.reset_log().writes(), 0);
    // The namespace does not exist, so what is inside is shown as it was written.
    let inside = by_name(&first)["ConfigMap m"];
    assert_eq!(
        (
            inside.fate,
            &inside.after.as_ref().unwrap()["data"]["value"]
        ),
        (Fate::Create, &json!("1"))
    );
    settle(&set, &text, &policy).await;
    view.reset_log();
    let second = set.diff(&read(&text), &policy).await.unwrap();
    assert_eq!(second.changes().count(), 0);
    assert_eq!(view.reset_log().requests(), 0);
    let removal = set.diff_removal("asked", &policy).await.unwrap();
    assert_eq!(by_name(&removal)["ConfigMap m"].fate, Fate::Delete);
    assert_eq!(view.reset_log().writes(), 0);
}
