//! What an agent may use.

use std::collections::BTreeMap;

use super::config::{AgentConfig, ConnectionParams, RemoteAgent, ServerConfig};
use super::error::TranslateError;
use super::hash::Secrets;
use super::parts::PodParts;
use super::resources::SandboxAgent;
use super::server::{Protocol, Server, ServerKind};
use super::{Scene, proxy, tls, values};
use crate::api::Agent;
use crate::api::tool::{McpServerTool, Tool, TypedReference};

/// Adds a tool to the configuration, and to the pod what it needs there.
pub(super) fn add(
    tool: &Tool,
    scene: &Scene<'_>,
    config: &mut AgentConfig,
    parts: &mut PodParts,
    secrets: &mut Secrets,
) -> Result<(), TranslateError> {
    let headers = values::headers(
        tool.headers_from.as_deref(),
        scene.namespace(),
        scene.resources,
    )?;
    match (&tool.mcp_server, &tool.agent) {
        (Some(wanted), _) => add_server(wanted, headers, scene, config, parts, secrets),
        (None, Some(other)) => {
            let isolated = tool.isolate_sessions.unwrap_or_default();
            config
                .remote_agents
                .push(remote_agent(other, headers, isolated, scene)?);
            Ok(())
        }
        (None, None) => Err(TranslateError::Missing("mcpServer or agent of a tool")),
    }
}

fn add_server(
    wanted: &McpServerTool,
    headers: BTreeMap<String, String>,
    scene: &Scene<'_>,
    config: &mut AgentConfig,
    parts: &mut PodParts,
    secrets: &mut Secrets,
) -> Result<(), TranslateError> {
    let server = server(&wanted.server, scene)?;
    let tools = ServerConfig {
        params: params(
            &server,
            headers,
            proxy_for(&wanted.server, &server, scene)?,
            scene,
        )?,
        tools: wanted.tool_names.clone().unwrap_or_default(),
        allowed_headers: wanted.allowed_headers.clone().unwrap_or_default(),
        require_approval: wanted.require_approval.clone().unwrap_or_default(),
    };
    match server.protocol {
        Protocol::Sse => config.sse_tools.push(tools),
        Protocol::StreamableHttp => config.http_tools.push(tools),
    }
    tls::mount(server.tls.as_ref(), parts);
    secrets.add(
        format!("certificates of {}", wanted.server.name),
        server.secret_hash,
    );
    Ok(())
}

/// The namespace that a reference means.
pub(crate) fn namespace_of<'a>(reference: &'a TypedReference, own: &'a str) -> &'a str {
    reference
        .namespace
        .as_deref()
        .filter(|namespace| !namespace.is_empty())
        .unwrap_or(own)
}

fn server(reference: &TypedReference, scene: &Scene<'_>) -> Result<Server, TranslateError> {
    let namespace = namespace_of(reference, scene.namespace());
    let resources = scene.resources;
    match ServerKind::of(reference)? {
        ServerKind::McpServer => Server::of_mcp_server(resources.need(namespace, &reference.name)?),
        ServerKind::RemoteMcpServer => Server::remote(resources.need(namespace, &reference.name)?),
        ServerKind::Service => Server::of_service(resources.need(namespace, &reference.name)?),
    }
}

/// Servers of the cluster are reached by way of the gateway, if there is one.
fn proxy_for<'a>(
    reference: &TypedReference,
    server: &Server,
    scene: &'a Scene<'_>,
) -> Result<Option<&'a str>, TranslateError> {
    let inside = match ServerKind::of(reference)? {
        ServerKind::McpServer | ServerKind::Service => true,
        ServerKind::RemoteMcpServer => proxy::is_internal(&server.url, scene),
    };
    Ok(scene.settings.proxy_url.as_deref().filter(|_| inside))
}

fn params(
    server: &Server,
    agent_headers: BTreeMap<String, String>,
    proxy: Option<&str>,
    scene: &Scene<'_>,
) -> Result<ConnectionParams, TranslateError> {
    let own = server.headers.as_deref();
    let mut headers = values::headers(own, &server.namespace, scene.resources)?;
    headers.extend(agent_headers);
    let url = match proxy {
        Some(proxy) => proxy::route(&server.url, proxy, &mut headers)?,
        None => server.url.clone(),
    };
    let streamable = server.protocol == Protocol::StreamableHttp;
    Ok(ConnectionParams {
        url,
        headers,
        timeout: server.timeout,
        sse_read_timeout: server.sse_read_timeout,
        terminate_on_close: server.terminate_on_close.filter(|_| streamable),
        tls: tls::fields(server.tls.as_ref()),
    })
}

fn remote_agent(
    reference: &TypedReference,
    mut headers: BTreeMap<String, String>,
    isolate_sessions: bool,
    scene: &Scene<'_>,
) -> Result<RemoteAgent, TranslateError> {
    let namespace = namespace_of(reference, scene.namespace());
    let (agent, address) = other_agent(reference, scene)?;
    let url = match scene.settings.proxy_url.as_deref() {
        Some(proxy) => proxy::route(&address, proxy, &mut headers)?,
        None => address,
    };
    Ok(RemoteAgent {
        name: identifier(&format!("{namespace}/{}", reference.name)),
        url,
        headers,
        description: agent.spec.description.clone().unwrap_or_default(),
        isolate_sessions,
    })
}

/// The agent that a tool names, and where it listens.
pub(super) fn other_agent<'a>(
    reference: &TypedReference,
    scene: &Scene<'a>,
) -> Result<(&'a Agent, String), TranslateError> {
    let namespace = namespace_of(reference, scene.namespace());
    let name = &reference.name;
    match reference.kind.as_deref().unwrap_or_default() {
        "" | "Agent" => {
            let agent = scene.resources.need(namespace, name)?;
            Ok((agent, format!("http://{name}.{namespace}:8080")))
        }
        "SandboxAgent" => {
            let SandboxAgent(agent) = scene.resources.need(namespace, name)?;
            let controller = &scene.settings.controller_url;
            Ok((
                agent,
                format!("{controller}/api/a2a-sandboxes/{namespace}/{name}"),
            ))
        }
        other => Err(TranslateError::UnknownWord {
            what: "agent tool kind",
            word: other.to_owned(),
        }),
    }
}

/// A name that Python accepts.
fn identifier(name: &str) -> String {
    name.replace('-', "_").replace('/', "__NS__")
}
