//! Things by the names that people type.

use evenkeel_api::{Agent, Generator, ListQuery, NewGenerator, Stack};
use evenkeel_model::Name;

use super::failure::Trouble;
use super::{Session, near};

/// The generator of those who never made one.
const DEFAULT_GENERATOR: &str = "default";

impl Session {
    /// The stack that is called so: by its name, `generator/name` or id.
    pub(crate) async fn stack(&self, wanted: &str) -> anyhow::Result<Stack> {
        match self.stack_if_there(wanted).await? {
            Some(stack) => Ok(stack),
            None => Err(self.no_stack(wanted).await?.into()),
        }
    }

    /// The same; `None` if there is none.
    pub(crate) async fn stack_if_there(&self, wanted: &str) -> anyhow::Result<Option<Stack>> {
        if let Ok(id) = wanted.parse() {
            return Ok(Some(self.client.stack_get(id).await?));
        }
        let named = self.stacks_named(wanted).await?;
        if !named.is_empty() {
            return one_of("stack", wanted, named, |stack| stack.id.to_string());
        }
        let Some((generator, name)) = wanted.split_once('/') else {
            return Ok(None);
        };
        let Ok(generator) = self.generator(generator).await else {
            return Ok(None);
        };
        let mut named = self.stacks_named(name).await?;
        named.retain(|stack| stack.generator_id == generator.id);
        Ok(named.pop())
    }

    /// The stacks that were named, or all of them.
    pub(crate) async fn stacks(&self, wanted: &[String]) -> anyhow::Result<Vec<Stack>> {
        if wanted.is_empty() {
            return Ok(self.client.stack_list(&ListQuery::default()).await?.items);
        }
        super::at_once(wanted, |name| self.stack(name)).await
    }

    /// The agent that is called so: by its name, `cluster/name` or id.
    pub(crate) async fn agent(&self, wanted: &str) -> anyhow::Result<Agent> {
        if let Ok(id) = wanted.parse() {
            return Ok(self.client.agent_get(id).await?);
        }
        let all = self.client.agent_list(&ListQuery::default()).await?.items;
        let called = |agent: &&Agent| {
            agent.name.as_str() == wanted
                || format!("{}/{}", agent.cluster_name, agent.name) == wanted
        };
        let named: Vec<_> = all.iter().filter(called).cloned().collect();
        let place = |agent: &Agent| format!("{}/{}", agent.cluster_name, agent.name);
        one_of("agent", wanted, named, place)?.ok_or_else(|| {
            let names = all.iter().map(|agent| agent.name.as_str());
            unknown("agent", wanted, names).into()
        })
    }

    /// The generator that is called so.
    pub(crate) async fn generator(&self, wanted: &str) -> anyhow::Result<Generator> {
        let all = self.generators().await?;
        let called = |one: &&Generator| one.name.as_str() == wanted || one.id.to_string() == wanted;
        match all.iter().find(called) {
            Some(found) => Ok(found.clone()),
            None => {
                let names = all.iter().map(|one| one.name.as_str());
                Err(unknown("generator", wanted, names).into())
            }
        }
    }

    /// The generators that the caller may see: a generator sees itself.
    pub(crate) async fn generators(&self) -> anyhow::Result<Vec<Generator>> {
        match self.client.auth_pak().await?.generator {
            Some(id) => Ok(vec![self.client.generator_get(id).await?]),
            None => Ok(self
                .client
                .generator_list(&ListQuery::default())
                .await?
                .items),
        }
    }

    /// Whose a new thing is to be: the one that was named, `default`, or the only one. People who
    /// are alone never need to know that there are generators, so the first is made for them.
    pub(crate) async fn generator_or_default(
        &self,
        wanted: Option<&str>,
    ) -> anyhow::Result<Generator> {
        if let Some(name) = wanted {
            return self.generator(name).await;
        }
        let mut all = self.generators().await?;
        all.retain(|one| !one.is_system);
        let default = all
            .iter()
            .find(|one| one.name.as_str() == DEFAULT_GENERATOR);
        match (default, all.as_slice()) {
            (Some(one), _) | (None, [one]) => Ok(one.clone()),
            (None, []) => self.make_default_generator().await,
            (None, several) => Err(Trouble::WhichGenerator {
                known: several.iter().map(|one| one.name.to_string()).collect(),
            }
            .into()),
        }
    }

    async fn make_default_generator(&self) -> anyhow::Result<Generator> {
        let new = NewGenerator {
            name: DEFAULT_GENERATOR.parse()?,
            description: Some("Made for whoever did not name one".to_owned()),
        };
        Ok(self.client.generator_create(&new).await?.generator)
    }

    async fn stacks_named(&self, name: &str) -> anyhow::Result<Vec<Stack>> {
        let Ok(name) = name.parse::<Name>() else {
            return Ok(Vec::new());
        };
        let query = ListQuery {
            name: Some(name),
            ..ListQuery::default()
        };
        Ok(self.client.stack_list(&query).await?.items)
    }

    async fn no_stack(&self, wanted: &str) -> anyhow::Result<Trouble> {
        let all = self.client.stack_list(&ListQuery::default()).await?.items;
        let names = all.iter().map(|stack| stack.name.as_str());
        Ok(unknown("stack", wanted, names))
    }
}

/// The only one, none, or the question which.
fn one_of<T>(
    kind: &'static str,
    wanted: &str,
    mut found: Vec<T>,
    place: impl Fn(&T) -> String,
) -> anyhow::Result<Option<T>> {
    if found.len() > 1 {
        return Err(Trouble::Ambiguous {
            kind,
            name: wanted.to_owned(),
            places: found.iter().map(place).collect(),
        }
        .into());
    }
    Ok(found.pop())
}

fn unknown<'n>(
    kind: &'static str,
    wanted: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Trouble {
    Trouble::Unknown {
        kind,
        name: wanted.to_owned(),
        near: near::to(wanted, known),
    }
}
