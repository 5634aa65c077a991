//! What has gone wrong for others, and must not go wrong here.

use std::time::Duration;

use evenkeel_kubeset::{Error, SetPolicy};
use evenkeel_kubesim::faults::{Cut, Fault, Refusal, Which};
use evenkeel_kubesim::{Cluster, Verb};
use evenkeel_reconcile::{Classify, ErrorClass, Word};
use evenkeel_testkit::{self as testkit, on_each_cluster};
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::bed::{Bed, eventually, hears, read, settle, told, why};

fn object(value: Value) -> DynamicObject {
    serde_json::from_value(value).expect("an object")
}

/// Incidents: kapp-controller#34 and others, flux2#632: a namespace that is stuck on its way out.
#[tokio::test]
async fn a_namespace_on_its_way_out_is_waited_for() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "terminating").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        settle(&bed.set("b"), &bed.namespace(), &policy).await;
        let stuck = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "stuck", "finalizers": ["example.com/stuck"]}});
        bed.maps()
            .create(&PostParams::default(), &object(stuck))
            .await
            .unwrap();
        let namespaces = bed.of("v1", "Namespace", None);
        namespaces
            .delete(&bed.name, &Default::default())
            .await
            .unwrap();
        let refused = set
            .converge(&read(&bed.map("m", "1")), &policy)
            .await
            .result
            .unwrap_err();
        assert_eq!(refused.class(), ErrorClass::Transient, "{refused:?}");
        let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        bed.maps()
            .patch("stuck", &PatchParams::default(), &free)
            .await
            .unwrap();
        eventually("the namespace is gone", || async {
            namespaces.get_opt(&bed.name).await.unwrap().is_none()
        })
        .await;
        settle(&set, &(bed.namespace() + &bed.map("m", "1")), &policy).await;
    })
    .await;
}

/// kube-rs T2 and T3: a watch that was down misses a delete, and its revision is answered with 410.
#[tokio::test]
async fn what_happens_while_the_watch_is_down_is_seen_afterwards() {
    let cluster = Cluster::new();
    let view = cluster.view("sets");
    let bed = Bed::seen_through(view.clone(), "watch-down");
    let (mut set, policy) = (bed.set("a"), SetPolicy::default());
    let text = bed.namespace() + &bed.map("m", "1");
    settle(&set, &text, &policy).await;
    view.fault_times(
        Which::all().verbs(&[Verb::Watch]).of("", "configmaps"),
        Fault::Refuse(Refusal::code(410)),
        1,
    );
    view.cut_watches(None, Cut::Reset);
    let other = Bed::seen_through(cluster.view("other"), "watch-down");
    other.maps().delete("m", &Default::default()).await.unwrap();
    hears(&mut set).await;
    let repaired = settle(&set, &text, &policy).await;
    assert_eq!(
        told(&repaired)["ConfigMap m"],
        Word::Created,
        "{}",
        why(&repaired)
    );
}

/// brokkr T-0193: what was there before an attempt is not removed when the attempt fails.
#[tokio::test]
async fn a_namespace_that_somebody_uses_is_not_undone() {
    let cluster = Cluster::new();
    let view = cluster.view("sets");
    let bed = Bed::seen_through(view.clone(), "undo-used");
    settle(&bed.set("b"), &bed.namespace(), &SetPolicy::default()).await;
    view.fault(
        Which::writes().of("", "configmaps"),
        Fault::Refuse(Refusal::code(500)),
    );
    let adopting = SetPolicy {
        take_from: [bed.owner("b")].into(),
        ..SetPolicy::default()
    };
    let failed = bed
        .set("a")
        .converge(&read(&(bed.namespace() + &bed.map("m", "1"))), &adopting)
        .await;
    assert!(failed.result.is_err());
    assert!(failed.undone.is_empty());
    assert!(
        bed.of("v1", "Namespace", None)
            .get_opt("undo-used")
            .await
            .unwrap()
            .is_some()
    );
}

/// controllers T10: the answer is lost, and the write is not taken for a failure or done twice.
#[tokio::test]
async fn a_lost_answer_is_made_good_by_the_next_pass() {
    let cluster = Cluster::new();
    let view = cluster.view("sets");
    let bed = Bed::seen_through(view.clone(), "lost-answer");
    let (set, policy) = (bed.set("a"), SetPolicy::default());
    let text = bed.namespace() + &bed.map("m", "1");
    view.fault_times(
        Which::writes().verbs(&[Verb::Patch]).of("", "configmaps"),
        Fault::LoseReply,
        1,
    );
    let _ = set.converge(&read(&text), &policy).await;
    settle(&set, &text, &policy).await;
    let again = settle(&set, &text, &policy).await;
    assert_eq!(again.changes().writes(), 0, "{}", why(&again));
}

fn admission(name: &str, namespace: &str, rest: &Value) -> Vec<Value> {
    let kind = if rest.get("mutations").is_some() {
        "MutatingAdmissionPolicy"
    } else {
        "ValidatingAdmissionPolicy"
    };
    let version = "admissionregistration.k8s.io/v1";
    let mut spec = json!({
        "matchConstraints": {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}],
        },
        "failurePolicy": "Fail",
    });
    spec.as_object_mut()
        .expect("a map")
        .extend(rest.as_object().expect("a map").clone());
    let mut bound = json!({"policyName": name});
    if kind == "ValidatingAdmissionPolicy" {
        bound["validationActions"] = json!(["Deny"]);
    }
    vec![
        json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}),
        json!({"apiVersion": version, "kind": format!("{kind}Binding"), "metadata": {"name": name}, "spec": bound}),
    ]
}

async fn install(bed: &Bed, objects: Vec<Value>) {
    for wanted in objects {
        let kind = wanted["kind"].as_str().expect("a kind").to_owned();
        let api = bed.of("admissionregistration.k8s.io/v1", &kind, None);
        api.create(&PostParams::default(), &object(wanted))
            .await
            .expect("a policy");
    }
}

/// Incidents: fleet#715 and argo-cd#22142, admission that changes what was applied and an endless
/// loop of corrections.
#[tokio::test]
async fn admission_that_mutates_or_denies_ends_in_a_state_and_not_in_a_loop() {
    let Some(real) = testkit::Cluster::shared_real_or_skip().await else {
        return;
    };
    let bed = Bed::on(&real, "admission").await;
    let (set, policy) = (bed.set("a"), SetPolicy::default());
    settle(&set, &bed.namespace(), &policy).await;
    let change = json!({"reinvocationPolicy": "Never", "mutations": [{"patchType": "ApplyConfiguration",
        "applyConfiguration": {"expression": "Object{data: {'value': 'theirs', 'added': 'x'}}"}}]});
    install(&bed, admission("kubeset-mutates", &bed.name, &change)).await;
    let text = bed.namespace() + &bed.map("m", "1");
    eventually("the policy is in force", || async {
        set.converge(&read(&text), &policy).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        let probe = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe"}});
        let how = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        bed.maps().create(&how, &object(probe)).await.unwrap().data["data"]["added"] == "x"
    })
    .await;
    settle(&set, &text.replace("same", "new"), &policy).await;
    let again = settle(&set, &text.replace("same", "new"), &policy).await;
    assert_eq!(again.changes().writes(), 0, "{}", why(&again));
    let restarted = settle(
        &bed.restarted().set("a"),
        &text.replace("same", "new"),
        &policy,
    )
    .await;
    assert_eq!(restarted.changes().writes(), 0, "{}", why(&restarted));

    let deny = json!({"validations": [{"expression": "!('value' in object.data) || object.metadata.name != 'denied'", "message": "not here"}]});
    install(&bed, admission("kubeset-denies", &bed.name, &deny)).await;
    let denied = [bed.namespace(), bed.map("m", "1"), bed.map("denied", "1")].concat();
    let probe = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "denied"}, "data": {"value": "1"}});
    let how = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    eventually("the policy is in force", || async {
        bed.maps()
            .create(&how, &object(probe.clone()))
            .await
            .is_err()
    })
    .await;
    let failed = set
        .converge(&read(&denied), &policy)
        .await
        .result
        .unwrap_err();
    let told = failed.failures[0].error.to_string();
    assert!(told.contains("not here"), "{told}");
    assert!(bed.maps().get_opt("denied").await.unwrap().is_none());
}

/// Incident: a broken aggregated API stops discovery, and with it everything else.
#[tokio::test]
async fn a_broken_group_does_not_stop_the_rest() {
    let Some(real) = testkit::Cluster::shared_real_or_skip().await else {
        return;
    };
    let bed = Bed::on(&real, "broken-group").await;
    let service = json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": "v1.broken.example.com"},
        "spec": {"group": "broken.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100,
            "service": {"name": "nobody", "namespace": "default"}, "insecureSkipTLSVerify": true}});
    let services = bed.of("apiregistration.k8s.io/v1", "APIService", None);
    services
        .create(&PostParams::default(), &object(service))
        .await
        .unwrap();
    let policy = SetPolicy::default();
    let foo = read("apiVersion: broken.example.com/v1\nkind: Foo\nmetadata: {name: x}\n");
    eventually("the group is known to be broken", || async {
        let failed = bed
            .set("b")
            .converge(&foo, &policy)
            .await
            .result
            .unwrap_err();
        matches!(failed.failures[0].error, Error::BrokenGroup { .. })
    })
    .await;
    let made = settle(
        &bed.set("a"),
        &(bed.namespace() + &bed.map("m", "1")),
        &policy,
    )
    .await;
    services
        .delete("v1.broken.example.com", &Default::default())
        .await
        .unwrap();
    assert_eq!(told(&made)["ConfigMap m"], Word::Created);
}

/// Incident: addon-controller#1347, a hash that changed with an upgrade made everything go and come
/// back. Fleet#1650 likewise.
#[tokio::test]
async fn a_seal_that_says_nothing_to_us_is_renewed_in_place() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "foreign-seal").await;
        let policy = SetPolicy::default();
        let text = bed.namespace() + &bed.map("m", "1");
        settle(&bed.set("a"), &text, &policy).await;
        let uid = bed.maps().get("m").await.unwrap().metadata.uid;
        let sealed = json!({"metadata": {"annotations": {"evenkeel.io/applied": "sha3:another"}}});
        bed.maps()
            .patch("m", &PatchParams::default(), &Patch::Merge(sealed))
            .await
            .unwrap();
        let set = bed.restarted().set("a");
        let renewed = settle(&set, &text, &policy).await;
        assert_eq!(
            told(&renewed)["ConfigMap m"],
            Word::Updated,
            "{}",
            why(&renewed)
        );
        assert_eq!(bed.maps().get("m").await.unwrap().metadata.uid, uid);
        let again = settle(&set, &text, &policy).await;
        assert_eq!(again.changes().writes(), 0, "{}", why(&again));
    })
    .await;
}

/// Incidents: kluctl#159 and kubernetes#108161, a label is taken for ownership. Controllers copy
/// labels to what they make, and people copy whole objects.
#[tokio::test]
async fn a_copied_label_makes_nothing_ours() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "copied-label").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        settle(&set, &bed.namespace(), &policy).await;
        let copy = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "copy", "labels": {crate::bed::OWNER_KEY: "copied-label-a"}}});
        bed.maps()
            .create(&PostParams::default(), &object(copy))
            .await
            .unwrap();
        for set in [set, bed.restarted().set("a")] {
            let text = bed.namespace() + &bed.map("m", "1");
            let passed = settle(&set, &text, &policy).await;
            assert_ne!(told(&passed).get("ConfigMap copy"), Some(&Word::Deleted));
        }
        assert!(bed.maps().get_opt("copy").await.unwrap().is_some());
    })
    .await;
}

/// Incidents: brokkr T-0203 and argo-cd#14090, an object that could not be understood was skipped,
/// and then pruned for being absent.
#[tokio::test]
async fn a_set_with_an_unknown_kind_prunes_nothing() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "unknown-prune").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        settle(&set, &(bed.namespace() + &bed.map("m", "1")), &policy).await;
        let unknown = "---\napiVersion: example.com/v1\nkind: Foo\nmetadata: {name: x}\n";
        let failed = set
            .converge(&read(&(bed.namespace() + unknown)), &policy)
            .await;
        assert!(failed.result.is_err());
        assert!(bed.maps().get_opt("m").await.unwrap().is_some());
    })
    .await;
}

/// Incident: ocm#632, an edit that follows at once is not seen, and what it removes stays for ever.
#[tokio::test]
async fn an_edit_that_follows_at_once_prunes_what_the_watch_has_not_told() {
    let view = Cluster::new().view("sets");
    let bed = Bed::seen_through(view.clone(), "quick-edit");
    let (set, policy) = (bed.set("a"), SetPolicy::default());
    settle(&set, &bed.namespace(), &policy).await;
    view.hold_events();
    settle(
        &set,
        &[bed.namespace(), bed.map("m1", "1"), bed.map("m2", "1")].concat(),
        &policy,
    )
    .await;
    let fewer = settle(&set, &(bed.namespace() + &bed.map("m1", "1")), &policy).await;
    assert_eq!(
        told(&fewer)["ConfigMap m2"],
        Word::Deleted,
        "{}",
        why(&fewer)
    );
    view.release_events();
    let again = settle(&set, &(bed.namespace() + &bed.map("m1", "1")), &policy).await;
    assert_eq!(again.changes().writes(), 0, "{}", why(&again));
}

/// Incidents: fleet#5368 and fleet#4999, a null or an empty value is a difference for ever.
#[tokio::test]
async fn a_null_and_an_empty_value_are_no_drift() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "null-drift").await;
        let policy = SetPolicy::default();
        let odd = bed.map("m", "").replace("other: same", "other: null")
            + &bed.deployment("d", 1).replace(
                "replicas: 1",
                "replicas: 1\n  minReadySeconds: null\n  strategy: {}",
            );
        let text = bed.namespace() + &odd;
        settle(&bed.set("a"), &text, &policy).await;
        let set = bed.restarted().set("a");
        for _ in 0..2 {
            let again = settle(&set, &text, &policy).await;
            assert_eq!(
                (again.changes().writes(), again.drift.len()),
                (0, 0),
                "{}",
                why(&again)
            );
        }
    })
    .await;
}

/// Incident: argo-cd#15058, two replicas work on one thing. Whoever writes the inventory second
/// notices, reads it again, and nothing is lost.
#[tokio::test]
async fn two_processes_with_one_set_lose_nothing() {
    on_each_cluster(async |cluster| {
        let (one, two) = (
            Bed::on(cluster, "two-at-once").await,
            Bed::on(cluster, "two-at-once").await,
        );
        let policy = SetPolicy::default();
        settle(&one.set("n"), &one.namespace(), &policy).await;
        let (first, second) = (one.set("a"), two.set("a"));
        let text = read(&[one.map("m1", "1"), one.map("m2", "1")].concat());
        let _ = tokio::join!(
            first.converge(&text, &policy),
            second.converge(&text, &policy)
        );
        for set in [&first, &second] {
            for _ in 0..3 {
                let _ = set.converge(&text, &policy).await;
            }
            let last = set.converge(&text, &policy).await;
            assert!(last.is_settled(), "{}", why(&last));
            assert_eq!(last.changes().writes(), 0, "{}", why(&last));
        }
        let pruned = settle(&one.restarted().set("a"), &one.map("m1", "1"), &policy).await;
        assert_eq!(
            told(&pruned)["ConfigMap m2"],
            Word::Deleted,
            "{}",
            why(&pruned)
        );
    })
    .await;
}
