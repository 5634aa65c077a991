//! One agent for each cluster, in this process.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use async_trait::async_trait;
use evenkeel_agent::{Parts, Settings};
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_api::{Agent, AgentUpdate, NewAgent};
use evenkeel_client::Client;
use evenkeel_model::{AgentStatus, GeneratorId, Label, Name};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::cluster::Place;
use super::part::Part;
use crate::data_dir::DataDir;
use crate::private_file::write_private;
use crate::remote::Session;

/// Every agent of this machine has it, so that a stack can be meant for all of them.
pub(super) const LABEL: &str = "fleet=local";

/// After a crash the next agent waits this long for the lease; on one machine nobody else wants it.
const LEASE_SECONDS: u16 = 4;

/// The agents that run here.
pub(super) struct Agents {
    names: Vec<String>,
    running: Vec<JoinHandle<Result<(), evenkeel_agent::Error>>>,
    stop: CancellationToken,
}

/// Starts an agent for each of the clusters.
pub(super) async fn start(
    session: &Session,
    data: &DataDir,
    places: &[Place],
) -> anyhow::Result<Agents> {
    let generator = session.generator_or_default(None).await?.id;
    let mut agents = Agents {
        names: Vec::new(),
        running: Vec::new(),
        stop: CancellationToken::new(),
    };
    for place in places {
        let started = run(session, data, place, generator, &agents.stop).await;
        let started =
            started.with_context(|| format!("cannot start the agent of {}", place.name))?;
        agents.running.push(started);
        agents.names.push(place.name.clone());
    }
    Ok(agents)
}

async fn run(
    session: &Session,
    data: &DataDir,
    place: &Place,
    generator: GeneratorId,
    stop: &CancellationToken,
) -> anyhow::Result<JoinHandle<Result<(), evenkeel_agent::Error>>> {
    let name: Name = place.name.parse()?;
    let key = key(
        session,
        &data.of_agent(&place.name, "key"),
        &name,
        generator,
    )
    .await?;
    let parts = Parts {
        settings: settings(place),
        broker: Client::new(session.broker(), &key)?,
        cluster: place.client().await?,
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
        vitals: None,
    };
    Ok(tokio::spawn(evenkeel_agent::run(parts, stop.clone())))
}

/// In a cluster of the user's own another agent may be at work: this one is called otherwise, so
/// that they do not stand for the same lease.
fn settings(place: &Place) -> Settings {
    let mut settings = Settings {
        lease_seconds: LEASE_SECONDS,
        ..Settings::default()
    };
    if place.context.is_some() {
        settings.name = "evenkeel-local".to_owned();
    }
    settings
}

/// The agent's key: that of the last time if it still opens the broker, else a new one.
async fn key(
    session: &Session,
    file: &Path,
    name: &Name,
    generator: GeneratorId,
) -> anyhow::Result<String> {
    if let Ok(kept) = fs::read_to_string(file) {
        let kept = kept.trim().to_owned();
        if session.client.with_key(&kept).auth_pak().await.is_ok() {
            return Ok(kept);
        }
    }
    let key = match session.client.agent_find(name, name).await {
        Ok(agent) => session.client.agent_rotate(agent.id).await?.pak,
        Err(error) if error.status() == Some(404) => create(session, name, generator).await?,
        Err(error) => return Err(error.into()),
    };
    write_private(file, &key).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(key)
}

async fn create(session: &Session, name: &Name, generator: GeneratorId) -> anyhow::Result<String> {
    let new = NewAgent {
        name: name.clone(),
        cluster_name: name.clone(),
        generator_ids: Some(vec![generator]),
    };
    let made = session.client.agent_create(&new).await?;
    let agent: Agent = made.agent;
    let label: Label = LABEL.parse()?;
    session.client.agent_label_add(agent.id, &label).await?;
    let active = AgentUpdate {
        status: Some(AgentStatus::Active),
        ..AgentUpdate::default()
    };
    session.client.agent_update(agent.id, &active).await?;
    Ok(made.initial_pak)
}

#[async_trait]
impl Part for Agents {
    fn name(&self) -> &'static str {
        "agents"
    }

    fn told(&self) -> Value {
        let told = |name: &String| json!({ "name": name, "cluster": name });
        self.names.iter().map(told).collect()
    }

    fn shown(&self) -> String {
        format!("\nAn agent for each of them, with the label {LABEL}.\n")
    }

    async fn stop(self: Box<Self>) {
        self.stop.cancel();
        for agent in self.running {
            match agent.await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::error!(%error, "an agent could not go on"),
                Err(error) => tracing::error!(%error, "an agent ended in disorder"),
            }
        }
    }
}
