//! Fetching what a run needs, and saying that it looked.

use std::sync::Arc;

use evenkeel_controller::{Context, Error, Key, Metadata, Watched};
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret, Service};
use kube::{Api, Resource};

use super::error::OperatorError;
use super::references::{self, References};
use crate::api::{Agent, MCPServer, ModelConfig, RemoteMCPServer};
use crate::translate::resources::Held;
use crate::translate::{Kind, Reference, Resources, Settings};

/// Everything that `agent` refers to, however far away.
pub(super) async fn for_agent(
    agent: &Agent,
    settings: &Settings,
    cx: &Context,
) -> Result<Resources, OperatorError> {
    let mut known = Resources::default();
    known.insert(agent.clone());
    let mut looked = References::new();
    loop {
        let needed = references::of_agent(agent, &known, settings);
        let new: Vec<_> = needed.difference(&looked).cloned().collect();
        if new.is_empty() {
            return Ok(known);
        }
        look_at(&needed, cx);
        fetch(&new, cx, &mut known).await?;
        looked.extend(new);
    }
}

/// What a model or server refers to.
pub(super) async fn all_of(needed: &References, cx: &Context) -> Result<Resources, OperatorError> {
    let mut known = Resources::default();
    look_at(needed, cx);
    fetch(&Vec::from_iter(needed.iter().cloned()), cx, &mut known).await?;
    Ok(known)
}

/// Says what this run looks at, before it does.
fn look_at(needed: &References, cx: &Context) {
    let of = |kind: Kind| {
        let of_kind = needed
            .iter()
            .filter(move |reference| reference.kind == kind);
        of_kind.map(key).collect::<Vec<_>>()
    };
    cx.looks_at::<Agent>(of(Kind::Agent));
    cx.looks_at::<ModelConfig>(of(Kind::ModelConfig));
    cx.looks_at::<RemoteMCPServer>(of(Kind::RemoteMCPServer));
    cx.looks_at::<MCPServer>(of(Kind::MCPServer));
    cx.looks_at::<Metadata<Service>>(of(Kind::Service));
    cx.looks_at::<Metadata<Secret>>(of(Kind::Secret));
    cx.looks_at::<Metadata<ConfigMap>>(of(Kind::ConfigMap));
    cx.looks_at::<Metadata<Namespace>>(of(Kind::Namespace));
}

fn key(reference: &Reference) -> Key {
    match reference.namespace.as_str() {
        "" => Key::cluster_wide(&reference.name),
        namespace => Key::namespaced(namespace, &reference.name),
    }
}

async fn fetch(
    references: &[Reference],
    cx: &Context,
    known: &mut Resources,
) -> Result<(), OperatorError> {
    for reference in references {
        match reference.kind {
            Kind::Agent => from_cache::<Agent>(reference, cx, known)?,
            Kind::ModelConfig => from_cache::<ModelConfig>(reference, cx, known)?,
            Kind::RemoteMCPServer => from_cache::<RemoteMCPServer>(reference, cx, known)?,
            Kind::MCPServer => from_cache::<MCPServer>(reference, cx, known)?,
            Kind::Namespace => namespace(reference, cx, known)?,
            // Agents in sandboxes are kagent's own; none is known here.
            Kind::SandboxAgent | Kind::Service | Kind::Secret | Kind::ConfigMap => {}
        }
    }
    from_server::<Service>(references, cx, known).await?;
    from_server::<Secret>(references, cx, known).await?;
    from_server::<ConfigMap>(references, cx, known).await
}

fn from_cache<T: Held + Watched>(
    reference: &Reference,
    cx: &Context,
    known: &mut Resources,
) -> Result<(), OperatorError> {
    if let Some(found) = cx.known::<T>()?.get(&key(reference)) {
        known.insert(Arc::unwrap_or_clone(found));
    }
    Ok(())
}

fn namespace(
    reference: &Reference,
    cx: &Context,
    known: &mut Resources,
) -> Result<(), OperatorError> {
    let found = cx.known::<Metadata<Namespace>>()?.get(&key(reference));
    if let Some(found) = found {
        let metadata = found.metadata.clone();
        known.insert(Namespace {
            metadata,
            ..Namespace::default()
        });
    }
    Ok(())
}

/// Contents of which only the metadata is kept in memory.
async fn from_server<T>(
    references: &[Reference],
    cx: &Context,
    known: &mut Resources,
) -> Result<(), OperatorError>
where
    T: Held + Watched + Resource<Scope = k8s_openapi::NamespaceResourceScope>,
{
    let wanted = references
        .iter()
        .filter(|reference| reference.kind == T::KIND);
    let found = try_join_all(wanted.map(|reference| async move {
        let api: Api<T> = Api::namespaced(cx.client().clone(), &reference.namespace);
        let got = api.get_opt(&reference.name).await;
        got.map_err(Error::kube(format!("read {reference}")))
    }));
    for resource in found.await?.into_iter().flatten() {
        known.insert(resource);
    }
    Ok(())
}
