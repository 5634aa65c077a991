//! Targets: explicit ties between agents and stacks.

use evenkeel_model::{AgentId, StackId, Target};

use crate::app::Core;
use crate::auth::Caller;
use crate::error::{ApiError, Result};

impl Core {
    pub(crate) async fn target_list(&self, caller: &Caller, agent: AgentId) -> Result<Vec<Target>> {
        caller.agent(agent)?;
        self.agent_required(agent).await?;
        Ok(self.store.targets_of_agent(agent).await?)
    }

    pub(crate) async fn target_create(
        &self,
        caller: &Caller,
        agent: AgentId,
        stack: StackId,
    ) -> Result<Target> {
        self.target_owned(caller, stack).await?;
        Ok(self
            .store
            .target_create(&caller.actor, agent, stack)
            .await?)
    }

    pub(crate) async fn target_delete(
        &self,
        caller: &Caller,
        agent: AgentId,
        stack: StackId,
    ) -> Result<()> {
        self.target_owned(caller, stack).await?;
        Ok(self
            .store
            .target_delete(&caller.actor, agent, stack)
            .await?)
    }

    async fn target_owned(&self, caller: &Caller, stack: StackId) -> Result<()> {
        caller.tenant()?;
        let found = self.store.stack_get(stack).await?;
        let found = found.ok_or_else(|| ApiError {
            code: "stack_not_found",
            ..ApiError::not_found("stack", stack)
        })?;
        let mismatch = |_| {
            ApiError::forbidden(
                "target_generator_mismatch",
                "the stack belongs to somebody else",
            )
        };
        caller.owner(&found).map_err(mismatch)
    }
}
