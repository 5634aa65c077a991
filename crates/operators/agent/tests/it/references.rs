//! Whatever an agent refers to, however far away, reaches it when it changes; and nobody else.

use evenkeel_agent_operator::api::{Agent, MCPServer, ModelConfig, RemoteMCPServer};
use evenkeel_controller::Status;
use evenkeel_kubesim::Verb;
use evenkeel_kubesim::store::ResourceId;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret, Service};
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::bed::{Bed, SUPPORT_BOT};

/// Everything that an agent can refer to, in all spellings.
const WORLD: &str = "\
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: NS}
stringData: {main: k1, memory: k2, summary: k3, header: h1, tool: t1, message: You help.}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: texts, namespace: NS}
data: {header: c1, greeting: hello, endpoint: 'https://one.example'}
---
apiVersion: kagent.dev/v1alpha2
kind: ModelConfig
metadata: {name: main, namespace: NS}
spec: {provider: OpenAI, model: gpt, apiKeySecret: keys, apiKeySecretKey: main}
---
apiVersion: kagent.dev/v1alpha2
kind: ModelConfig
metadata: {name: memory, namespace: NS}
spec: {provider: OpenAI, model: embed, apiKeySecret: keys, apiKeySecretKey: memory}
---
apiVersion: kagent.dev/v1alpha2
kind: ModelConfig
metadata: {name: summary, namespace: NS}
spec:
  provider: Foundry
  model: small
  apiKeySecret: keys
  apiKeySecretKey: summary
  foundry: {deployment: d, endpointFrom: {name: texts, key: endpoint}}
---
apiVersion: kagent.dev/v1alpha2
kind: RemoteMCPServer
metadata: {name: remote, namespace: NS}
spec:
  description: tools
  url: http://127.0.0.1:1/mcp
  headersFrom:
    - {name: X-Key, valueFrom: {type: Secret, name: keys, key: header}}
    - {name: X-Text, valueFrom: {type: ConfigMap, name: texts, key: header}}
---
apiVersion: kagent.dev/v1alpha1
kind: MCPServer
metadata: {name: short, namespace: NS}
spec: {deployment: {port: 3000}}
---
apiVersion: v1
kind: Service
metadata: {name: served, namespace: NS}
spec: {ports: [{name: mcp, port: 8084}]}
---
apiVersion: kagent.dev/v1alpha2
kind: Agent
metadata: {name: helper, namespace: NS}
spec:
  type: Declarative
  description: Helps the other
  declarative: {systemMessage: You help., modelConfig: main}
---
apiVersion: kagent.dev/v1alpha2
kind: Agent
metadata: {name: user, namespace: NS}
spec:
  type: Declarative
  declarative:
    systemMessageFrom: {type: Secret, name: keys, key: message}
    promptTemplate: {dataSources: [{kind: ConfigMap, name: texts}]}
    modelConfig: main
    memory: {modelConfig: memory}
    context: {compaction: {summarizer: {modelConfig: summary}}}
    tools:
      - type: McpServer
        mcpServer: {name: remote, kind: RemoteMCPServer, toolNames: [a]}
        headersFrom: [{name: X-Tool, valueFrom: {type: Secret, name: keys, key: tool}}]
      - {type: McpServer, mcpServer: {name: short, toolNames: [b]}}
      - {type: McpServer, mcpServer: {name: served, kind: Service, apiGroup: core, toolNames: [c]}}
      - {type: Agent, agent: {name: helper}}
";

async fn changes_the_hash(bed: &Bed, what: &str, change: impl AsyncFnOnce()) {
    let before = bed.hash("user").await;
    change().await;
    let reached = format!("{what} reaches the agent");
    bed.until(&reached, async || bed.hash("user").await != before)
        .await;
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_reference_reaches_its_agents() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply(WORLD).await;
    bed.until_ready("user").await;
    let secret = |key: &str| json!({"stringData": {key: "another"}});
    let spec = |change: Value| json!({"spec": change});

    for key in ["main", "memory", "summary", "header", "tool", "message"] {
        changes_the_hash(&bed, key, async || {
            bed.merge::<Secret>("keys", secret(key)).await;
        })
        .await;
    }
    changes_the_hash(&bed, "a header's ConfigMap", async || {
        bed.merge::<ConfigMap>("texts", json!({"data": {"header": "c2"}}))
            .await;
    })
    .await;
    changes_the_hash(&bed, "the address of a model", async || {
        let other = json!({"data": {"endpoint": "https://two.example"}});
        bed.merge::<ConfigMap>("texts", other).await;
    })
    .await;
    for model in ["main", "memory", "summary"] {
        changes_the_hash(&bed, model, async || {
            bed.merge::<ModelConfig>(model, spec(json!({"model": "another"})))
                .await;
        })
        .await;
    }
    changes_the_hash(&bed, "a remote server", async || {
        bed.merge::<RemoteMCPServer>("remote", spec(json!({"url": "http://127.0.0.1:2/mcp"})))
            .await;
    })
    .await;
    changes_the_hash(&bed, "an MCPServer in short spelling", async || {
        bed.merge::<MCPServer>("short", spec(json!({"deployment": {"port": 3001}})))
            .await;
    })
    .await;
    changes_the_hash(&bed, "a Service of group core", async || {
        let note = json!({"metadata": {"annotations": {"kagent.dev/mcp-service-path": "/x"}}});
        bed.merge::<Service>("served", note).await;
    })
    .await;
    changes_the_hash(&bed, "another agent", async || {
        bed.merge::<Agent>("helper", spec(json!({"description": "Helps more"})))
            .await;
    })
    .await;
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_waits_for_what_is_missing_names_it_and_heals() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    let documents: Vec<_> = WORLD.split("---\n").collect();
    let (user, rest) = documents.split_last().expect("documents");
    bed.apply(user).await;
    bed.until("it is refused", async || {
        bed.is("user", "Accepted", Status::False).await
    })
    .await;
    let resolved = bed
        .condition("user", "ResolvedRefs")
        .await
        .expect("a condition");
    assert_eq!(resolved.reason.as_str(), "ModelConfigNotFound");
    let accepted = bed
        .condition("user", "Accepted")
        .await
        .expect("a condition");
    assert_eq!(accepted.reason.as_str(), "ReconcileFailed");
    assert_eq!(accepted.message, "ModelConfig team/main does not exist");
    assert!(bed.is("user", "Ready", Status::False).await);
    assert!(bed.deployment("user").await.is_none());
    for document in rest.iter().rev() {
        bed.apply(document).await;
    }
    bed.until_ready("user").await;
    assert!(bed.is("user", "ResolvedRefs", Status::True).await);
    working.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_of_one_model_touches_exactly_its_agents() {
    let bed = Bed::quick().await;
    let models = 5;
    let mut documents = String::new();
    for number in 0..models {
        documents += &format!(
            "---\napiVersion: kagent.dev/v1alpha2\nkind: ModelConfig\nmetadata: {{name: m{number}, namespace: NS}}\nspec: {{provider: Ollama, model: m, ollama: {{host: h}}}}\n"
        );
    }
    for number in 0..40 {
        let model = number % models;
        documents += &format!(
            "---\napiVersion: kagent.dev/v1alpha2\nkind: Agent\nmetadata: {{name: a{number}, namespace: NS}}\nspec: {{type: Declarative, declarative: {{systemMessage: hi, modelConfig: m{model}}}}}\n"
        );
    }
    bed.apply(&documents).await;
    let working = bed.operator();
    bed.until_ready("a39").await;
    bed.settle().await;
    let view = bed.view.clone().expect("a view");
    view.reset_log();
    bed.merge::<ModelConfig>("m3", json!({"spec": {"model": "other"}}))
        .await;
    bed.settle().await;
    let log = view.log();
    let written: std::collections::BTreeSet<_> = log
        .entries()
        .filter(|entry| entry.call.is_write())
        .filter(|entry| entry.call.resource == ResourceId::new("", "secrets"))
        .filter_map(|entry| entry.call.name.clone())
        .collect();
    let wanted: std::collections::BTreeSet<_> = (0..40)
        .filter(|number| number % models == 3)
        .map(|number| format!("a{number}"))
        .collect();
    assert_eq!(written, wanted);
    assert_eq!(
        log.count(Verb::List, &ResourceId::new("kagent.dev", "agents")),
        0
    );
    working.end().await;
}

const TOOLS: &str = "\
apiVersion: v1
kind: Namespace
metadata: {name: tools}
---
apiVersion: kagent.dev/v1alpha2
kind: RemoteMCPServer
metadata: {name: shared, namespace: tools}
spec: {description: tools, url: 'http://127.0.0.1:1/mcp'}
";

async fn allow(bed: &Bed, from: Value) {
    let servers: Api<RemoteMCPServer> = Api::namespaced(bed.client.clone(), "tools");
    let patch = json!({"spec": {"allowedNamespaces": from}});
    let patched = servers
        .patch("shared", &PatchParams::default(), &Patch::Merge(&patch))
        .await;
    patched.expect("the server");
}

#[tokio::test(start_paused = true)]
async fn another_namespace_is_used_only_as_far_as_it_allows() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply(TOOLS).await;
    bed.apply(SUPPORT_BOT).await;
    let tool = json!({"spec": {"declarative": {"tools": [{"type": "McpServer", "mcpServer":
        {"name": "shared", "namespace": "tools", "kind": "RemoteMCPServer", "toolNames": ["a"]}}]}}});
    bed.merge::<Agent>("support-bot", tool).await;
    let is = async |status| bed.is("support-bot", "Accepted", status).await;
    bed.until("it is refused", async || is(Status::False).await)
        .await;
    let resolved = bed
        .condition("support-bot", "ResolvedRefs")
        .await
        .expect("a condition");
    assert_eq!(resolved.reason.as_str(), "ReferenceRefused");
    assert!(
        resolved.message.contains("RemoteMCPServer tools/shared"),
        "{}",
        resolved.message
    );

    allow(&bed, json!({"from": "All"})).await;
    bed.until("all may", async || is(Status::True).await).await;
    allow(
        &bed,
        json!({"from": "Selector", "selector": {"matchLabels": {"team": "b"}}}),
    )
    .await;
    bed.until("only others may", async || is(Status::False).await)
        .await;
    let namespaces: Api<Namespace> = Api::all(bed.client.clone());
    let label = Patch::Merge(json!({"metadata": {"labels": {"team": "b"}}}));
    namespaces
        .patch("team", &PatchParams::default(), &label)
        .await
        .expect("a namespace");
    bed.until("its label lets it in", async || is(Status::True).await)
        .await;
    working.end().await;
}
