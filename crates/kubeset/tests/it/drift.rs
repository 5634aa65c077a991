//! What others do to our objects, seen without asking and taken back, or not.

use evenkeel_kubeset::{Ignore, Set, SetPolicy};
use evenkeel_kubesim::Cluster;
use evenkeel_reconcile::{Drift, Policy, Word};
use evenkeel_testkit::on_each_cluster;
use jiff::SignedDuration;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::bed::{Bed, OWNER_KEY, hears, read, settle, told, why};

fn by(manager: &str) -> PatchParams {
    PatchParams {
        field_manager: Some(manager.to_owned()),
        ..PatchParams::default()
    }
}

async fn edit(bed: &Bed, name: &str, patch: Value) {
    bed.maps()
        .patch(name, &by("somebody"), &Patch::Merge(patch))
        .await
        .expect("an edit");
}

/// Converges until what is heard of is repaired; the bell may ring before all of it is seen.
async fn repaired(set: &Set, text: &str, policy: &SetPolicy) -> evenkeel_kubeset::Converged {
    let converged = settle(set, text, policy).await;
    assert_eq!(converged.changes().writes(), 1, "{}", why(&converged));
    converged
}

#[tokio::test]
async fn every_sort_of_drift_is_heard_of_and_repaired() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "drift-sorts").await;
        let (mut set, policy) = (bed.set("a"), SetPolicy::default());
        let text = [bed.namespace(), bed.map("m", "1"), bed.deployment("web", 2)].concat();
        settle(&set, &text, &policy).await;

        edit(&bed, "m", json!({"data": {"value": "theirs"}})).await;
        hears(&mut set).await;
        let edited = repaired(&set, &text, &policy).await;
        let field = &edited.drift[0].fields[0];
        assert_eq!(
            (field.pointer.as_str(), field.manager.as_deref()),
            ("/data/value", Some("somebody"))
        );
        assert!(field.at.is_some());

        edit(&bed, "m", json!({"data": {"other": null}})).await;
        hears(&mut set).await;
        let removed = repaired(&set, &text, &policy).await;
        let field = &removed.drift[0].fields[0];
        assert_eq!(
            (field.pointer.as_str(), field.manager.as_deref()),
            ("/data/other", None)
        );

        edit(
            &bed,
            "m",
            json!({"metadata": {"labels": {OWNER_KEY: null}}}),
        )
        .await;
        hears(&mut set).await;
        repaired(&set, &text, &policy).await;
        assert!(
            bed.maps()
                .get("m")
                .await
                .unwrap()
                .metadata
                .labels
                .unwrap()
                .contains_key(OWNER_KEY)
        );

        bed.maps().delete("m", &Default::default()).await.unwrap();
        hears(&mut set).await;
        let gone = repaired(&set, &text, &policy).await;
        assert_eq!(told(&gone)["ConfigMap m"], Word::Created);
        assert_eq!(gone.drift.len(), 1);

        let deployments = bed.of("apps/v1", "Deployment", bed.name.as_str());
        let scaled = json!({"spec": {"replicas": 5}});
        deployments
            .patch_scale("web", &by("scaler"), &Patch::Merge(scaled))
            .await
            .unwrap();
        hears(&mut set).await;
        let scaled = repaired(&set, &text, &policy).await;
        let field = &scaled.drift[0].fields[0];
        assert_eq!(
            (field.pointer.as_str(), field.manager.as_deref()),
            ("/spec/replicas", Some("scaler"))
        );
        assert_eq!(
            deployments.get("web").await.unwrap().data["spec"]["replicas"],
            2
        );
    })
    .await;
}

#[tokio::test]
async fn what_others_add_is_no_drift() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "drift-added").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        let text = bed.namespace() + &bed.map("m", "1");
        settle(&set, &text, &policy).await;
        edit(
            &bed,
            "m",
            json!({"data": {"theirs": "1"}, "metadata": {"annotations": {"theirs": "1"}}}),
        )
        .await;
        let again = settle(&bed.restarted().set("a"), &text, &policy).await;
        assert_eq!(
            (again.changes().writes(), again.drift.len()),
            (0, 0),
            "{}",
            why(&again)
        );
    })
    .await;
}

/// A set of which somebody changed one object and deleted another.
async fn meddled(bed: &Bed) -> (Set, String) {
    let mut set = bed.set("a");
    let text = [bed.namespace(), bed.map("m", "1"), bed.map("gone", "1")].concat();
    settle(&set, &text, &SetPolicy::default()).await;
    edit(bed, "m", json!({"data": {"value": "theirs"}})).await;
    hears(&mut set).await;
    let gone = bed.maps().delete("gone", &Default::default()).await;
    gone.expect("it is deleted");
    hears(&mut set).await;
    (set, text)
}

/// What is to be done about drift.
fn about(drift: Drift) -> SetPolicy {
    let engine = Policy {
        drift,
        ..Policy::default()
    };
    SetPolicy {
        engine,
        ..SetPolicy::default()
    }
}

#[tokio::test]
async fn drift_is_only_reported_when_the_policy_says_so() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "drift-warn").await;
        let (set, text) = meddled(&bed).await;
        let warned = settle(&set, &text, &about(Drift::Warn)).await;
        assert_eq!(
            told(&warned)["ConfigMap m"],
            Word::Drifted,
            "{}",
            why(&warned)
        );
        assert_eq!(told(&warned)["ConfigMap gone"], Word::Drifted);
        assert_eq!(warned.drift.len(), 2);
        assert_eq!(
            bed.maps().get("m").await.unwrap().data["data"]["value"],
            "theirs"
        );
    })
    .await;
}

/// Incidents: karmada#4058 and others, an autoscaler owns the replicas.
#[tokio::test]
async fn fields_that_others_may_have_stay_theirs_also_through_updates() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "drift-hpa").await;
        let mut set = bed.set("a");
        let policy = SetPolicy {
            ignore: vec![Ignore::Pointer("/spec/replicas".into())],
            ..SetPolicy::default()
        };
        let text = bed.namespace() + &bed.deployment("web", 2);
        settle(&set, &text, &policy).await;
        let deployments = bed.of("apps/v1", "Deployment", bed.name.as_str());
        let scaled = json!({"spec": {"replicas": 5}});
        deployments
            .patch_scale("web", &by("hpa"), &Patch::Merge(scaled))
            .await
            .unwrap();
        hears(&mut set).await;
        let kept = settle(&set, &text, &policy).await;
        assert_eq!(
            (kept.changes().writes(), kept.drift.len()),
            (0, 0),
            "{}",
            why(&kept)
        );
        let newer = text.replace("main:1", "main:2");
        settle(&set, &newer, &policy).await;
        let spec = deployments.get("web").await.unwrap().data["spec"].clone();
        assert_eq!(spec["replicas"], 5);
        assert_eq!(spec["template"]["spec"]["containers"][0]["image"], "main:2");
        let again = settle(&set, &newer, &policy).await;
        assert_eq!(again.changes().writes(), 0, "{}", why(&again));
    })
    .await;
}

/// Incidents: fleet#2436 (a correction every second), argo-cd#22142, kube-green#647.
#[tokio::test]
async fn a_field_that_somebody_takes_again_and_again_is_left_for_a_while() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "drift-fight").await;
        let (mut set, policy) = (bed.set("a"), SetPolicy::default());
        let text = bed.namespace() + &bed.map("m", "1");
        settle(&set, &text, &policy).await;
        for _ in 0..3 {
            edit(&bed, "m", json!({"data": {"value": "theirs"}})).await;
            hears(&mut set).await;
            repaired(&set, &text, &policy).await;
        }
        edit(&bed, "m", json!({"data": {"value": "theirs"}})).await;
        hears(&mut set).await;
        let left = set.converge(&read(&text), &policy).await;
        assert_eq!(
            told(&left)["ConfigMap m"],
            Word::Contended,
            "{}",
            why(&left)
        );
        let said = left
            .changes()
            .iter()
            .find(|change| change.word == Word::Contended);
        assert_eq!(
            said.unwrap().text,
            "it is fought over: somebody took /data/value 3 times of late; left alone until \
             1970-01-01T00:01:00Z"
        );
        assert_eq!(left.fights[0].manager.as_deref(), Some("somebody"));
        assert_eq!(
            (left.fights[0].pointer.as_str(), left.fights[0].times),
            ("/data/value", 3)
        );
        bed.clock.advance(SignedDuration::from_mins(2));
        repaired(&set, &text, &policy).await;
    })
    .await;
}

/// Incident: karmada#3410, what a sidecar's manager sets is overwritten again and again.
#[tokio::test]
async fn whatever_a_trusted_manager_takes_stays_its_own() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "drift-manager").await;
        let mut set = bed.set("a");
        let policy = SetPolicy {
            ignore: vec![Ignore::Manager("somebody".into())],
            ..SetPolicy::default()
        };
        let text = bed.namespace() + &bed.map("m", "1");
        settle(&set, &text, &policy).await;
        edit(&bed, "m", json!({"data": {"value": "theirs"}})).await;
        hears(&mut set).await;
        let left = settle(&set, &text, &policy).await;
        assert_eq!(
            (left.changes().writes(), left.drift.len()),
            (0, 0),
            "{}",
            why(&left)
        );
        let newer = text.replace("other: same", "other: new");
        settle(&set, &newer, &policy).await;
        let data = bed.maps().get("m").await.unwrap().data["data"].clone();
        assert_eq!(data, json!({"value": "theirs", "other": "new"}));
        let untrusting = SetPolicy::default();
        let taken = settle(&set, &newer.replace("new", "newest"), &untrusting).await;
        assert_eq!(taken.changes().writes(), 1);
        let data = bed.maps().get("m").await.unwrap().data["data"].clone();
        assert_eq!(data, json!({"value": "1", "other": "newest"}));
    })
    .await;
}

#[tokio::test]
async fn drift_stays_when_nobody_is_to_look() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "drift-off").await;
        let (set, text) = meddled(&bed).await;
        let off = about(Drift::Off);
        let left = settle(&set, &text, &off).await;
        assert_eq!(left.changes().writes(), 0, "{}", why(&left));
        assert_eq!(told(&left)["ConfigMap m"], Word::Kept);
        // A new version of the set is no drift, and is applied.
        let newer = text.replace("other: same", "other: new");
        settle(&set, &newer, &off).await;
        assert_eq!(
            bed.maps().get("m").await.unwrap().data["data"]["value"],
            "1"
        );
        assert!(bed.maps().get_opt("gone").await.unwrap().is_some());
    })
    .await;
}

/// Incidents: argo-cd#24408 and argo-cd#2022, what is remembered is wrong until somebody says "hard
/// refresh".
#[tokio::test]
async fn a_full_pass_sees_what_a_silent_watch_did_not_tell() {
    let cluster = Cluster::new();
    let view = cluster.view("sets");
    let bed = Bed::seen_through(view.clone(), "drift-full");
    let (set, policy) = (bed.set("a"), SetPolicy::default());
    let text = bed.namespace() + &bed.map("m", "1");
    settle(&set, &text, &policy).await;
    view.drop_events(None, 1);
    let other = Bed::seen_through(cluster.view("other"), "drift-full");
    edit(&other, "m", json!({"data": {"value": "theirs"}})).await;
    let blind = settle(&set, &text, &policy).await;
    assert_eq!(blind.changes().writes(), 0, "{}", why(&blind));
    let anew = SetPolicy {
        anew: true,
        ..policy
    };
    let full = settle(&set, &text, &anew).await;
    assert_eq!(told(&full)["ConfigMap m"], Word::Updated, "{}", why(&full));
    assert_eq!(
        bed.maps().get("m").await.unwrap().data["data"]["value"],
        "1"
    );
    let again = settle(&set, &text, &anew).await;
    assert_eq!(again.changes().writes(), 0, "{}", why(&again));
}

#[tokio::test]
async fn a_repair_is_one_request() {
    let cluster = Cluster::new();
    let view = cluster.view("sets");
    let bed = Bed::seen_through(view.clone(), "drift-cost");
    let (mut set, policy) = (bed.set("a"), SetPolicy::default());
    let text = bed.namespace() + &bed.map("m", "1");
    settle(&set, &text, &policy).await;
    let other = Bed::seen_through(cluster.view("other"), "drift-cost");
    for theirs in [json!("theirs"), json!(null)] {
        edit(&other, "m", json!({"data": {"value": theirs}})).await;
        hears(&mut set).await;
        view.reset_log();
        repaired(&set, &text, &policy).await;
        let log = view.reset_log();
        assert_eq!((log.requests(), log.writes()), (1, 1));
    }
    let again = settle(&bed.restarted().set("a"), &text, &policy).await;
    assert_eq!(
        again.changes().writes(),
        0,
        "the seal is still right: {}",
        why(&again)
    );
}
