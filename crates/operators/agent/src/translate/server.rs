//! Servers of tools, however they are described.

use k8s_openapi::api::core::v1::Service;
use kube::ResourceExt;

use super::error::TranslateError;
use crate::api::remote_mcp_server::RemoteMCPServer;
use crate::api::tls::TlsConfig;
use crate::api::tool::TypedReference;
use crate::api::values::ValueRef;
use crate::api::{MCPServer, RemoteMCPServerSpec};
use crate::go::duration;

const PORT: &str = "kagent.dev/mcp-service-port";
const PATH: &str = "kagent.dev/mcp-service-path";
const PROTOCOL: &str = "kagent.dev/mcp-service-protocol";
const DEFAULT_PATH: &str = "/mcp";
/// What kmcp's definition of MCPServer would have filled in.
const MCP_SERVER_TIMEOUT: f64 = 30.0;

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Server-sent events.
    Sse,
    /// Streamable HTTP.
    StreamableHttp,
}

impl Protocol {
    /// Anything but the word for server-sent events is streamable HTTP.
    fn named(word: Option<&str>) -> Self {
        match word {
            Some("SSE") => Self::Sse,
            _ => Self::StreamableHttp,
        }
    }
}

/// The kinds of servers that a tool may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerKind {
    McpServer,
    RemoteMcpServer,
    Service,
}

impl ServerKind {
    pub(crate) fn of(reference: &TypedReference) -> Result<Self, TranslateError> {
        let group = reference.api_group.as_deref().unwrap_or_default();
        let kind = reference.kind.as_deref().unwrap_or_default();
        match (group, kind) {
            ("", "") | ("" | "kagent.dev", "MCPServer") => Ok(Self::McpServer),
            ("" | "kagent.dev", "RemoteMCPServer") => Ok(Self::RemoteMcpServer),
            ("" | "core", "Service") => Ok(Self::Service),
            _ => Err(TranslateError::UnknownWord {
                what: "tool server type",
                word: format!("{kind}.{group}").trim_end_matches('.').to_owned(),
            }),
        }
    }
}

/// A server of tools.
#[derive(Debug, Clone)]
pub struct Server {
    /// Where it is.
    pub url: String,
    /// How it is spoken to.
    pub protocol: Protocol,
    /// How long a request may take, in seconds.
    pub timeout: Option<f64>,
    /// How long a stream may be silent, in seconds.
    pub sse_read_timeout: Option<f64>,
    /// Whether the session is ended when the connection closes.
    pub terminate_on_close: Option<bool>,
    /// How its certificate is checked.
    pub tls: Option<TlsConfig>,
    /// Headers of the requests to it, from its own namespace.
    pub headers: Option<Vec<ValueRef>>,
    /// Its namespace.
    pub namespace: String,
    /// A hash of its Secrets.
    pub(crate) secret_hash: Vec<u8>,
}

impl Server {
    fn at(url: String, protocol: Protocol, namespace: String) -> Self {
        Self {
            url,
            protocol,
            timeout: None,
            sse_read_timeout: None,
            terminate_on_close: None,
            tls: None,
            headers: None,
            namespace,
            secret_hash: Vec::new(),
        }
    }

    /// A server that is described as it is.
    ///
    /// # Errors
    /// When a duration is not one.
    pub fn remote(server: &RemoteMCPServer) -> Result<Self, TranslateError> {
        let RemoteMCPServerSpec {
            url,
            protocol,
            timeout,
            sse_read_timeout,
            ..
        } = &server.spec;
        let status = server
            .status
            .as_ref()
            .and_then(|status| status.secret_hash.as_deref());
        Ok(Self {
            timeout: seconds(timeout.as_deref())?,
            sse_read_timeout: seconds(sse_read_timeout.as_deref())?,
            terminate_on_close: server.spec.terminate_on_close,
            tls: server.spec.tls.clone(),
            headers: server.spec.headers_from.clone(),
            secret_hash: hex::decode(status.unwrap_or_default()).unwrap_or_default(),
            ..Self::at(
                url.clone(),
                Protocol::named(protocol.as_deref()),
                namespace_of(server),
            )
        })
    }

    /// A server that kmcp runs.
    ///
    /// # Errors
    /// When it has no port, or its timeout is not a duration.
    pub fn of_mcp_server(server: &MCPServer) -> Result<Self, TranslateError> {
        let port = server.spec.deployment.port.filter(|port| *port != 0);
        let port = port.ok_or_else(|| no_port("MCPServer", server))?;
        let timeout = seconds(server.spec.timeout.as_deref())?;
        let (name, namespace) = (server.name_any(), namespace_of(server));
        let url = format!("http://{name}.{namespace}:{port}/mcp");
        Ok(Self {
            timeout: timeout.or(Some(MCP_SERVER_TIMEOUT)),
            ..Self::at(url, Protocol::StreamableHttp, namespace)
        })
    }

    /// A server behind a Service, described by its annotations.
    ///
    /// # Errors
    /// When its port cannot be told.
    pub fn of_service(service: &Service) -> Result<Self, TranslateError> {
        let note = |name: &str| service.annotations().get(name).map(String::as_str);
        let port = match note(PORT) {
            Some(text) => Some(text.parse().map_err(|_| TranslateError::Malformed {
                what: "annotation kagent.dev/mcp-service-port",
                value: text.to_owned(),
                problem: "is not a number".to_owned(),
            })?),
            None => None,
        };
        let port = port
            .filter(|port| *port != 0)
            .or_else(|| only_port(service));
        let port = port.ok_or_else(|| no_port("Service", service))?;
        let (name, namespace) = (service.name_any(), namespace_of(service));
        let path = note(PATH).unwrap_or(DEFAULT_PATH);
        let url = format!("http://{name}.{namespace}:{port}{path}");
        Ok(Self::at(url, Protocol::named(note(PROTOCOL)), namespace))
    }
}

fn namespace_of(resource: &impl ResourceExt) -> String {
    resource.namespace().unwrap_or_default()
}

fn no_port(what: &'static str, resource: &impl ResourceExt) -> TranslateError {
    TranslateError::Malformed {
        what,
        value: resource.name_any(),
        problem: "has no port for MCP".to_owned(),
    }
}

/// The only port, else the one that says that it speaks MCP.
fn only_port(service: &Service) -> Option<i64> {
    let ports = service.spec.as_ref()?.ports.as_deref()?;
    if let [port] = ports {
        return Some(port.port.into());
    }
    let speaks_mcp = |protocol: &String| protocol.eq_ignore_ascii_case("mcp");
    let port = ports
        .iter()
        .find(|port| port.app_protocol.as_ref().is_some_and(speaks_mcp));
    port.map(|port| port.port.into())
}

fn seconds(text: Option<&str>) -> Result<Option<f64>, TranslateError> {
    let Some(text) = text else {
        return Ok(None);
    };
    let seconds = duration::seconds(text).ok_or_else(|| TranslateError::Malformed {
        what: "timeout",
        value: text.to_owned(),
        problem: "is not a duration such as 30s or 5m".to_owned(),
    })?;
    Ok(Some(seconds))
}
