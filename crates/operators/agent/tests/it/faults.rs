//! What must not happen, whatever does.

use std::collections::BTreeSet;
use std::time::Duration;

use evenkeel_agent_operator::api::{Agent, ModelConfig};
use evenkeel_agent_operator::operator::{Options, with_controllers};
use evenkeel_agent_operator::translate::Settings;
use evenkeel_controller::Status;
use evenkeel_kubesim::faults::{Fault, Refusal, Which};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Secret, Service};
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::bed::{Bed, SUPPORT_BOT};

/// Touches the agent, so that it is looked at again.
async fn nudge(bed: &Bed, value: &str) {
    let note = json!({"metadata": {"labels": {"nudge": value}}});
    bed.merge::<Agent>("support-bot", note).await;
}

#[tokio::test(start_paused = true)]
async fn a_second_pass_writes_nothing() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    bed.settle().await;
    let view = bed.view.clone().expect("a view");
    view.reset_log();
    nudge(&bed, "again").await;
    bed.settle().await;
    let log = view.log();
    let writes: Vec<_> = log
        .entries()
        .filter(|entry| entry.call.is_write())
        .collect();
    assert!(writes.is_empty(), "{writes:?}");
    view.reset_log();
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(view.log().writes(), 0);
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_view_that_is_behind_only_delays() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    let view = bed.view.clone().expect("a view");
    view.delay_events(Duration::from_secs(20));
    bed.merge::<ModelConfig>("gpt", json!({"spec": {"model": "late"}}))
        .await;
    bed.until("the change arrives", async || {
        bed.file("support-bot", "config.json")
            .await
            .contains("late")
    })
    .await;
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_write_is_told_and_tried_again() {
    let bed = Bed::quick().await;
    let view = bed.view.clone().expect("a view");
    view.fault_times(
        Which::writes().of("apps", "deployments"),
        Fault::Refuse(Refusal::code(403)),
        2,
    );
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until("the refusal is told", async || {
        bed.is("support-bot", "Accepted", Status::False).await
    })
    .await;
    let accepted = bed
        .condition("support-bot", "Accepted")
        .await
        .expect("a condition");
    assert_eq!(accepted.reason.as_str(), "ReconcileFailed");
    assert!(accepted.message.contains("403"), "{}", accepted.message);
    bed.until_ready("support-bot").await;
    assert!(bed.is("support-bot", "Accepted", Status::True).await);
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_belongs_to_others_is_neither_overwritten_nor_deleted() {
    let bed = Bed::quick().await;
    bed.apply(
        "\
apiVersion: v1
kind: Secret
metadata: {name: support-bot, namespace: NS}
stringData: {mine: precious}
",
    )
    .await;
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until("the clash is told", async || {
        bed.is("support-bot", "Accepted", Status::False).await
    })
    .await;
    let accepted = bed
        .condition("support-bot", "Accepted")
        .await
        .expect("a condition");
    assert!(
        accepted.message.contains("support-bot"),
        "{}",
        accepted.message
    );
    let secret = bed
        .api::<Secret>()
        .get("support-bot")
        .await
        .expect("the secret");
    assert!(secret.owner_references().is_empty());
    assert_eq!(secret.data.expect("data").len(), 1);
    bed.delete::<Secret>("support-bot").await;
    bed.until_ready("support-bot").await;
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn objects_that_kagent_made_are_taken_over_and_stale_marks_go() {
    let bed = Bed::quick().await;
    bed.apply(SUPPORT_BOT).await;
    let agent = bed
        .api::<Agent>()
        .get("support-bot")
        .await
        .expect("the agent");
    let uid = agent.uid().expect("a uid");
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "support-bot", "namespace": bed.namespace, "ownerReferences": [{
            "apiVersion": "kagent.dev/v1alpha2", "kind": "Agent", "name": "support-bot",
            "uid": uid, "controller": true, "blockOwnerDeletion": true}]},
        "spec": {"selector": {"app": "old"}, "ports": [{"name": "http", "port": 8080, "targetPort": 9}]},
    });
    bed.apply_one(&service).await;
    let working = bed.operator();
    bed.until_ready("support-bot").await;
    let service = bed
        .api::<Service>()
        .get("support-bot")
        .await
        .expect("the service");
    let spec = service.spec.expect("a spec");
    assert_eq!(spec.selector.expect("a selector")["kagent"], "support-bot");

    let labels = json!({"spec": {"declarative": {"deployment": {"labels": {"old": "label"}}}}});
    bed.merge::<Agent>("support-bot", labels).await;
    let has = async || {
        let deployment = bed.deployment("support-bot").await.expect("a deployment");
        deployment.labels().contains_key("old")
    };
    bed.until("the label is there", async || has().await).await;
    let none = json!({"spec": {"declarative": {"deployment": {"labels": null}}}});
    bed.merge::<Agent>("support-bot", none).await;
    bed.until("the label is gone", async || !has().await).await;
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn drift_is_repaired_and_what_others_add_stays() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    let note = json!({"metadata": {"annotations": {"others": "note"}}});
    bed.merge::<Deployment>("support-bot", note).await;
    bed.merge::<Deployment>("support-bot", json!({"spec": {"replicas": 1}}))
        .await;
    bed.until("the replicas are back", async || {
        let deployment = bed.deployment("support-bot").await.expect("a deployment");
        deployment.spec.expect("a spec").replicas == Some(3)
    })
    .await;
    let deployment = bed.deployment("support-bot").await.expect("a deployment");
    assert_eq!(deployment.annotations()["others"], "note");
    let free = json!({"spec": {"declarative": {"deployment": {"replicas": null}}}});
    bed.merge::<Agent>("support-bot", free).await;
    bed.settle().await;
    bed.merge::<Deployment>("support-bot", json!({"spec": {"replicas": 5}}))
        .await;
    bed.settle().await;
    let deployment = bed.deployment("support-bot").await.expect("a deployment");
    assert_eq!(
        deployment.spec.expect("a spec").replicas,
        Some(5),
        "an autoscaler's business"
    );
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_paused_agent_is_left_alone_and_catches_up() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    let paused = |value: Value| json!({"metadata": {"annotations": {"evenkeel.io/paused": value}}});
    bed.merge::<Agent>("support-bot", paused("true".into()))
        .await;
    bed.settle().await;
    let view = bed.view.clone().expect("a view");
    view.reset_log();
    let before = bed.hash("support-bot").await;
    let message = json!({"spec": {"declarative": {"systemMessage": "Another."}}});
    bed.merge::<Agent>("support-bot", message).await;
    bed.delete::<Service>("support-bot").await;
    bed.settle().await;
    assert_eq!(view.log().writes(), 0);
    assert_eq!(bed.hash("support-bot").await, before);
    bed.merge::<Agent>("support-bot", paused(Value::Null)).await;
    bed.until("it catches up", async || {
        bed.hash("support-bot").await != before
            && bed
                .api::<Service>()
                .get_opt("support-bot")
                .await
                .expect("an answer")
                .is_some()
    })
    .await;
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn all_conditions_speak_of_the_newest_text() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    let broken = json!({"spec": {"declarative": {"modelConfig": "none"}}});
    bed.merge::<Agent>("support-bot", broken).await;
    bed.until("it is refused", async || {
        bed.is("support-bot", "Accepted", Status::False).await
    })
    .await;
    let ready = bed
        .condition("support-bot", "Ready")
        .await
        .expect("a condition");
    assert_eq!(
        (ready.status, ready.reason.as_str()),
        (Status::False, "NotAccepted")
    );
    assert!(
        ready
            .message
            .contains("3/3 pods of the one before are ready"),
        "{}",
        ready.message
    );
    let agent = bed
        .api::<Agent>()
        .get("support-bot")
        .await
        .expect("the agent");
    let (status, generation) = (agent.status.expect("a status"), agent.metadata.generation);
    assert_eq!(status.observed_generation, generation);
    for condition in &status.conditions {
        assert_eq!(
            condition.observed_generation, generation,
            "{}",
            condition.kind
        );
    }
    bed.merge::<Agent>(
        "support-bot",
        json!({"spec": {"declarative": {"modelConfig": "gpt"}}}),
    )
    .await;
    bed.until_ready("support-bot").await;

    let go = json!({"spec": {"declarative": {"runtime": "go", "executeCodeBlocks": true}}});
    bed.merge::<Agent>("support-bot", go).await;
    bed.until("the runtime's limits are told", async || {
        bed.condition("support-bot", "UnsupportedFeatures")
            .await
            .is_some()
    })
    .await;
    let python = json!({"spec": {"declarative": {"runtime": "python"}}});
    bed.merge::<Agent>("support-bot", python).await;
    bed.until("nothing is unsupported", async || {
        bed.condition("support-bot", "UnsupportedFeatures")
            .await
            .is_none()
    })
    .await;
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn no_request_needs_more_than_the_shipped_rights() {
    let bed = Bed::quick().await;
    let rights = with_controllers(bed.manager(), Options::default()).rights();
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    let skills = json!({"spec": {"skills": {"refs": ["ghcr.io/org/skill:v1"]}}});
    bed.merge::<Agent>("support-bot", skills).await;
    bed.until_ready("support-bot").await;
    bed.merge::<Agent>("support-bot", json!({"spec": {"skills": null}}))
        .await;
    bed.until_ready("support-bot").await;
    let log = bed.view.clone().expect("a view").log();
    let mut beyond = BTreeSet::new();
    for entry in log.entries() {
        let (group, plural) = (&*entry.call.resource.group, &*entry.call.resource.plural);
        let part = entry.call.subresource.iter().map(|part| format!("/{part}"));
        let resource = format!("{plural}{}", part.collect::<String>());
        if !rights.cover(entry.call.verb.as_str(), group, &resource) {
            beyond.insert(format!("{} {resource}.{group}", entry.call.verb.as_str()));
        }
    }
    assert!(beyond.is_empty(), "{beyond:?}");
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn only_watched_namespaces_are_served() {
    let bed = Bed::quick().await;
    let settings = Settings {
        watched: Some(["elsewhere".to_owned()].into()),
        ..Settings::default()
    };
    let options = Options {
        settings,
        ..Options::default()
    };
    let working = bed.operator_with(options);
    bed.apply(SUPPORT_BOT).await;
    bed.settle().await;
    assert!(bed.deployment("support-bot").await.is_none());
    assert!(bed.condition("support-bot", "Accepted").await.is_none());
    working.end().await;
}
