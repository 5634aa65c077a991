//! Health: what agents see of what they applied, and its sums.

use evenkeel_api::{DeploymentHealthSummary, HealthReport, RevisionHealth, StackHealth};
use evenkeel_model::{AgentId, DeploymentHealth, DeploymentId, HealthStatus, Report, StackId};

use super::bound;
use crate::app::Core;
use crate::auth::Caller;
use crate::error::{ApiError, Result};

impl Core {
    pub(crate) async fn health_report(
        &self,
        caller: &Caller,
        agent: AgentId,
        report: HealthReport,
    ) -> Result<()> {
        caller.agent(agent)?;
        let reports = report.deployment_objects.into_iter().map(|one| Report {
            deployment_object_id: one.id,
            status: one.status,
            summary: one.summary,
            drift: one.drift.map(bound::message),
            objects: bound::objects(one.objects),
            drift_records: bound::drift(one.drift_records),
            waiting: one.waiting.map(bound::message),
            checked_at: one.checked_at,
        });
        Ok(self.store.health_report(agent, reports.collect()).await?)
    }

    pub(crate) async fn deployment_health(
        &self,
        caller: &Caller,
        id: DeploymentId,
    ) -> Result<DeploymentHealthSummary> {
        caller.operator()?;
        if self.store.deployment_get(id).await?.is_none() {
            return Err(ApiError::not_found("deployment object", id));
        }
        let records = self.store.health_of_deployment(id).await?;
        Ok(DeploymentHealthSummary {
            deployment_object_id: id,
            overall_status: worst(&records),
            health_records: records.into_iter().map(Into::into).collect(),
        })
    }

    pub(crate) async fn stack_health(&self, caller: &Caller, id: StackId) -> Result<StackHealth> {
        self.stack_owned(caller, id).await?;
        let records = self.store.health_of_stack(id).await?;
        let object = records.first().map(|record| record.deployment_object_id);
        let count = |status| {
            records
                .iter()
                .filter(|record| record.status == status)
                .count()
        };
        Ok(StackHealth {
            stack_id: id,
            overall_status: worst(&records),
            deployment_objects: object
                .map(|id| RevisionHealth {
                    id,
                    status: worst(&records),
                    healthy_agents: count(HealthStatus::Healthy),
                    degraded_agents: count(HealthStatus::Degraded),
                    failing_agents: count(HealthStatus::Failing),
                })
                .into_iter()
                .collect(),
        })
    }
}

/// The worst that is said; nothing said is unknown, and unknown is better than bad.
fn worst(records: &[DeploymentHealth]) -> HealthStatus {
    let badness = |status: &HealthStatus| match status {
        HealthStatus::Healthy => 0,
        HealthStatus::Unknown => 1,
        HealthStatus::Degraded => 2,
        HealthStatus::Failing => 3,
    };
    let said = records.iter().map(|record| record.status);
    said.max_by_key(badness).unwrap_or(HealthStatus::Unknown)
}
