//! Messages of JSON-RPC, as MCP uses them.

use serde::Deserialize;
use serde_json::{Value, json};

use super::error::McpError;
use crate::api::status::McpTool;

/// The newest revision of the protocol that is asked for; servers answer with the one they speak.
pub(super) const REVISION: &str = "2025-06-18";
pub(super) const INITIALIZE: &str = "initialize";
pub(super) const LIST: &str = "tools/list";

/// A request with a number, by which its answer is known.
pub(super) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The first request.
pub(super) fn hello(id: u64) -> Value {
    let client = json!({"name": "evenkeel", "version": env!("CARGO_PKG_VERSION")});
    let params = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client});
    request(id, INITIALIZE, &params)
}

/// What is said when the answer to the first request was read.
pub(super) fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

/// The request for one page of tools.
pub(super) fn list(id: u64, cursor: Option<&str>) -> Value {
    let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
    request(id, LIST, &params)
}

/// The result of request `id`, if `message` is its answer.
pub(super) fn result(
    message: &Value,
    id: u64,
    method: &'static str,
    url: &str,
) -> Option<Result<Value, McpError>> {
    if message["id"] != id {
        return None;
    }
    if let Some(error) = message.get("error") {
        let message = error["message"].as_str().unwrap_or("no reason given");
        return Some(Err(McpError::Protocol {
            url: url.to_owned(),
            method,
            message: message.to_owned(),
        }));
    }
    Some(Ok(message["result"].clone()))
}

/// One page of tools.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page {
    tools: Vec<Tool>,
    pub(super) next_cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Tool {
    name: String,
    description: Option<String>,
}

impl Page {
    pub(super) fn read(result: Value, url: &str) -> Result<Self, McpError> {
        let read = serde_json::from_value(result);
        read.map_err(|error| McpError::not_mcp(url, format!("its list of tools: {error}")))
    }

    pub(super) fn into_tools(self) -> impl Iterator<Item = McpTool> {
        self.tools.into_iter().map(|tool| McpTool {
            name: tool.name,
            description: tool.description.unwrap_or_default(),
        })
    }
}
