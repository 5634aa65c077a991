//! Streamable HTTP: every request is a POST, answered with JSON or with a stream that holds it.

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Response};
use serde_json::Value;

use super::MAX_PAGES;
use super::error::McpError;
use super::events::Events;
use super::message::{self, INITIALIZE, LIST, Page};
use crate::api::status::McpTool;

const SESSION: &str = "mcp-session-id";
const REVISION: &str = "mcp-protocol-version";
const BOTH_FORMS: &str = "application/json, text/event-stream";
/// So much of a refusal is told.
const TEXT: usize = 200;

pub(super) async fn tools(client: &Client, url: &str) -> Result<Vec<McpTool>, McpError> {
    let mut session = Session {
        client,
        url,
        id: None,
        revision: None,
    };
    let listed = session.list().await;
    session.end().await;
    listed
}

/// A conversation with one server.
struct Session<'a> {
    client: &'a Client,
    url: &'a str,
    id: Option<String>,
    revision: Option<String>,
}

impl Session<'_> {
    async fn list(&mut self) -> Result<Vec<McpTool>, McpError> {
        let hello = self.post(&message::hello(0)).await?;
        let id = hello.headers().get(SESSION).and_then(|id| id.to_str().ok());
        self.id = id.map(str::to_owned);
        let result = answer(hello, 0, INITIALIZE, self.url).await?;
        self.revision = result["protocolVersion"].as_str().map(str::to_owned);
        self.post(&message::initialized()).await?;
        let (mut tools, mut cursor) = (Vec::new(), None);
        for id in (1..).take(MAX_PAGES) {
            let asked = self.post(&message::list(id, cursor.as_deref())).await?;
            let page = Page::read(answer(asked, id, LIST, self.url).await?, self.url)?;
            cursor.clone_from(&page.next_cursor);
            tools.extend(page.into_tools());
            if cursor.is_none() {
                break;
            }
        }
        Ok(tools)
    }

    async fn post(&self, message: &Value) -> Result<Response, McpError> {
        let request = self
            .client
            .post(self.url)
            .header(ACCEPT, BOTH_FORMS)
            .json(message);
        let sent = self.marked(request).send().await;
        let response = sent.map_err(|source| McpError::request("ask", self.url, source))?;
        accepted(response, self.url).await
    }

    fn marked(&self, mut request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        if let Some(id) = &self.id {
            request = request.header(SESSION, id);
        }
        if let Some(revision) = &self.revision {
            request = request.header(REVISION, revision);
        }
        request
    }

    /// Lets the server forget; that it does not is no harm.
    async fn end(&self) {
        if self.id.is_some() {
            let _ = self.marked(self.client.delete(self.url)).send().await;
        }
    }
}

pub(super) async fn accepted(response: Response, url: &str) -> Result<Response, McpError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let text = response.text().await.unwrap_or_default();
    Err(McpError::Refused {
        url: url.to_owned(),
        status: status.as_u16(),
        text: text.chars().take(TEXT).collect(),
    })
}

/// The answer to request `id`, in whichever form it comes.
async fn answer(
    response: Response,
    id: u64,
    method: &'static str,
    url: &str,
) -> Result<Value, McpError> {
    let form = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|form| form.to_str().ok());
    if !form.unwrap_or_default().starts_with("text/event-stream") {
        let read = response.json::<Value>().await;
        let message = read.map_err(|source| McpError::request("understand", url, source))?;
        let found = message::result(&message, id, method, url);
        return found.unwrap_or_else(|| Err(McpError::not_mcp(url, "it answered something else")));
    }
    let mut events = Events::of(response);
    while let Some(event) = events.next().await {
        let message = serde_json::from_str(&event.data).unwrap_or_default();
        if let Some(found) = message::result(&message, id, method, url) {
            return found;
        }
    }
    Err(McpError::not_mcp(
        url,
        format!("it did not answer {method}"),
    ))
}
