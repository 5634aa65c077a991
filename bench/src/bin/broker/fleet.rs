//! Tenants, stacks and agents to measure with.

use anyhow::Context as _;
use evenkeel_bench::http::Connection;
use serde_json::{Value, json};

use crate::Server;

/// About the size of a small Deployment.
const FILLING: usize = 1_600;

pub(crate) fn manifest(text: &str) -> String {
    let filling = "x".repeat(FILLING);
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: it\ndata:\n  text: {text}\n  \
         filling: {filling}\n"
    )
}

fn id(answer: &Value) -> String {
    answer["id"].as_str().unwrap_or_default().to_owned()
}

/// A tenant, and the connection that makes things for it.
pub(crate) struct Tenant {
    pub(crate) wire: Connection,
    pub(crate) key: String,
    generator: String,
    name: String,
}

/// An agent and its key.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    pub(crate) id: String,
    pub(crate) key: String,
}

impl Tenant {
    /// A tenant whose name nobody has.
    pub(crate) async fn new(server: &Server) -> anyhow::Result<Self> {
        let mut wire = Connection::open(&server.host).await?;
        let name = format!("bench-{}", uuid_like());
        let made = wire
            .api("POST", "/generators", &server.key, &json!({ "name": name }))
            .await?;
        let generator = id(&made["generator"]);
        Ok(Self {
            wire,
            key: server.key.clone(),
            generator,
            name,
        })
    }

    /// A stack with one revision.
    pub(crate) async fn stack(&mut self, number: usize) -> anyhow::Result<String> {
        let new =
            json!({ "name": format!("{}-{number}", self.name), "generator_id": self.generator });
        let stack = id(&self.wire.api("POST", "/stacks", &self.key, &new).await?);
        self.submit(&stack, "first").await?;
        Ok(stack)
    }

    pub(crate) async fn submit(&mut self, stack: &str, text: &str) -> anyhow::Result<()> {
        let path = format!("/stacks/{stack}/deployment-objects");
        let new = json!({ "yaml_content": manifest(text), "is_deletion_marker": false });
        self.wire
            .api("POST", &path, &self.key, &new)
            .await
            .map(drop)
    }

    /// An active agent that serves this tenant.
    pub(crate) async fn agent(&mut self, number: usize) -> anyhow::Result<Agent> {
        let name = format!("{}-{number}", self.name);
        let new = json!({ "name": name, "cluster_name": name, "generator_ids": [self.generator] });
        let made = self.wire.api("POST", "/agents", &self.key, &new).await?;
        let key = made["initial_pak"].as_str().unwrap_or_default().to_owned();
        let agent = Agent {
            id: id(&made["agent"]),
            key,
        };
        let path = format!("/agents/{}", agent.id);
        self.wire
            .api("PUT", &path, &self.key, &json!({ "status": "ACTIVE" }))
            .await?;
        Ok(agent)
    }

    /// The id of an object that the agent is to hold.
    pub(crate) async fn newest(&mut self, agent: &Agent) -> anyhow::Result<String> {
        let path = format!("/agents/{}/target-state", agent.id);
        let state = self.wire.api("GET", &path, &agent.key, &json!({})).await?;
        let objects = state.as_array().context("a list of objects")?;
        Ok(id(objects.last().context("an object to hold")?))
    }

    /// An active agent that is registered with the owner of the stack and targeted by it.
    pub(crate) async fn agent_for(&mut self, stack: &str, number: usize) -> anyhow::Result<Agent> {
        let owner = self
            .wire
            .api("GET", &format!("/stacks/{stack}"), &self.key, &json!({}))
            .await?;
        let owner = owner["generator_id"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let mine = std::mem::replace(&mut self.generator, owner);
        let agent = self.agent(number).await;
        self.generator = mine;
        let agent = agent?;
        self.target(&agent, stack).await?;
        Ok(agent)
    }

    pub(crate) async fn target(&mut self, agent: &Agent, stack: &str) -> anyhow::Result<()> {
        let new = json!({ "agent_id": agent.id, "stack_id": stack });
        let path = format!("/agents/{}/targets", agent.id);
        self.wire
            .api("POST", &path, &self.key, &new)
            .await
            .map(drop)
    }
}

/// A name that no earlier run used, from the process and its start.
fn uuid_like() -> String {
    use evenkeel_ambient::{Random, SystemRandom};
    format!("{:08x}", SystemRandom.next_u64() as u32)
}
