//! A crash before, after and with a lost reply at every write; old views; lost events.

use std::collections::BTreeMap;
use std::time::Duration;

use evenkeel_agent_operator::api::{Agent, ModelConfig};
use evenkeel_agent_operator::operator::{Options, with_controllers};
use evenkeel_kubesim as kubesim;
use evenkeel_kubesim::faults::View;
use evenkeel_kubesim::store::ResourceId;
use evenkeel_testkit::faults::{
    Explored, Subject, World, crash_everywhere, lost_events, old_views,
};
use evenkeel_testkit::note;
use futures::FutureExt;
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service, ServiceAccount};
use kube::ResourceExt;
use kube::api::ListParams;
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::bed::{Bed, SUPPORT_BOT};

const A_WHILE: Duration = Duration::from_secs(30);

/// What people do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tale {
    /// Declare an agent.
    Create,
    /// Change its model.
    Update,
    /// Take away a tool and all skills.
    RemoveTool,
    /// Delete it.
    Delete,
}

/// A server of tools, and an agent that uses it and has a skill.
const EQUIPPED: &str = "\
apiVersion: kagent.dev/v1alpha1
kind: MCPServer
metadata: {name: math, namespace: NS}
spec: {deployment: {port: 3000}}
---
apiVersion: kagent.dev/v1alpha2
kind: Agent
metadata: {name: support-bot, namespace: NS}
spec:
  type: Declarative
  description: Helps people
  skills: {refs: ['ghcr.io/org/skill:v1']}
  declarative:
    systemMessage: You help.
    modelConfig: gpt
    deployment: {replicas: 1}
    tools: [{type: McpServer, mcpServer: {name: math, toolNames: [add]}}]
";

/// An agent, and what happens to it.
struct Told {
    bed: Bed,
    tale: Tale,
}

/// What is left, without what differs from run to run.
#[derive(Debug, PartialEq)]
struct End {
    deployment: Option<Value>,
    config: Option<String>,
    objects: Vec<String>,
    conditions: BTreeMap<String, String>,
}

impl Told {
    async fn begin(tale: Tale) -> Self {
        let bed = Bed::simulated(Duration::ZERO).await;
        let told = Self { bed, tale };
        if tale != Tale::Create {
            told.bed.apply(&alone()).await;
            if tale == Tale::RemoveTool {
                told.bed.apply(EQUIPPED).await;
            }
            let process = tokio::spawn(told.operator());
            sleep(A_WHILE).await;
            process.abort();
            let _ = process.await;
        }
        told
    }

    fn view(&self) -> &View {
        self.bed.view.as_ref().expect("a view")
    }

    async fn names<K>(&self) -> Vec<String>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned,
    {
        let listed = self.bed.api::<K>().list(&ListParams::default()).await;
        let listed = listed.expect("a list").items.into_iter();
        listed
            .map(|object| format!("{}/{}", K::kind(&()), object.name_any()))
            .collect()
    }

    async fn agent(&self) -> Option<Agent> {
        self.bed
            .api()
            .get_opt("support-bot")
            .await
            .expect("an answer")
    }
}

/// One pod is enough.
fn alone() -> String {
    SUPPORT_BOT.replace("replicas: 3", "replicas: 1")
}

impl Subject for Told {
    type End = End;
    const SETTLES_IN: Duration = Duration::from_secs(200);

    fn worlds(&self) -> Vec<&dyn World> {
        vec![self.view()]
    }

    fn cluster(&self) -> (&kubesim::Cluster, &View) {
        (self.bed.simulated.as_ref().expect("a cluster"), self.view())
    }

    fn operator(&self) -> BoxFuture<'static, ()> {
        let manager = with_controllers(self.bed.manager(), Options::default());
        async move {
            let _ended = manager.run(CancellationToken::new()).await;
        }
        .boxed()
    }

    async fn story(&self) {
        let bed = &self.bed;
        match self.tale {
            Tale::Create => bed.apply(&alone()).await,
            Tale::Update => {
                let other = json!({"spec": {"model": "gpt-4"}});
                bed.merge::<ModelConfig>("gpt", other).await;
            }
            Tale::RemoveTool => {
                let nothing = json!({"spec": {"skills": null, "declarative": {"tools": null}}});
                bed.merge::<Agent>("support-bot", nothing).await;
            }
            Tale::Delete => bed.delete::<Agent>("support-bot").await,
        }
        sleep(A_WHILE).await;
    }

    async fn end(&self) -> End {
        let deployment = self.bed.deployment("support-bot").await;
        let config = match deployment {
            Some(_) => Some(self.bed.file("support-bot", "config.json").await),
            None => None,
        };
        let objects = [
            self.names::<Secret>().await,
            self.names::<ConfigMap>().await,
            self.names::<Service>().await,
            self.names::<ServiceAccount>().await,
        ];
        let status = self.agent().await.and_then(|agent| agent.status);
        let conditions = status.unwrap_or_default().conditions.into_iter();
        End {
            deployment: deployment.map(|deployment| json!(deployment.spec)),
            config,
            objects: objects.concat(),
            conditions: conditions
                .map(|it| {
                    (
                        it.kind,
                        format!("{:?} {} {}", it.status, it.reason, it.message),
                    )
                })
                .collect(),
        }
    }
}

async fn crashes(tale: Tale) -> Explored {
    let explored = crash_everywhere(async || Told::begin(tale).await).await;
    note(&format_args!(
        "Agent, {tale:?}: {} writes, {} runs with a crash",
        explored.writes, explored.runs
    ));
    explored
}

#[tokio::test(start_paused = true)]
async fn a_creation_survives_a_crash_at_every_write() {
    assert!(crashes(Tale::Create).await.writes > 6);
}

#[tokio::test(start_paused = true)]
async fn another_model_survives_a_crash_at_every_write() {
    assert!(crashes(Tale::Update).await.writes > 4);
}

#[tokio::test(start_paused = true)]
async fn the_removal_of_a_tool_survives_a_crash_at_every_write() {
    assert!(crashes(Tale::RemoveTool).await.writes > 4);
}

/// The agent goes while the process starts, which may still make objects for it. The cluster cleans
/// up after both.
#[tokio::test(start_paused = true)]
async fn a_deletion_survives_a_crash_at_every_write() {
    crashes(Tale::Delete).await;
}

#[tokio::test(start_paused = true)]
async fn old_views_do_no_harm() {
    for tale in [Tale::Update, Tale::RemoveTool] {
        assert!(old_views(async || Told::begin(tale).await).await.runs > 4);
    }
}

#[tokio::test(start_paused = true)]
async fn lost_events_are_made_up_for() {
    for tale in [Tale::Create, Tale::Update, Tale::RemoveTool, Tale::Delete] {
        assert!(lost_events(async || Told::begin(tale).await, 3).await.runs > 3);
    }
}

/// A watch that keeps silent about one event tells nobody that it did. All that helps is to look
/// again, which every process does every six hours.
#[tokio::test(start_paused = true)]
async fn what_no_event_told_is_found_within_six_hours() {
    let bed = Bed::quick().await;
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    bed.settle().await;
    let view = bed.view.clone().expect("a view");
    for (group, plural) in [("", "services"), ("kagent.dev", "modelconfigs")] {
        view.drop_events(Some(&ResourceId::new(group, plural)), 1);
    }
    bed.delete::<Service>("support-bot").await;
    let other = json!({"spec": {"model": "gpt-4"}});
    bed.merge::<ModelConfig>("gpt", other).await;
    sleep(Duration::from_secs(60)).await;
    let service = async || bed.api::<Service>().get_opt("support-bot").await;
    assert!(
        service().await.expect("an answer").is_none(),
        "nobody heard"
    );
    sleep(Duration::from_secs(6 * 3_600 + 600)).await;
    assert!(service().await.expect("an answer").is_some());
    assert!(
        bed.file("support-bot", "config.json")
            .await
            .contains("gpt-4")
    );
    working.end().await;
}
