//! Agents, with how they are doing.

use evenkeel_api::{Agent, FleetAgentRecord, ListQuery};
use evenkeel_model::AgentId;

use crate::output::cell::Cell;
use crate::output::noun::{Column, Noun, column, data, wide};
use crate::output::tone::Tone;
use crate::remote::{Session, at_once};

/// An agent and what is known of it.
#[derive(Debug, Clone)]
pub(crate) struct AgentRow {
    pub(crate) agent: Agent,
    /// Only operators see the fleet.
    pub(crate) record: Option<FleetAgentRecord>,
    pub(crate) labels: Vec<String>,
    pub(crate) annotations: Vec<String>,
    /// Shown once, when it is made.
    pub(crate) key: Option<String>,
}

impl AgentRow {
    /// The agents that were named, or all of them.
    pub(crate) async fn all(session: &Session, wanted: &[String]) -> anyhow::Result<Vec<Self>> {
        let agents = if wanted.is_empty() {
            session
                .client
                .agent_list(&ListQuery::default())
                .await?
                .items
        } else {
            at_once(wanted, |name| session.agent(name)).await?
        };
        let fleet = session.client.fleet().await.unwrap_or_default();
        at_once(agents, |agent| Self::among(session, agent, &fleet)).await
    }

    /// One agent.
    pub(crate) async fn of(session: &Session, agent: Agent) -> anyhow::Result<Self> {
        let fleet = session.client.fleet().await.unwrap_or_default();
        Self::among(session, agent, &fleet).await
    }

    async fn among(
        session: &Session,
        agent: Agent,
        fleet: &[FleetAgentRecord],
    ) -> anyhow::Result<Self> {
        let record = fleet
            .iter()
            .find(|record| record.agent_id == agent.id)
            .cloned();
        let (labels, annotations) = match &record {
            Some(_) => tags(session, agent.id).await?,
            None => Default::default(),
        };
        Ok(Self {
            agent,
            record,
            labels,
            annotations,
            key: None,
        })
    }

    /// The same with the key that is shown this once.
    #[must_use]
    pub(crate) fn with_key(self, key: String) -> Self {
        Self {
            key: Some(key),
            ..self
        }
    }

    fn count(&self, count: impl Fn(&FleetAgentRecord) -> usize, tone: Tone) -> Cell {
        match self.record.as_ref().map(count) {
            None => Cell::Nothing,
            Some(0) => Cell::Number(0),
            Some(number) => Cell::Word(number.to_string(), tone),
        }
    }

    fn cluster_answers(&self) -> Cell {
        match (self.agent.k8s_reachable, self.agent.k8s_api_latency_ms) {
            (None, _) => Cell::Nothing,
            (Some(false), _) => Cell::Word("unreachable".to_owned(), Tone::Bad),
            (Some(true), Some(latency)) => Cell::Word(format!("{latency}ms"), Tone::Good),
            (Some(true), None) => Cell::Word("reachable".to_owned(), Tone::Good),
        }
    }
}

async fn tags(session: &Session, id: AgentId) -> anyhow::Result<(Vec<String>, Vec<String>)> {
    let client = &session.client;
    let (labels, annotations) =
        tokio::try_join!(client.agent_labels(id), client.agent_annotations(id))?;
    let annotations = annotations.iter();
    Ok((
        labels.iter().map(|one| one.label.to_string()).collect(),
        annotations
            .map(|one| format!("{}={}", one.key, one.value))
            .collect(),
    ))
}

impl Noun for AgentRow {
    const KIND: &'static str = "agent";

    fn columns() -> Vec<Column<Self>> {
        vec![
            column("name", |row| (&row.agent.name).into()),
            column("cluster", |row| (&row.agent.cluster_name).into()),
            column("status", |row| row.agent.status.into()),
            column("seen", |row| row.agent.last_heartbeat.into()),
            column("stacks", |row| {
                row.record.as_ref().map(|one| one.stack_count).into()
            }),
            column("pending", |row| {
                row.count(|one| one.pending_object_count, Tone::Notice)
            }),
            column("failed", |row| {
                row.count(|one| one.failed_object_count, Tone::Bad)
            }),
            column("drifted", |row| row.count(|one| one.drifted, Tone::Notice)),
            column("kubernetes", Self::cluster_answers),
            wide("version", |row| row.agent.agent_version.as_deref().into()),
            wide("kubernetes_version", |row| {
                row.agent.kubernetes_version.as_deref().into()
            }),
            wide("connected", |row| {
                row.record.as_ref().map(|one| one.ws_connected).into()
            }),
            wide("labels", |row| Cell::List(row.labels.clone())),
            wide("annotations", |row| Cell::List(row.annotations.clone())),
            wide("created", |row| row.agent.created_at.into()),
            wide("id", |row| Cell::text(row.agent.id)),
            data("key", |row| row.key.clone().into()),
        ]
    }

    fn name(&self) -> String {
        self.agent.name.to_string()
    }
}
