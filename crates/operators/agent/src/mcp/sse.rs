//! The older form: one stream brings all answers, and says first where requests go.

use reqwest::Client;
use reqwest::header::ACCEPT;
use serde_json::Value;

use super::MAX_PAGES;
use super::error::McpError;
use super::events::Events;
use super::message::{self, INITIALIZE, LIST, Page};
use super::streamable::accepted;
use crate::api::status::McpTool;

pub(super) async fn tools(client: &Client, url: &str) -> Result<Vec<McpTool>, McpError> {
    let mut session = Session::open(client, url).await?;
    session.ask(&message::hello(0), 0, INITIALIZE).await?;
    session.post(&message::initialized()).await?;
    let (mut tools, mut cursor) = (Vec::new(), None);
    for id in (1..).take(MAX_PAGES) {
        let result = session
            .ask(&message::list(id, cursor.as_deref()), id, LIST)
            .await?;
        let page = Page::read(result, url)?;
        cursor.clone_from(&page.next_cursor);
        tools.extend(page.into_tools());
        if cursor.is_none() {
            break;
        }
    }
    Ok(tools)
}

/// A conversation with one server; it ends when the stream is dropped.
struct Session<'a> {
    client: &'a Client,
    url: &'a str,
    /// Where requests go.
    post_to: reqwest::Url,
    events: Events,
}

impl<'a> Session<'a> {
    async fn open(client: &'a Client, url: &'a str) -> Result<Self, McpError> {
        let sent = client
            .get(url)
            .header(ACCEPT, "text/event-stream")
            .send()
            .await;
        let response = sent.map_err(|source| McpError::request("ask", url, source))?;
        let response = accepted(response, url).await?;
        let base = response.url().clone();
        let mut events = Events::of(response);
        while let Some(event) = events.next().await {
            if event.name == "endpoint" {
                let post_to = own_address(&base, &event.data)
                    .ok_or_else(|| McpError::not_mcp(url, "it sends requests elsewhere"))?;
                return Ok(Self {
                    client,
                    url,
                    post_to,
                    events,
                });
            }
        }
        Err(McpError::not_mcp(url, "it did not say where requests go"))
    }

    async fn post(&mut self, message: &Value) -> Result<(), McpError> {
        let sent = self
            .client
            .post(self.post_to.clone())
            .json(message)
            .send()
            .await;
        let response = sent.map_err(|source| McpError::request("ask", self.url, source))?;
        accepted(response, self.url).await.map(|_| ())
    }

    async fn ask(
        &mut self,
        message: &Value,
        id: u64,
        method: &'static str,
    ) -> Result<Value, McpError> {
        self.post(message).await?;
        while let Some(event) = self.events.next().await {
            let message = serde_json::from_str(&event.data).unwrap_or_default();
            if let Some(found) = message::result(&message, id, method, self.url) {
                return found;
            }
        }
        Err(McpError::not_mcp(
            self.url,
            format!("its stream ended before it answered {method}"),
        ))
    }
}

/// Where requests go: never to another server, which would be handed our headers.
fn own_address(base: &reqwest::Url, endpoint: &str) -> Option<reqwest::Url> {
    let address = base.join(endpoint.trim()).ok()?;
    (address.origin() == base.origin()).then_some(address)
}
