//! Generators: the tenants, and the agents that agreed to serve them.

use evenkeel_api::{CreatedGenerator, GeneratorUpdate, ListQuery, NewGenerator, PakOwner};
use evenkeel_model::{
    AgentId, Generator, GeneratorId, GeneratorUpdate as Change, NewGenerator as New, Page, Paging,
    Registration, Role,
};

use crate::app::Core;
use crate::auth::Caller;
use crate::error::{ApiError, Result};

impl Core {
    pub(crate) async fn generator_list(
        &self,
        caller: &Caller,
        query: &ListQuery,
    ) -> Result<Page<Generator>> {
        caller.operator()?;
        let name = query.name.as_ref().map(AsRef::as_ref);
        Ok(self.store.generator_list(name, query.paging()).await?)
    }

    /// Those who write with keys of their own.
    pub(crate) async fn pak_list(&self, caller: &Caller) -> Result<Vec<PakOwner>> {
        caller.operator()?;
        let all = self.store.generator_list(None, Paging::ALL).await?.items;
        let others = all.into_iter().filter(|generator| !generator.is_system);
        Ok(others
            .map(|one| PakOwner {
                id: one.id,
                name: one.name,
            })
            .collect())
    }

    pub(crate) async fn generator_create(
        &self,
        caller: &Caller,
        new: NewGenerator,
    ) -> Result<CreatedGenerator> {
        caller.operator()?;
        let new = New {
            name: new.name,
            description: new.description,
            is_system: false,
        };
        let key = self.mint();
        let generator = self
            .store
            .generator_create(&caller.actor, new, Some(key.material))
            .await?;
        Ok(CreatedGenerator {
            generator,
            pak: key.text,
        })
    }

    pub(crate) async fn generator_get(
        &self,
        caller: &Caller,
        id: GeneratorId,
    ) -> Result<Generator> {
        caller.generator(id)?;
        self.generator_required(id).await
    }

    pub(crate) async fn generator_update(
        &self,
        caller: &Caller,
        id: GeneratorId,
        update: GeneratorUpdate,
    ) -> Result<Generator> {
        caller.generator(id)?;
        let old = self.generator_required(id).await?;
        if update
            .is_system
            .is_some_and(|is_system| is_system != old.is_system)
        {
            return Err(ApiError::immutable("is_system"));
        }
        if update.id.is_some_and(|other| other != id) {
            return Err(ApiError::immutable("id"));
        }
        // Whoever was paused must not be able to start again by themselves.
        if update
            .is_active
            .is_some_and(|is_active| is_active != old.is_active)
        {
            caller.operator()?;
        }
        let change = Change {
            name: update.name,
            description: update.description,
            is_active: update.is_active,
        };
        Ok(self
            .store
            .generator_update(&caller.actor, id, change)
            .await?)
    }

    pub(crate) async fn generator_delete(&self, caller: &Caller, id: GeneratorId) -> Result<()> {
        caller.generator(id)?;
        Ok(self.store.generator_delete(&caller.actor, id).await?)
    }

    pub(crate) async fn generator_rotate(
        &self,
        caller: &Caller,
        id: GeneratorId,
    ) -> Result<CreatedGenerator> {
        caller.generator(id)?;
        let generator = self.generator_required(id).await?;
        if generator.is_system {
            return Err(ApiError::forbidden(
                "system_generator",
                "the broker's own has no key",
            ));
        }
        let key = self.mint();
        self.store
            .key_rotate(&caller.actor, Role::Generator(id), key.material)
            .await?;
        Ok(CreatedGenerator {
            generator,
            pak: key.text,
        })
    }

    pub(crate) async fn registration_create(
        &self,
        caller: &Caller,
        generator: GeneratorId,
        agent: Option<AgentId>,
    ) -> Result<Registration> {
        let agent = registering(caller, agent)?;
        self.generator_required(generator).await?;
        Ok(self
            .store
            .registration_create(&caller.actor, agent, generator)
            .await?)
    }

    pub(crate) async fn registration_delete(
        &self,
        caller: &Caller,
        generator: GeneratorId,
        agent: Option<AgentId>,
    ) -> Result<()> {
        let agent = registering(caller, agent)?;
        Ok(self
            .store
            .registration_delete(&caller.actor, agent, generator)
            .await?)
    }

    pub(crate) async fn generator_registrations(
        &self,
        caller: &Caller,
        id: GeneratorId,
    ) -> Result<Vec<Registration>> {
        caller.generator(id)?;
        self.generator_required(id).await?;
        Ok(self.store.registrations_of_generator(id).await?)
    }

    async fn generator_required(&self, id: GeneratorId) -> Result<Generator> {
        let found = self.store.generator_get(id).await?;
        found.ok_or_else(|| ApiError::not_found("generator", id))
    }
}

/// Agents consent for themselves; an administrator says for whom.
fn registering(caller: &Caller, named: Option<AgentId>) -> Result<AgentId> {
    match (caller.role, named) {
        (Role::Agent(own), named) if named.is_none_or(|named| named == own) => Ok(own),
        (Role::Admin, Some(named)) => Ok(named),
        (Role::Admin, None) => Err(ApiError::bad(
            "agent_id_required",
            "say which agent: {\"agent_id\": ...}",
        )),
        _ => Err(ApiError::forbidden(
            "agent_required",
            "only the agent itself may agree",
        )),
    }
}
