//! A stack as its tenant sees it.

use evenkeel_api::{AssignmentStatus, DeploymentObject, NewDeployment};
use evenkeel_client::{Client, Submit};
use evenkeel_model::{DriftMode, StackId};

/// A stack as its tenant sees it.
#[derive(Debug, Clone)]
pub struct Stack {
    /// Which.
    pub id: StackId,
    /// Its tenant.
    pub tenant: Client,
}

impl Stack {
    pub(crate) fn new(tenant: Client, id: StackId) -> Self {
        Self { id, tenant }
    }

    /// Submits the next revision.
    pub async fn submit(&self, yaml: &str) -> DeploymentObject {
        let new = NewDeployment {
            yaml_content: yaml.to_owned(),
            ..NewDeployment::default()
        };
        self.submit_as(&new).await
    }

    /// Submits the next revision as it is.
    pub async fn submit_as(&self, new: &NewDeployment) -> DeploymentObject {
        let submit = Submit::default();
        self.tenant
            .deployment_create(self.id, new, &submit)
            .await
            .unwrap()
    }

    /// Deletes the stack, from everywhere.
    pub async fn delete(&self) {
        self.tenant.stack_delete(self.id).await.unwrap();
    }

    /// Says what agents do about drift; each what its own settings say, if nothing.
    pub async fn decide_on_drift(&self, mode: Option<DriftMode>) {
        self.tenant.stack_drift_mode(self.id, mode).await.unwrap();
    }

    /// How far each agent is.
    pub async fn status(&self) -> Vec<AssignmentStatus> {
        self.tenant.stack_status(self.id).await.unwrap()
    }
}
