//! Stacks, their tags and their revisions.

use evenkeel_api::{
    AssignmentStatus, DeploymentHealthSummary, DeploymentObject, ListQuery, NewDeployment,
    NewStack, NewStackAnnotation, Stack, StackAnnotation, StackHealth, StackLabel, StackUpdate,
};
use evenkeel_model::{AnnotationKey, DeploymentId, Label, Page, SequenceId, StackId};
use reqwest::Method;

use crate::client::read;
use crate::{Client, Result};

/// Conditions on a submission.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Submit {
    /// Refuse unless this is the stack's newest revision.
    pub if_newest: Option<SequenceId>,
    /// Submitting twice with the same key gives the same object.
    pub idempotency_key: Option<String>,
}

impl Client {
    /// The stacks.
    pub async fn stack_list(&self, query: &ListQuery) -> Result<Page<Stack>> {
        self.list(&["stacks"], query).await
    }

    /// Creates a stack.
    pub async fn stack_create(&self, new: &NewStack) -> Result<Stack> {
        self.post(&["stacks"], new).await
    }

    /// One stack.
    pub async fn stack_get(&self, id: StackId) -> Result<Stack> {
        self.get(&["stacks", &id.to_string()]).await
    }

    /// Changes a stack.
    pub async fn stack_update(&self, id: StackId, update: &StackUpdate) -> Result<Stack> {
        self.put(&["stacks", &id.to_string()], update).await
    }

    /// Deletes a stack.
    pub async fn stack_delete(&self, id: StackId) -> Result<()> {
        self.delete(&["stacks", &id.to_string()]).await
    }

    /// How far each agent is with the stack.
    pub async fn stack_status(&self, id: StackId) -> Result<Vec<AssignmentStatus>> {
        self.get(&["stacks", &id.to_string(), "status"]).await
    }

    /// How the stack's newest revision is doing everywhere.
    pub async fn stack_health(&self, id: StackId) -> Result<StackHealth> {
        self.get(&["stacks", &id.to_string(), "health"]).await
    }

    /// The stack's labels.
    pub async fn stack_labels(&self, id: StackId) -> Result<Vec<StackLabel>> {
        self.get(&["stacks", &id.to_string(), "labels"]).await
    }

    /// Puts a label on the stack.
    pub async fn stack_label_add(&self, id: StackId, label: &Label) -> Result<StackLabel> {
        self.post(&["stacks", &id.to_string(), "labels"], label)
            .await
    }

    /// Takes a label from the stack.
    pub async fn stack_label_remove(&self, id: StackId, label: &Label) -> Result<()> {
        self.delete(&["stacks", &id.to_string(), "labels", label.as_str()])
            .await
    }

    /// The stack's annotations.
    pub async fn stack_annotations(&self, id: StackId) -> Result<Vec<StackAnnotation>> {
        self.get(&["stacks", &id.to_string(), "annotations"]).await
    }

    /// Puts an annotation on the stack.
    pub async fn stack_annotation_add(
        &self,
        id: StackId,
        new: &NewStackAnnotation,
    ) -> Result<StackAnnotation> {
        self.post(&["stacks", &id.to_string(), "annotations"], new)
            .await
    }

    /// Takes an annotation from the stack.
    pub async fn stack_annotation_remove(&self, id: StackId, key: &AnnotationKey) -> Result<()> {
        self.delete(&["stacks", &id.to_string(), "annotations", key.as_str()])
            .await
    }

    /// Submits a revision.
    pub async fn deployment_create(
        &self,
        stack: StackId,
        new: &NewDeployment,
        submit: &Submit,
    ) -> Result<DeploymentObject> {
        let path = ["stacks", &stack.to_string(), "deployment-objects"];
        let mut request = self.request(Method::POST, &path).json(new);
        if let Some(newest) = submit.if_newest {
            request = request.header("if-match", format!("\"{newest}\""));
        }
        if let Some(key) = &submit.idempotency_key {
            request = request.header("idempotency-key", key);
        }
        read(request).await
    }

    /// The revisions of a stack, newest first, with their manifests.
    pub async fn deployment_list(
        &self,
        stack: StackId,
        query: &ListQuery,
    ) -> Result<Page<DeploymentObject>> {
        self.list(&["stacks", &stack.to_string(), "deployment-objects"], query)
            .await
    }

    /// The newest revision of a stack, without its manifests.
    pub async fn deployment_newest(&self, stack: StackId) -> Result<DeploymentObject> {
        self.get(&["stacks", &stack.to_string(), "deployment-objects", "latest"])
            .await
    }

    /// One deployment object.
    pub async fn deployment_get(&self, id: DeploymentId) -> Result<DeploymentObject> {
        self.get(&["deployment-objects", &id.to_string()]).await
    }

    /// How one deployment object is doing everywhere.
    pub async fn deployment_health(&self, id: DeploymentId) -> Result<DeploymentHealthSummary> {
        self.get(&["deployment-objects", &id.to_string(), "health"])
            .await
    }
}
