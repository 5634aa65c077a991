//! Who may use what from another namespace.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::Scene;
use super::error::TranslateError;
use super::resources::{Kind, Reference};
use super::server::ServerKind;
use super::tools::{namespace_of, other_agent};
use crate::api::RemoteMCPServer;
use crate::api::namespaces::AllowedNamespaces;
use crate::api::tool::TypedReference;

/// Refuses references to other namespaces that do not allow them.
pub(super) fn check(scene: &Scene<'_>) -> Result<(), TranslateError> {
    let declared = scene.agent.spec.declarative.as_ref();
    let tools = declared.and_then(|declarative| declarative.tools.as_deref());
    for tool in tools.unwrap_or_default() {
        match (&tool.mcp_server, &tool.agent) {
            (Some(wanted), _) => check_server(&wanted.server, scene)?,
            (None, Some(agent)) => check_agent(agent, scene)?,
            (None, None) => {}
        }
    }
    Ok(())
}

fn is_elsewhere(reference: &TypedReference, scene: &Scene<'_>) -> bool {
    namespace_of(reference, scene.namespace()) != scene.namespace()
}

fn check_server(reference: &TypedReference, scene: &Scene<'_>) -> Result<(), TranslateError> {
    let kind = match ServerKind::of(reference)? {
        _ if !is_elsewhere(reference, scene) => return Ok(()),
        ServerKind::McpServer => Kind::MCPServer,
        ServerKind::Service => Kind::Service,
        ServerKind::RemoteMcpServer => {
            let namespace = namespace_of(reference, scene.namespace());
            let server: &RemoteMCPServer = scene.resources.need(namespace, &reference.name)?;
            let allowed = server.spec.allowed_namespaces.as_ref();
            return check_allowed(Kind::RemoteMCPServer, reference, allowed, scene);
        }
    };
    let why = format!("a {kind} is used only in its own namespace");
    Err(refused(kind, reference, why, scene))
}

fn check_agent(reference: &TypedReference, scene: &Scene<'_>) -> Result<(), TranslateError> {
    if !is_elsewhere(reference, scene) {
        return Ok(());
    }
    let (agent, _) = other_agent(reference, scene)?;
    let kind = match reference.kind.as_deref() {
        Some("SandboxAgent") => Kind::SandboxAgent,
        _ => Kind::Agent,
    };
    check_allowed(
        kind,
        reference,
        agent.spec.allowed_namespaces.as_ref(),
        scene,
    )
}

fn check_allowed(
    kind: Kind,
    reference: &TypedReference,
    allowed: Option<&AllowedNamespaces>,
    scene: &Scene<'_>,
) -> Result<(), TranslateError> {
    let namespace = namespace_of(reference, scene.namespace());
    let watched = scene.settings.watched.as_ref();
    if watched.is_some_and(|watched| !watched.contains(namespace)) {
        let why = format!("namespace {namespace} is not watched");
        return Err(refused(kind, reference, why, scene));
    }
    let from = allowed
        .and_then(|allowed| allowed.from.as_deref())
        .unwrap_or("Same");
    let selector = allowed.and_then(|allowed| allowed.selector.as_ref());
    let why = match (from, selector) {
        ("All", _) => return Ok(()),
        ("Selector", Some(selector)) if selects_own(selector, scene) => return Ok(()),
        ("Selector", Some(_)) => "its allowedNamespaces does not select that namespace",
        ("Selector", None) => "its allowedNamespaces has no selector",
        ("Same" | "", _) => "its allowedNamespaces allows only its own",
        _ => "its allowedNamespaces is not understood",
    };
    Err(refused(kind, reference, why.to_owned(), scene))
}

fn refused(
    kind: Kind,
    reference: &TypedReference,
    why: String,
    scene: &Scene<'_>,
) -> TranslateError {
    let namespace = namespace_of(reference, scene.namespace());
    TranslateError::Refused {
        reference: Reference::new(kind, namespace, reference.name.clone()),
        from: scene.namespace().to_owned(),
        why,
    }
}

/// Whether the agent's own namespace has the labels that are asked for.
fn selects_own(selector: &LabelSelector, scene: &Scene<'_>) -> bool {
    let namespace = scene.resources.find::<Namespace>("", scene.namespace());
    let labels = namespace.and_then(|namespace| namespace.metadata.labels.clone());
    selects(selector, &labels.unwrap_or_default())
}

fn selects(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    let exact = selector.match_labels.iter().flatten();
    let all_exact = exact
        .into_iter()
        .all(|(key, value)| labels.get(key) == Some(value));
    let expressions = selector.match_expressions.as_deref().unwrap_or_default();
    all_exact
        && expressions.iter().all(|expression| {
            let value = labels.get(&expression.key);
            let values = expression.values.as_deref().unwrap_or_default();
            match expression.operator.as_str() {
                "In" => value.is_some_and(|value| values.contains(value)),
                "NotIn" => value.is_none_or(|value| !values.contains(value)),
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => false,
            }
        })
}
