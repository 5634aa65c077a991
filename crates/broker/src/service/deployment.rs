//! Deployment objects: submitting revisions and reading them.

use evenkeel_api::DeploymentObject;
use evenkeel_model::{
    DeploymentId, NewRevision, ObjectRef, Page, Paging, Role, SequenceId, StackId,
};

use crate::app::Core;
use crate::auth::Caller;
use crate::error::{ApiError, Result};

/// The most characters of an idempotency key.
const KEY_LIMIT: usize = 255;

/// A revision as it arrived.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Submission {
    pub(crate) yaml_content: String,
    pub(crate) is_deletion_marker: bool,
    /// Refuse unless this is the newest revision (`Some(None)`: unless there is none).
    pub(crate) if_newest: Option<Option<SequenceId>>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) take_from: Vec<StackId>,
}

impl Core {
    /// Appends a revision. Whether it is new, or was submitted before with the same key.
    pub(crate) async fn deployment_submit(
        &self,
        caller: &Caller,
        stack: StackId,
        submission: Submission,
    ) -> Result<(DeploymentObject, bool)> {
        self.stack_owned(caller, stack).await?;
        self.check(&submission)?;
        let text = submission.yaml_content;
        let new = NewRevision {
            stack_id: stack,
            yaml_content: text.clone(),
            is_deletion_marker: submission.is_deletion_marker,
            if_newest: submission.if_newest,
            idempotency_key: submission.idempotency_key,
            take_from: submission.take_from,
        };
        let submitted = self.store.deployment_submit(&caller.actor, new).await?;
        let object = submitted.object;
        // Agents will ask for it in a moment.
        self.texts
            .put(object.yaml_checksum.clone(), text.as_str().into());
        Ok((
            DeploymentObject::new(object, Some(text)),
            !submitted.replayed,
        ))
    }

    /// Refuses what no agent could apply.
    fn check(&self, submission: &Submission) -> Result<()> {
        let key = submission.idempotency_key.as_deref().unwrap_or("-");
        if key.is_empty() || key.len() > KEY_LIMIT {
            let text = format!("an idempotency key has 1 to {KEY_LIMIT} characters");
            return Err(ApiError::bad("invalid_idempotency_key", text));
        }
        let text = &submission.yaml_content;
        if submission.is_deletion_marker && text.trim().is_empty() {
            return Ok(());
        }
        evenkeel_manifest::parse(text, self.config.limits.manifest())?;
        Ok(())
    }

    pub(crate) async fn deployment_list(
        &self,
        caller: &Caller,
        stack: StackId,
        paging: Paging,
        bodies: bool,
    ) -> Result<Page<DeploymentObject>> {
        self.stack_owned(caller, stack).await?;
        if bodies {
            Ok(self
                .store
                .deployment_list(stack, paging)
                .await?
                .map(Into::into))
        } else {
            let page = self.store.deployment_refs(stack, paging).await?;
            Ok(page.map(|object| DeploymentObject::new(object, None)))
        }
    }

    /// The newest revision, without its text: to compare a checksum nobody needs more.
    pub(crate) async fn deployment_newest(
        &self,
        caller: &Caller,
        stack: StackId,
    ) -> Result<DeploymentObject> {
        self.stack_owned(caller, stack).await?;
        let newest = self.store.deployment_newest(stack).await?;
        let newest = newest.ok_or_else(|| ApiError::not_found("revision of stack", stack))?;
        Ok(DeploymentObject::new(newest, None))
    }

    pub(crate) async fn deployment_get(
        &self,
        caller: &Caller,
        id: DeploymentId,
    ) -> Result<DeploymentObject> {
        let found = self.store.deployment_get(id).await?;
        let found = found.ok_or_else(|| ApiError::not_found("deployment object", id))?;
        self.deployment_readable(caller, &found.object).await?;
        Ok(found.into())
    }

    /// Operators, the owner of the stack, and every agent that the stack is assigned to, however
    /// it came to be.
    async fn deployment_readable(&self, caller: &Caller, object: &ObjectRef) -> Result<()> {
        match caller.role {
            Role::Admin | Role::Readonly => Ok(()),
            Role::Generator(_) => {
                let stack = self.stack_required(object.stack_id).await?;
                caller.owner(&stack)
            }
            Role::Agent(id) => self.associated(id, object.stack_id),
        }
    }
}
