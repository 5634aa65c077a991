//! A document as a resource of its kind.

use evenkeel_manifest::Document;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret, Service};
use kube::ResourceExt;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::{Agent, MCPServer, ModelConfig, RemoteMCPServer};
use crate::translate::Resources;
use crate::translate::resources::{Held, SandboxAgent};

/// Adds what agents may refer to; other kinds are nobody's business here.
pub(super) fn insert(
    document: Document,
    namespace: &str,
    resources: &mut Resources,
) -> Result<(), serde_json::Error> {
    let object = Value::Object(document.object);
    match (document.id.group.as_str(), document.id.kind.as_str()) {
        ("kagent.dev", "Agent") => add::<Agent>(object, namespace, resources),
        ("kagent.dev", "SandboxAgent") => {
            let agent = placed(object, namespace)?;
            resources.insert(SandboxAgent(agent));
            Ok(())
        }
        ("kagent.dev", "ModelConfig") => add::<ModelConfig>(object, namespace, resources),
        ("kagent.dev", "RemoteMCPServer") => add::<RemoteMCPServer>(object, namespace, resources),
        ("kagent.dev", "MCPServer") => add::<MCPServer>(object, namespace, resources),
        ("", "Service") => add::<Service>(object, namespace, resources),
        ("", "ConfigMap") => add::<ConfigMap>(object, namespace, resources),
        ("", "Secret") => {
            resources.insert(as_kept(placed(object, namespace)?));
            Ok(())
        }
        ("", "Namespace") => {
            resources.insert(serde_json::from_value::<Namespace>(object)?);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn add<T: Held + ResourceExt + DeserializeOwned>(
    object: Value,
    namespace: &str,
    resources: &mut Resources,
) -> Result<(), serde_json::Error> {
    resources.insert(placed::<T>(object, namespace)?);
    Ok(())
}

fn placed<T: ResourceExt + DeserializeOwned>(
    object: Value,
    namespace: &str,
) -> Result<T, serde_json::Error> {
    let mut resource: T = serde_json::from_value(object)?;
    let own = &mut resource.meta_mut().namespace;
    if own.as_deref().unwrap_or_default().is_empty() {
        *own = Some(namespace.to_owned());
    }
    Ok(resource)
}

/// What is given as text is kept as bytes, as the API server does it.
fn as_kept(mut secret: Secret) -> Secret {
    let texts = secret.string_data.take().unwrap_or_default().into_iter();
    let texts = texts.map(|(key, text)| (key, ByteString(text.into_bytes())));
    secret.data.get_or_insert_default().extend(texts);
    secret
}
