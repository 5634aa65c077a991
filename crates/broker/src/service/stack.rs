//! Stacks: named units of delivery, each owned by one generator for ever.

use evenkeel_api::{AssignmentStatus, ListQuery, NewStack, StackUpdate};
use evenkeel_model::{GeneratorId, NewStack as New, Page, Stack, StackId, StackUpdate as Change};
use evenkeel_store::StackFilter;

use crate::app::Core;
use crate::auth::Caller;
use crate::error::{ApiError, Result};

impl Core {
    pub(crate) async fn stack_list(
        &self,
        caller: &Caller,
        query: ListQuery,
        of: Option<GeneratorId>,
    ) -> Result<Page<Stack>> {
        let generator = caller.tenant()?.or(of);
        let paging = query.paging();
        let filter = StackFilter {
            name: query.name,
            label: query.label,
            generator,
        };
        Ok(self.store.stack_list(filter, paging).await?)
    }

    pub(crate) async fn stack_create(&self, caller: &Caller, new: NewStack) -> Result<Stack> {
        caller.generator(new.generator_id)?;
        let new = New {
            name: new.name,
            description: new.description,
            generator_id: new.generator_id,
        };
        Ok(self.store.stack_create(&caller.actor, new).await?)
    }

    pub(crate) async fn stack_get(&self, caller: &Caller, id: StackId) -> Result<Stack> {
        self.stack_owned(caller, id).await
    }

    pub(crate) async fn stack_update(
        &self,
        caller: &Caller,
        id: StackId,
        update: StackUpdate,
    ) -> Result<Stack> {
        let old = self.stack_owned(caller, id).await?;
        if update
            .generator_id
            .is_some_and(|owner| owner != old.generator_id)
        {
            return Err(ApiError::immutable("generator_id"));
        }
        if update.id.is_some_and(|other| other != id) {
            return Err(ApiError::immutable("id"));
        }
        let change = Change {
            name: update.name,
            description: update.description,
        };
        Ok(self.store.stack_update(&caller.actor, id, change).await?)
    }

    pub(crate) async fn stack_delete(&self, caller: &Caller, id: StackId) -> Result<()> {
        self.stack_owned(caller, id).await?;
        Ok(self.store.stack_delete(&caller.actor, id).await?)
    }

    /// How far each agent is with the stack.
    pub(crate) async fn stack_status(
        &self,
        caller: &Caller,
        id: StackId,
        query: &ListQuery,
    ) -> Result<Page<AssignmentStatus>> {
        self.stack_owned(caller, id).await?;
        let page = self.store.status_of_stack(id, query.paging()).await?;
        Ok(page.map(Into::into))
    }

    /// The stack, if the caller is its owner or an operator.
    pub(super) async fn stack_owned(&self, caller: &Caller, id: StackId) -> Result<Stack> {
        caller.tenant()?;
        let stack = self.stack_required(id).await?;
        caller.owner(&stack)?;
        Ok(stack)
    }

    pub(super) async fn stack_required(&self, id: StackId) -> Result<Stack> {
        let found = self.store.stack_get(id).await?;
        found.ok_or_else(|| ApiError::not_found("stack", id))
    }
}
