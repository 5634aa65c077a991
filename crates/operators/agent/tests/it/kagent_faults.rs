//! What is wrong with kagent 0.10, or missing in it, and is not here: one test for each.
//!
//! Elsewhere are: every kind of reference, and waiting for what is missing (`references`); drift,
//! retries, objects of others, taking over, pausing, rights, watched namespaces, and what every
//! condition speaks of (`faults`); a write for every crash, and events that nobody told
//! (`crashes`); rotated Secrets, lost pods and deleted objects (`scenes`); servers that hang, and
//! tools that stay known (`discovery`); probes, spreading and budgets (`rules::pods`).

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::time::Duration;

use evenkeel_agent_operator::api::{Agent, MCPServer, ModelConfig, RemoteMCPServer};
use evenkeel_agent_operator::operator::{Numbers, Options};
use evenkeel_agent_operator::translate::Settings;
use evenkeel_controller::Status;
use evenkeel_kubesim::Verb;
use evenkeel_kubesim::store::ResourceId;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::ResourceExt;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::bed::{Bed, SUPPORT_BOT};

/// An agent of this name that is all defaults, with more in its `declarative`.
fn agent(name: &str, more: &str) -> String {
    format!(
        "---\napiVersion: kagent.dev/v1alpha2\nkind: Agent\nmetadata: {{name: {name}, namespace: NS}}\nspec: {{type: Declarative, declarative: {{systemMessage: hi, {more}}}}}\n"
    )
}

/// A model of this name that needs no Secret.
fn model(name: &str) -> String {
    format!(
        "---\napiVersion: kagent.dev/v1alpha2\nkind: ModelConfig\nmetadata: {{name: {name}, namespace: NS}}\nspec: {{provider: Ollama, model: m, ollama: {{host: h}}}}\n"
    )
}

async fn status(bed: &Bed, name: &str) -> Value {
    let agent = bed.api::<Agent>().get(name).await.expect("the agent");
    json!(agent.status)
}

// 1.3: what the status says.

#[tokio::test(start_paused = true)]
async fn the_status_counts_pods_lists_objects_and_tells_address_and_hash() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    bed.settle().await;
    let status = status(&bed, "support-bot").await;
    assert_eq!(status["endpoint"], "http://support-bot.team:8080");
    assert_eq!(status["configHash"], json!(bed.hash("support-bot").await));
    let counts = ["replicas", "updatedReplicas", "readyReplicas"].map(|field| &status[field]);
    assert_eq!(counts, [3, 3, 3]);
    let kinds = ["Secret", "ServiceAccount", "Deployment", "Service"];
    let objects = kinds.map(|kind| format!("{kind}/support-bot"));
    assert_eq!(status["objects"], json!(objects));
    working.end().await;
}

/// kagent's first write sets Accepted alone, because it stops at the first condition that changed.
#[tokio::test(start_paused = true)]
async fn the_first_write_of_a_status_sets_every_condition() {
    let bed = Bed::simulated(Duration::from_secs(30)).await;
    let working = bed.operator();
    bed.settle().await;
    bed.apply(SUPPORT_BOT).await;
    bed.until("something is said", async || {
        !status(&bed, "support-bot").await.is_null()
    })
    .await;
    let status = status(&bed, "support-bot").await;
    let conditions = status["conditions"].as_array().expect("conditions");
    let kinds: BTreeSet<_> = conditions
        .iter()
        .filter_map(|it| it["type"].as_str())
        .collect();
    let all = ["Accepted", "Progressing", "Ready", "ResolvedRefs"];
    assert_eq!(kinds, BTreeSet::from(all));
    assert!(
        conditions.iter().all(|it| it["observedGeneration"] == 1),
        "{status}"
    );
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_rollout_is_told_while_it_is_under_way() {
    let bed = Bed::simulated(Duration::from_secs(30)).await;
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until("the pods are awaited", async || {
        bed.is("support-bot", "Progressing", Status::True).await
    })
    .await;
    bed.until_ready("support-bot").await;
    assert!(bed.is("support-bot", "Progressing", Status::False).await);
    bed.merge::<ModelConfig>("gpt", json!({"spec": {"model": "gpt-4"}}))
        .await;
    bed.until("the new pods are awaited", async || {
        bed.is("support-bot", "Progressing", Status::True).await
            && bed.is("support-bot", "Ready", Status::False).await
    })
    .await;
    bed.until_ready("support-bot").await;
    let told = bed.condition("support-bot", "Progressing").await;
    assert_eq!(
        told.expect("a condition").reason.as_str(),
        "RolloutComplete"
    );
    working.end().await;
}

// 2.2: what reaches an agent, and what does not.

#[tokio::test(start_paused = true)]
async fn the_default_model_reaches_the_agents_that_name_none() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply(&agent("plain", "stream: false")).await;
    bed.until("it waits", async || {
        bed.is("plain", "Accepted", Status::False).await
    })
    .await;
    bed.apply(&model("default-model-config")).await;
    bed.until_ready("plain").await;
    let before = bed.hash("plain").await;
    bed.merge::<ModelConfig>("default-model-config", json!({"spec": {"model": "n"}}))
        .await;
    bed.until("the change arrives", async || {
        bed.hash("plain").await != before
    })
    .await;
    working.end().await;
}

/// kagent finds the agents of a RemoteMCPServer by its name alone.
#[tokio::test(start_paused = true)]
async fn a_namesake_of_another_kind_wakes_nobody() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    let server = |kind: &str, spec: &str| {
        format!(
            "apiVersion: kagent.dev/{kind}\nmetadata: {{name: tools, namespace: NS}}\nspec: {spec}\n"
        )
    };
    bed.apply(&server(
        "v1alpha1\nkind: MCPServer",
        "{deployment: {port: 3000}}",
    ))
    .await;
    let tool = json!({"spec": {"declarative": {"tools": [
        {"type": "McpServer", "mcpServer": {"name": "tools", "toolNames": ["a"]}}]}}});
    bed.merge::<Agent>("support-bot", tool).await;
    bed.until_ready("support-bot").await;
    bed.settle().await;
    let view = bed.view.clone().expect("a view");
    view.reset_log();
    let remote = "{description: d, url: 'http://127.0.0.1:1/mcp'}";
    bed.apply(&server("v1alpha2\nkind: RemoteMCPServer", remote))
        .await;
    bed.settle().await;
    // A run of the agent would have read the key of its model.
    let read = view.log().count(Verb::Get, &ResourceId::new("", "secrets"));
    assert_eq!(read, 0);
    bed.merge::<MCPServer>("tools", json!({"spec": {"deployment": {"port": 3001}}}))
        .await;
    bed.until("the server that is meant reaches it", async || {
        bed.file("support-bot", "config.json")
            .await
            .contains(":3001")
    })
    .await;
    bed.delete::<RemoteMCPServer>("tools").await;
    working.end().await;
}

/// kagent restarts the whole fleet when its own flags change.
#[tokio::test(start_paused = true)]
async fn another_image_restarts_a_few_agents_at_a_time() {
    let bed = Bed::simulated(Duration::from_secs(5)).await;
    bed.apply(&model("default-model-config")).await;
    for number in 0..6 {
        bed.apply(&agent(&format!("a{number}"), "stream: false"))
            .await;
    }
    let working = bed.operator();
    for number in 0..6 {
        bed.until_ready(&format!("a{number}")).await;
    }
    working.end().await;

    let working = bed.operator_with(upgraded("v2"));
    let (mut most, mut done) = (0, 0);
    while done < 6 {
        sleep(Duration::from_millis(500)).await;
        let (updated, ready) = upgrade(&bed, "v2").await;
        most = most.max(updated - ready);
        done = ready;
    }
    assert_eq!(most, 2, "so many restart at once");
    working.end().await;
}

fn upgraded(tag: &str) -> Options {
    let settings = Settings {
        image_tag: tag.to_owned(),
        ..Settings::default()
    };
    Options {
        settings,
        rollouts: NonZeroUsize::new(2).expect("not zero"),
        ..Options::default()
    }
}

/// How many agents are to run this tag, and how many of them do.
async fn upgrade(bed: &Bed, tag: &str) -> (usize, usize) {
    let all = bed.api::<Deployment>().list(&Default::default()).await;
    let all = all.expect("a list").items;
    let runs = |deployment: &&Deployment| {
        json!(deployment)["spec"]["template"]["spec"]["containers"][0]["image"]
            .as_str()
            .is_some_and(|image| image.ends_with(&format!(":{tag}")))
    };
    let ready = |deployment: &&Deployment| {
        let status = json!(deployment)["status"].clone();
        let seen = status["observedGeneration"] == json!(deployment.metadata.generation);
        seen && status["updatedReplicas"] == 1
            && status["availableReplicas"] == 1
            && status["replicas"] == 1
    };
    let updated: Vec<_> = all.iter().filter(runs).collect();
    let ready = updated.iter().copied().filter(ready).count();
    (updated.len(), ready)
}

/// Pods that do not come up keep the turn of their agents; but what people change needs none.
#[tokio::test(start_paused = true)]
async fn a_bad_image_stops_after_a_few_agents_and_holds_nobody_up() {
    let bed = Bed::simulated(Duration::from_secs(3_600)).await;
    bed.apply(&model("default-model-config")).await;
    for name in ["a", "b", "c"] {
        bed.apply(&agent(name, "stream: false")).await;
    }
    let working = bed.operator();
    bed.until("all are made", async || bed.deployment("c").await.is_some())
        .await;
    bed.settle().await;
    working.end().await;
    let working = bed.operator_with(upgraded("v2"));
    sleep(Duration::from_secs(600)).await;
    assert_eq!(upgrade(&bed, "v2").await.0, 2);
    let message = json!({"spec": {"declarative": {"systemMessage": "Now."}}});
    for name in ["a", "b", "c"] {
        bed.merge::<Agent>(name, message.clone()).await;
    }
    bed.until("all follow their authors", async || {
        upgrade(&bed, "v2").await.0 == 3 && bed.file("c", "config.json").await.contains("Now.")
    })
    .await;
    working.end().await;
}

// 4.3: what people reported.

#[tokio::test(start_paused = true)]
async fn issue_1044_every_edit_of_an_agent_is_carried_out() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    let annotation = async || {
        let deployment = bed.deployment("support-bot").await.expect("a deployment");
        deployment.annotations().get("team").cloned()
    };
    let note = |value: Value| json!({"metadata": {"annotations": {"team": value}}});
    bed.merge::<Agent>("support-bot", note("a".into())).await;
    bed.until("an annotation arrives", async || {
        annotation().await.as_deref() == Some("a")
    })
    .await;
    bed.merge::<Agent>("support-bot", note("b".into())).await;
    bed.until("another one arrives", async || {
        annotation().await.as_deref() == Some("b")
    })
    .await;
    bed.merge::<Agent>("support-bot", note(Value::Null)).await;
    bed.until("and goes", async || annotation().await.is_none())
        .await;
    let message = json!({"spec": {"declarative": {"systemMessage": "Another."}}});
    bed.merge::<Agent>("support-bot", message).await;
    bed.until("a message arrives", async || {
        bed.file("support-bot", "config.json")
            .await
            .contains("Another.")
    })
    .await;
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn issue_1232_a_bad_server_stops_only_the_agents_that_use_it() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply("apiVersion: kagent.dev/v1alpha1\nkind: MCPServer\nmetadata: {name: bad, namespace: NS}\nspec: {deployment: {}}\n")
        .await;
    bed.apply(&model("default-model-config")).await;
    bed.apply(&agent(
        "user",
        "tools: [{type: McpServer, mcpServer: {name: bad}}]",
    ))
    .await;
    bed.apply(&agent("other", "stream: false")).await;
    bed.until_ready("other").await;
    let accepted = bed
        .condition("user", "Accepted")
        .await
        .expect("a condition");
    assert_eq!(accepted.status, Status::False);
    assert_eq!(accepted.message, "MCPServer \"bad\" has no port for MCP");
    bed.merge::<MCPServer>("bad", json!({"spec": {"deployment": {"port": 1}}}))
        .await;
    bed.until_ready("user").await;
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn issue_1272_a_server_has_thirty_seconds_unless_it_says_otherwise() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply("apiVersion: kagent.dev/v1alpha2\nkind: RemoteMCPServer\nmetadata: {name: remote, namespace: NS}\nspec: {description: d, url: 'http://127.0.0.1:1/mcp'}\n")
        .await;
    bed.apply("apiVersion: kagent.dev/v1alpha1\nkind: MCPServer\nmetadata: {name: run, namespace: NS}\nspec: {deployment: {port: 1}}\n")
        .await;
    bed.apply(&model("default-model-config")).await;
    let tools = "tools: [{type: McpServer, mcpServer: {name: remote, kind: RemoteMCPServer}}, {type: McpServer, mcpServer: {name: run}}]";
    bed.apply(&agent("user", tools)).await;
    bed.until_ready("user").await;
    let config = bed.file("user", "config.json").await;
    assert_eq!(config.matches(r#""timeout":30"#).count(), 2, "{config}");
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn issue_1390_no_condition_is_without_a_message() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.apply(&agent("broken", "modelConfig: none")).await;
    bed.until_ready("support-bot").await;
    bed.until("the other is refused", async || {
        bed.is("broken", "Accepted", Status::False).await
    })
    .await;
    for name in ["support-bot", "broken"] {
        let status = status(&bed, name).await;
        let conditions = status["conditions"].as_array().expect("conditions");
        assert_eq!(conditions.len(), 4);
        assert!(conditions.iter().all(|it| it["message"] != ""), "{status}");
    }
    let gpt = bed
        .api::<ModelConfig>()
        .get("gpt")
        .await
        .expect("the model");
    let said = json!(gpt.status)["conditions"][0].clone();
    assert_eq!(said["message"], "Model configuration accepted");
    assert_eq!(said["observedGeneration"], 1);
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn issue_1844_a_brought_agent_leaves_its_replicas_to_an_autoscaler() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply("apiVersion: kagent.dev/v1alpha2\nkind: Agent\nmetadata: {name: own, namespace: NS}\nspec: {type: BYO, byo: {deployment: {image: i}}}\n")
        .await;
    bed.until_ready("own").await;
    bed.merge::<Deployment>("own", json!({"spec": {"replicas": 4}}))
        .await;
    bed.until("four pods are counted", async || {
        status(&bed, "own").await["readyReplicas"] == 4
    })
    .await;
    let note = json!({"metadata": {"annotations": {"a": "b"}}});
    bed.merge::<Agent>("own", note).await;
    bed.settle().await;
    let deployment = bed.deployment("own").await.expect("a deployment");
    assert_eq!(deployment.spec.expect("a spec").replicas, Some(4));
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn issue_2148_people_are_told_of_every_deed() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    // People are told few things at once: the next ones are earned by waiting.
    let later = async || sleep(Duration::from_secs(600)).await;
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    later().await;
    let skills = json!({"spec": {"skills": {"refs": ["ghcr.io/org/skill:v1"]}}});
    bed.merge::<Agent>("support-bot", skills).await;
    later().await;
    bed.merge::<Agent>("support-bot", json!({"spec": {"skills": null}}))
        .await;
    later().await;
    bed.delete::<Service>("support-bot").await;
    bed.settle().await;
    let told = bed.events().await;
    let said = |reason: &str, words: &str| {
        let notes = told.get(reason).cloned().unwrap_or_default();
        assert!(
            notes.iter().any(|note| note.contains(words)),
            "{reason}: {told:#?}"
        );
    };
    said("ObjectsCreated", "Deployment support-bot");
    said("ObjectsUpdated", "Deployment support-bot");
    said("ObjectsPruned", "ConfigMap support-bot-skills-init");
    said("DriftRepaired", "Service support-bot");
    said("PodsRestarted", "skills");
    said("Reconciled", "Agent configuration accepted");
    said("DeploymentReady", "3/3 pods are ready");
    said("ModelConfigReconciled", "Model configuration accepted");
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn issue_2599_an_agent_that_is_there_before_the_one_it_uses() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply(&model("default-model-config")).await;
    bed.apply(&agent(
        "parent",
        "tools: [{type: Agent, agent: {name: child}}]",
    ))
    .await;
    bed.until("it waits", async || {
        let resolved = bed.condition("parent", "ResolvedRefs").await;
        resolved.is_some_and(|it| it.reason.as_str() == "AgentNotFound")
    })
    .await;
    bed.apply(&agent("child", "stream: false")).await;
    bed.until_ready("parent").await;
    bed.delete::<Agent>("child").await;
    bed.until("it misses it again", async || {
        bed.is("parent", "Accepted", Status::False).await
    })
    .await;
    assert!(
        bed.deployment("parent").await.is_some(),
        "what runs goes on"
    );
    working.end().await;
}

// 5: what people would expect.

/// 5.9: one object that is in the way keeps nobody from cleaning up behind the others.
#[tokio::test(start_paused = true)]
async fn unneeded_objects_go_although_another_one_is_in_the_way() {
    let bed = Bed::quick().await;
    bed.apply("apiVersion: v1\nkind: Service\nmetadata: {name: support-bot, namespace: NS}\nspec: {ports: [{port: 1}]}\n")
        .await;
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    let skills = json!({"spec": {"skills": {"refs": ["ghcr.io/org/skill:v1"]}}});
    bed.merge::<Agent>("support-bot", skills).await;
    let map = async || {
        bed.api::<ConfigMap>()
            .get_opt("support-bot-skills-init")
            .await
    };
    bed.until("the rest is made", async || {
        map().await.expect("an answer").is_some()
    })
    .await;
    bed.merge::<Agent>("support-bot", json!({"spec": {"skills": null}}))
        .await;
    bed.until("what is unneeded goes", async || {
        map().await.expect("an answer").is_none()
    })
    .await;
    assert!(bed.is("support-bot", "Accepted", Status::False).await);
    let foreign = bed
        .api::<Service>()
        .get("support-bot")
        .await
        .expect("a service");
    assert!(foreign.owner_references().is_empty());
    working.end().await;
}

/// 5.7: numbers beyond those that every controller has.
#[tokio::test(start_paused = true)]
async fn repairs_removals_restarts_failures_and_the_time_to_ready_are_counted() {
    let bed = Bed::quick().await;
    let numbers = Numbers::default();
    let mut registry = Registry::default();
    numbers.register(&mut registry);
    let working = bed.operator_with(Options {
        numbers,
        ..Options::default()
    });
    bed.apply(&agent("broken", "modelConfig: none")).await;
    bed.apply(SUPPORT_BOT).await;
    let skills = json!({"spec": {"skills": {"refs": ["ghcr.io/org/skill:v1"]}}});
    bed.merge::<Agent>("support-bot", skills).await;
    bed.until_ready("support-bot").await;
    bed.settle().await;
    bed.merge::<Agent>("support-bot", json!({"spec": {"skills": null}}))
        .await;
    bed.settle().await;
    bed.delete::<Service>("support-bot").await;
    bed.settle().await;
    let mut text = String::new();
    encode(&mut text, &registry).expect("numbers");
    let value = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        let line = line.unwrap_or_else(|| panic!("no {name} in\n{text}"));
        line.rsplit(' ')
            .next()
            .expect("a value")
            .parse::<f64>()
            .expect("a number")
    };
    assert_eq!(value("evenkeel_agents_drift_repairs_total"), 1.0);
    assert_eq!(value("evenkeel_agents_pruned_total"), 1.0);
    assert!(value("evenkeel_agents_restarts_total") >= 1.0);
    let missing = r#"evenkeel_agents_failures_total{reason="ModelConfigNotFound"}"#;
    assert!(value(missing) >= 1.0);
    assert!(value("evenkeel_agents_seconds_to_ready_count") >= 1.0);
    working.end().await;
}

/// 5.12: a budget is made when it is asked for, kept, and removed when it is not.
#[tokio::test(start_paused = true)]
async fn a_disruption_budget_comes_and_goes_as_its_author_says() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    let budget = async || {
        let budget = bed
            .api::<PodDisruptionBudget>()
            .get_opt("support-bot")
            .await;
        budget.expect("an answer")
    };
    assert!(budget().await.is_none());
    let ask = |wanted: Value| json!({"spec": {"declarative": {"deployment": {"podDisruptionBudget": wanted}}}});
    bed.merge::<Agent>("support-bot", ask(json!({"minAvailable": "50%"})))
        .await;
    bed.until("it is made", async || budget().await.is_some())
        .await;
    bed.delete::<PodDisruptionBudget>("support-bot").await;
    bed.until("it is back", async || budget().await.is_some())
        .await;
    bed.merge::<Agent>("support-bot", ask(Value::Null)).await;
    bed.until("it is gone", async || budget().await.is_none())
        .await;
    working.end().await;
}

/// 5.11: the contents of Secrets are read when they are needed, and never listed.
#[tokio::test(start_paused = true)]
async fn the_contents_of_secrets_are_never_listed() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply("apiVersion: v1\nkind: Secret\nmetadata: {name: foreign, namespace: NS}\nstringData: {a: b}\n")
        .await;
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    let secrets = ResourceId::new("", "secrets");
    let log = bed.view.clone().expect("a view").log();
    let read: BTreeSet<_> = log
        .entries()
        .filter(|entry| entry.call.resource == secrets && entry.call.verb == Verb::Get)
        .filter_map(|entry| entry.call.name.clone())
        .collect();
    assert_eq!(read, BTreeSet::from(["openai".to_owned()]));
    working.end().await;
}
