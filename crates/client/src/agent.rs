//! Agents, and what they report.

use evenkeel_api::{
    Agent, AgentAnnotation, AgentEvent, AgentFleetStatus, AgentLabel, AgentUpdate,
    AssignmentStatus, CreatedAgent, FleetAgentRecord, HealthReport, Heartbeat, ListQuery, NewAgent,
    NewAgentAnnotation, NewAgentLabel, NewEvent, NewTarget, Registration, RotatedAgent, Stack,
    Target,
};
use evenkeel_model::{AgentId, AnnotationKey, EventId, Label, Name, Page, StackId};
use reqwest::Method;

use crate::client::{read, send};
use crate::{Client, Result};

impl Client {
    /// The agents.
    pub async fn agent_list(&self, query: &ListQuery) -> Result<Page<Agent>> {
        self.list(&["agents"], query).await
    }

    /// Creates an agent.
    pub async fn agent_create(&self, new: &NewAgent) -> Result<CreatedAgent> {
        self.post(&["agents"], new).await
    }

    /// The agent of this name in this cluster.
    pub async fn agent_find(&self, name: &Name, cluster: &Name) -> Result<Agent> {
        let names = [("name", name.as_str()), ("cluster_name", cluster.as_str())];
        read(self.request(Method::GET, &["agents", ""]).query(&names)).await
    }

    /// One agent.
    pub async fn agent_get(&self, id: AgentId) -> Result<Agent> {
        self.get(&["agents", &id.to_string()]).await
    }

    /// Changes an agent.
    pub async fn agent_update(&self, id: AgentId, update: &AgentUpdate) -> Result<Agent> {
        self.put(&["agents", &id.to_string()], update).await
    }

    /// Deletes an agent.
    pub async fn agent_delete(&self, id: AgentId) -> Result<()> {
        self.delete(&["agents", &id.to_string()]).await
    }

    /// Replaces an agent's key.
    pub async fn agent_rotate(&self, id: AgentId) -> Result<RotatedAgent> {
        self.post(&["agents", &id.to_string(), "rotate-pak"], &())
            .await
    }

    /// Gives a sign of life.
    pub async fn agent_heartbeat(&self, id: AgentId, beat: &Heartbeat) -> Result<()> {
        let path = ["agents", &id.to_string(), "heartbeat"];
        send(self.request(Method::POST, &path).json(beat))
            .await
            .map(drop)
    }

    /// The generators that the agent agreed to serve.
    pub async fn agent_registrations(&self, id: AgentId) -> Result<Vec<Registration>> {
        self.get(&["agents", &id.to_string(), "registrations"])
            .await
    }

    /// The stacks that the agent is to hold.
    pub async fn agent_stacks(&self, id: AgentId) -> Result<Vec<Stack>> {
        self.get(&["agents", &id.to_string(), "stacks"]).await
    }

    /// How far the agent is with each stack.
    pub async fn agent_status(&self, id: AgentId) -> Result<Vec<AssignmentStatus>> {
        self.get(&["agents", &id.to_string(), "status"]).await
    }

    /// One agent, how it is doing, and its last events.
    pub async fn agent_fleet_status(&self, id: AgentId) -> Result<AgentFleetStatus> {
        self.get(&["agents", &id.to_string(), "fleet-status"]).await
    }

    /// Every agent and how it is doing.
    pub async fn fleet(&self) -> Result<Vec<FleetAgentRecord>> {
        self.get(&["fleet"]).await
    }

    /// The agent's labels.
    pub async fn agent_labels(&self, id: AgentId) -> Result<Vec<AgentLabel>> {
        self.get(&["agents", &id.to_string(), "labels"]).await
    }

    /// Puts a label on the agent.
    pub async fn agent_label_add(&self, id: AgentId, label: &Label) -> Result<AgentLabel> {
        let new = NewAgentLabel {
            agent_id: Some(id),
            label: label.clone(),
        };
        self.post(&["agents", &id.to_string(), "labels"], &new)
            .await
    }

    /// Takes a label from the agent.
    pub async fn agent_label_remove(&self, id: AgentId, label: &Label) -> Result<()> {
        self.delete(&["agents", &id.to_string(), "labels", label.as_str()])
            .await
    }

    /// The agent's annotations.
    pub async fn agent_annotations(&self, id: AgentId) -> Result<Vec<AgentAnnotation>> {
        self.get(&["agents", &id.to_string(), "annotations"]).await
    }

    /// Puts an annotation on the agent.
    pub async fn agent_annotation_add(
        &self,
        id: AgentId,
        new: &NewAgentAnnotation,
    ) -> Result<AgentAnnotation> {
        self.post(&["agents", &id.to_string(), "annotations"], new)
            .await
    }

    /// Takes an annotation from the agent.
    pub async fn agent_annotation_remove(&self, id: AgentId, key: &AnnotationKey) -> Result<()> {
        self.delete(&["agents", &id.to_string(), "annotations", key.as_str()])
            .await
    }

    /// The agent's explicit targets.
    pub async fn target_list(&self, id: AgentId) -> Result<Vec<Target>> {
        self.get(&["agents", &id.to_string(), "targets"]).await
    }

    /// Ties a stack to the agent.
    pub async fn target_create(&self, id: AgentId, stack: StackId) -> Result<Target> {
        let new = NewTarget {
            agent_id: Some(id),
            stack_id: stack,
        };
        self.post(&["agents", &id.to_string(), "targets"], &new)
            .await
    }

    /// Removes the tie.
    pub async fn target_delete(&self, id: AgentId, stack: StackId) -> Result<()> {
        self.delete(&["agents", &id.to_string(), "targets", &stack.to_string()])
            .await
    }

    /// Reports an attempt.
    pub async fn event_record(&self, id: AgentId, event: &NewEvent) -> Result<AgentEvent> {
        self.post(&["agents", &id.to_string(), "events"], event)
            .await
    }

    /// The agent's events, newest first.
    pub async fn agent_events(&self, id: AgentId, query: &ListQuery) -> Result<Page<AgentEvent>> {
        self.list(&["agents", &id.to_string(), "events"], query)
            .await
    }

    /// The events of all agents, newest first.
    pub async fn event_list(&self, query: &ListQuery) -> Result<Page<AgentEvent>> {
        self.list(&["agent-events"], query).await
    }

    /// One event.
    pub async fn event_get(&self, id: EventId) -> Result<AgentEvent> {
        self.get(&["agent-events", &id.to_string()]).await
    }

    /// Reports the health of what the agent applied.
    pub async fn health_report(&self, id: AgentId, report: &HealthReport) -> Result<()> {
        let path = ["agents", &id.to_string(), "health-status"];
        send(self.request(Method::PATCH, &path).json(report))
            .await
            .map(drop)
    }
}
