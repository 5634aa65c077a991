//! Control of stacks: what people ask for beyond revisions; and what others changed.

use evenkeel_api::DriftQuery;
use evenkeel_model::{ControlRequest, FoundDrift, Page, Role, Stack, StackId};
use evenkeel_store::DriftFilter;

use crate::app::Core;
use crate::auth::Caller;
use crate::error::{ApiError, Result};

impl Core {
    /// Does what is asked of a stack; also of a deleted one that agents are busy removing.
    pub(crate) async fn stack_control(
        &self,
        caller: &Caller,
        id: StackId,
        request: ControlRequest,
    ) -> Result<Stack> {
        caller.tenant()?;
        let found = self.store.stack_recall(id).await?;
        let stack = found.ok_or_else(|| ApiError::not_found("stack", id))?;
        caller.owner(&stack)?;
        Ok(self.store.stack_control(&caller.actor, id, request).await?)
    }

    /// What others changed in the clusters: operators see all, a generator asks for a stack of
    /// its own, an agent for what it found itself.
    pub(crate) async fn drift_list(
        &self,
        caller: &Caller,
        query: DriftQuery,
    ) -> Result<Page<FoundDrift>> {
        let mut filter = DriftFilter {
            agent: query.agent,
            stack: query.stack,
        };
        match (caller.role, query.stack) {
            (Role::Admin | Role::Readonly, _) => {}
            (Role::Agent(id), _) => {
                caller.agent_itself(query.agent.unwrap_or(id))?;
                filter.agent = Some(id);
            }
            (Role::Generator(_), Some(stack)) => drop(self.stack_owned(caller, stack).await?),
            (Role::Generator(_), None) => caller.operator()?,
        }
        Ok(self.store.drift_list(filter, query.paging()).await?)
    }
}
