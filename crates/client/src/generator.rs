//! Generators, and who serves them.

use evenkeel_api::{
    CreatedGenerator, Generator, GeneratorUpdate, ListQuery, NewGenerator, NewRegistration,
    Registration,
};
use evenkeel_model::{AgentId, GeneratorId, Page};
use reqwest::Method;

use crate::client::send;
use crate::{Client, Result};

impl Client {
    /// The generators.
    pub async fn generator_list(&self, query: &ListQuery) -> Result<Page<Generator>> {
        self.list(&["generators"], query).await
    }

    /// Creates a generator.
    pub async fn generator_create(&self, new: &NewGenerator) -> Result<CreatedGenerator> {
        self.post(&["generators"], new).await
    }

    /// One generator.
    pub async fn generator_get(&self, id: GeneratorId) -> Result<Generator> {
        self.get(&["generators", &id.to_string()]).await
    }

    /// Changes a generator.
    pub async fn generator_update(
        &self,
        id: GeneratorId,
        update: &GeneratorUpdate,
    ) -> Result<Generator> {
        self.put(&["generators", &id.to_string()], update).await
    }

    /// Deletes a generator with all its stacks.
    pub async fn generator_delete(&self, id: GeneratorId) -> Result<()> {
        self.delete(&["generators", &id.to_string()]).await
    }

    /// Replaces a generator's key.
    pub async fn generator_rotate(&self, id: GeneratorId) -> Result<CreatedGenerator> {
        self.post(&["generators", &id.to_string(), "rotate-pak"], &())
            .await
    }

    /// The agents that serve the generator.
    pub async fn generator_registrations(&self, id: GeneratorId) -> Result<Vec<Registration>> {
        self.get(&["generators", &id.to_string(), "registered-agents"])
            .await
    }

    /// The agent agrees to serve the generator.
    pub async fn registration_create(
        &self,
        generator: GeneratorId,
        agent: AgentId,
    ) -> Result<Registration> {
        let new = NewRegistration {
            agent_id: Some(agent),
        };
        self.post(&["generators", &generator.to_string(), "register"], &new)
            .await
    }

    /// The agent no longer serves the generator.
    pub async fn registration_delete(&self, generator: GeneratorId, agent: AgentId) -> Result<()> {
        let old = NewRegistration {
            agent_id: Some(agent),
        };
        let path = ["generators", &generator.to_string(), "register"];
        send(self.request(Method::DELETE, &path).json(&old))
            .await
            .map(drop)
    }
}
