//! A broker that was found, and the answers' form.

use std::collections::HashMap;

use evenkeel_api::{Agent, ListQuery};
use evenkeel_client::Client;
use evenkeel_model::{AgentId, GeneratorId, Name};
use futures::{StreamExt, TryStreamExt, stream};

use crate::output::Out;

/// So many requests are under way at once.
const AT_ONCE: usize = 16;

/// One command's conversation with one broker.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) out: Out,
    broker: String,
}

impl Session {
    pub(crate) fn new(client: Client, broker: String, out: Out) -> Self {
        Self {
            client,
            out,
            broker,
        }
    }

    /// The broker's address.
    pub(crate) fn broker(&self) -> &str {
        &self.broker
    }

    /// Every agent that the caller may see.
    pub(crate) async fn agents(&self) -> anyhow::Result<HashMap<AgentId, Agent>> {
        let agents = self.client.agent_list(&ListQuery::default()).await?.items;
        Ok(agents.into_iter().map(|agent| (agent.id, agent)).collect())
    }

    /// Every generator that the caller may see.
    pub(crate) async fn generator_names(&self) -> anyhow::Result<HashMap<GeneratorId, Name>> {
        let generators = self.generators().await?.into_iter();
        Ok(generators.map(|one| (one.id, one.name)).collect())
    }
}

/// Asks for each of `items`, some at once, and keeps their order.
pub(crate) async fn at_once<I, T, F>(
    items: I,
    ask: impl FnMut(I::Item) -> F,
) -> anyhow::Result<Vec<T>>
where
    I: IntoIterator,
    F: Future<Output = anyhow::Result<T>>,
{
    stream::iter(items.into_iter().map(ask))
        .buffered(AT_ONCE)
        .try_collect()
        .await
}
