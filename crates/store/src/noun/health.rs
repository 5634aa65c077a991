//! Health: how what was applied is doing.

use async_trait::async_trait;
use evenkeel_model::{
    Agent, AgentId, Assignment, DeploymentHealth, DeploymentId, FleetEvent, ObjectRef, Observed,
    Report, StackId, Subject,
};
use futures::FutureExt;
use serde_json::json;

use super::{assignments, deployments, drift, living};
use crate::database::Database;
use crate::sql::{Row, sql};
use crate::transaction::Transaction;
use crate::{Error, Result};

/// How what was applied is doing.
#[async_trait]
pub trait Healths {
    /// Keeps an agent's newest word on each object; an older word than the one that is kept
    /// changes nothing.
    async fn health_report(&self, agent: AgentId, reports: Vec<Report>) -> Result<()>;

    /// Every agent's word on one object.
    async fn health_of_deployment(&self, object: DeploymentId) -> Result<Vec<DeploymentHealth>>;

    /// Every agent's word on the newest revision of a stack.
    async fn health_of_stack(&self, stack: StackId) -> Result<Vec<DeploymentHealth>>;
}

#[async_trait]
impl Healths for Database {
    async fn health_report(&self, agent: AgentId, reports: Vec<Report>) -> Result<()> {
        self.write(move |tx| async move { report_all(tx, agent, reports).await }.boxed())
            .await
    }

    async fn health_of_deployment(&self, object: DeploymentId) -> Result<Vec<DeploymentHealth>> {
        let query = sql(
            "SELECT * FROM deployment_health WHERE deployment_object_id = $1 \
             ORDER BY agent_id",
        )
        .bind(&object);
        self.all(query, health).await
    }

    async fn health_of_stack(&self, stack: StackId) -> Result<Vec<DeploymentHealth>> {
        let query = sql("SELECT h.* FROM stacks s \
             JOIN deployment_objects o ON o.sequence_id = s.newest_sequence_id \
             JOIN deployment_health h ON h.deployment_object_id = o.id \
             WHERE s.id = $1 ORDER BY h.agent_id")
        .bind(&stack);
        self.all(query, health).await
    }
}

async fn report_all(tx: &mut Transaction, agent: AgentId, reports: Vec<Report>) -> Result<()> {
    living::require::<Agent>(tx, agent).await?;
    for report in reports {
        let constraint = "deployment_health_deployment_object_id_fkey";
        let object = deployments::refer(tx, report.deployment_object_id, constraint).await?;
        keep(tx, agent, &object, &report).await?;
    }
    Ok(())
}

async fn keep(
    tx: &mut Transaction,
    agent: AgentId,
    object: &ObjectRef,
    report: &Report,
) -> Result<()> {
    let assignment = assignments::find(tx, agent, object.stack_id).await?;
    let assignment = assignment.ok_or(Error::NotAssigned {
        agent,
        stack: object.stack_id,
    })?;
    drift::keep(tx, agent, object.stack_id, &report.drift_records).await?;
    if !upsert(tx, agent, report).await? || assignment.desired() != Some(object.sequence_id) {
        return Ok(());
    }
    let seen = Observed {
        health: Some(report.status),
        drift: report.drift.clone(),
        waiting: report.waiting.clone(),
        ..assignment.observed.clone()
    };
    if seen == assignment.observed {
        return Ok(());
    }
    assignments::observe(tx, &assignment, &seen).await?;
    if assignment.observed.waiting.is_none() && seen.waiting.is_some() {
        announce_waiting(tx, &assignment, &seen).await?;
    }
    tx.changed(Subject::Assignment {
        agent_id: agent,
        stack_id: object.stack_id,
    })
    .await
}

async fn announce_waiting(
    tx: &mut Transaction,
    assignment: &Assignment,
    seen: &Observed,
) -> Result<()> {
    let (agent_id, stack_id) = (assignment.agent_id, assignment.stack_id);
    let data = json!({
        "agent_id": agent_id,
        "stack_id": stack_id,
        "sequence_id": assignment.desired(),
        "waiting": seen.waiting,
    });
    tx.announce(
        FleetEvent::StackWaiting,
        Some(agent_id),
        Some(stack_id),
        data,
    )
    .await
}

async fn upsert(tx: &mut Transaction, agent: AgentId, report: &Report) -> Result<bool> {
    let query = sql("INSERT INTO deployment_health \
             (agent_id, deployment_object_id, status, summary, checked_at, objects) \
         VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (agent_id, deployment_object_id) DO UPDATE \
             SET status = excluded.status, summary = excluded.summary, \
                 checked_at = excluded.checked_at, objects = excluded.objects \
             WHERE deployment_health.checked_at <= excluded.checked_at")
    .bind(&agent)
    .bind(&report.deployment_object_id)
    .bind(&report.status)
    .bind(&report.summary)
    .bind(&report.checked_at)
    .json(&report.objects);
    Ok(tx.run(query).await? > 0)
}

fn health(row: &Row) -> Result<DeploymentHealth> {
    Ok(DeploymentHealth {
        agent_id: row.get("agent_id")?,
        deployment_object_id: row.get("deployment_object_id")?,
        status: row.get("status")?,
        summary: row.get("summary")?,
        objects: row.json("objects")?,
        checked_at: row.get("checked_at")?,
    })
}
