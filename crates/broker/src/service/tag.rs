//! Labels and annotations, of agents and of stacks alike.

use evenkeel_model::{AgentId, Annotation, AnnotationKey, Label, Role, StackId};
use evenkeel_store::Owner;

use crate::app::Core;
use crate::auth::Caller;
use crate::error::{ApiError, Result};

impl Core {
    pub(crate) async fn labels(&self, caller: &Caller, owner: Owner) -> Result<Vec<Label>> {
        self.tags_readable(caller, owner).await?;
        Ok(self.store.labels(owner).await?)
    }

    pub(crate) async fn label_add(
        &self,
        caller: &Caller,
        owner: Owner,
        label: Label,
    ) -> Result<()> {
        self.tags_writable(caller, owner).await?;
        Ok(self.store.label_add(&caller.actor, owner, label).await?)
    }

    pub(crate) async fn label_remove(
        &self,
        caller: &Caller,
        owner: Owner,
        label: Label,
    ) -> Result<()> {
        self.tags_writable(caller, owner).await?;
        Ok(self.store.label_remove(&caller.actor, owner, label).await?)
    }

    pub(crate) async fn annotations(
        &self,
        caller: &Caller,
        owner: Owner,
    ) -> Result<Vec<Annotation>> {
        self.tags_readable(caller, owner).await?;
        Ok(self.store.annotations(owner).await?)
    }

    pub(crate) async fn annotation_add(
        &self,
        caller: &Caller,
        owner: Owner,
        annotation: Annotation,
    ) -> Result<()> {
        self.tags_writable(caller, owner).await?;
        Ok(self
            .store
            .annotation_add(&caller.actor, owner, annotation)
            .await?)
    }

    pub(crate) async fn annotation_remove(
        &self,
        caller: &Caller,
        owner: Owner,
        key: AnnotationKey,
    ) -> Result<()> {
        self.tags_writable(caller, owner).await?;
        Ok(self
            .store
            .annotation_remove(&caller.actor, owner, key)
            .await?)
    }

    /// Labels decide where stacks go: an agent's are the administrator's, a stack's its owner's.
    async fn tags_writable(&self, caller: &Caller, owner: Owner) -> Result<()> {
        match owner {
            Owner::Agent(id) => {
                caller.operator()?;
                self.agent_required(id).await.map(drop)
            }
            Owner::Stack(id) => self.stack_owned(caller, id).await.map(drop),
        }
    }

    async fn tags_readable(&self, caller: &Caller, owner: Owner) -> Result<()> {
        match (owner, caller.role) {
            (Owner::Agent(id), _) => {
                caller.agent(id)?;
                self.agent_required(id).await.map(drop)
            }
            (Owner::Stack(stack), Role::Agent(agent)) => self.associated(agent, stack),
            (Owner::Stack(id), _) => self.stack_owned(caller, id).await.map(drop),
        }
    }

    /// Agents may read what is assigned to them, however that came to be.
    pub(super) fn associated(&self, agent: AgentId, stack: StackId) -> Result<()> {
        match self
            .fleet
            .agent(agent)
            .and_then(|cell| cell.assignment(stack))
        {
            Some(_) => Ok(()),
            None => Err(ApiError::forbidden(
                "agent_not_associated",
                "the stack is not assigned to this agent",
            )),
        }
    }
}
