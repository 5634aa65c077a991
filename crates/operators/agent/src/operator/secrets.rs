//! What the contents of Secrets add to the hash of agents: only the entries that are used.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt;
use sha2::{Digest, Sha256};

use crate::api::{ModelConfig, ModelConfigSpec, RemoteMCPServer};
use crate::translate::model::{bedrock, sap_ai_core};
use crate::translate::values::key_missing;
use crate::translate::{Kind, Resources, TranslateError, tls};

/// Entries by the `namespace/name` of what holds them.
type Used = BTreeMap<String, BTreeMap<String, Vec<u8>>>;

/// Writes into models and servers the hashes of their Secrets as they are now, rather than as they
/// were when somebody last looked: pods are then restarted once for all changes together.
pub(crate) fn stamp(resources: &mut Resources) -> Result<(), TranslateError> {
    let models: Vec<_> = resources.all::<ModelConfig>().cloned().collect();
    for mut model in models {
        let hash = of_model(&model, resources)?;
        model.status.get_or_insert_default().secret_hash = Some(hash);
        resources.insert(model);
    }
    let servers: Vec<_> = resources.all::<RemoteMCPServer>().cloned().collect();
    for mut server in servers {
        let hash = of_server(&server, resources)?;
        server.status.get_or_insert_default().secret_hash = hash;
        resources.insert(server);
    }
    Ok(())
}

/// The hash of all that a model's agents need and that is not in its own text.
pub(super) fn of_model(
    model: &ModelConfig,
    resources: &Resources,
) -> Result<String, TranslateError> {
    let namespace = model.namespace().unwrap_or_default();
    let spec = &model.spec;
    let mut used = Used::new();
    if let Some(name) = spec
        .api_key_secret
        .as_deref()
        .filter(|name| !name.is_empty())
    {
        let secret: &Secret = resources.need(&namespace, name)?;
        for key in key_entries(spec, secret) {
            take(secret, key, &mut used)?;
        }
    }
    if let Some((name, key)) = spec.tls.as_ref().and_then(tls::authorities) {
        take(resources.need(&namespace, name)?, key, &mut used)?;
    }
    if let Some(from) = spec
        .foundry
        .as_ref()
        .and_then(|own| own.endpoint_from.as_ref())
    {
        let map: &ConfigMap = resources.need(&namespace, &from.name)?;
        let value = map.data.as_ref().and_then(|data| data.get(&from.key));
        let missing = || key_missing(Kind::ConfigMap, &namespace, &from.name, &from.key);
        let value = value.ok_or_else(missing)?.clone().into_bytes();
        let entries = used
            .entry(format!("{namespace}/{}", from.name))
            .or_default();
        entries.insert(from.key.clone(), value);
    }
    Ok(hash(&used))
}

/// The hash of a server's authorities, if it has any.
pub(super) fn of_server(
    server: &RemoteMCPServer,
    resources: &Resources,
) -> Result<Option<String>, TranslateError> {
    let Some((name, key)) = server.spec.tls.as_ref().and_then(tls::authorities) else {
        return Ok(None);
    };
    let namespace = server.namespace().unwrap_or_default();
    let mut used = Used::new();
    take(resources.need(&namespace, name)?, key, &mut used)?;
    Ok(Some(hash(&used)))
}

/// The entries of the Secret that agents of a model are given.
fn key_entries<'a>(spec: &'a ModelConfigSpec, secret: &'a Secret) -> BTreeSet<&'a str> {
    match spec.provider.as_deref() {
        Some("Bedrock") => bedrock::credentials(secret).into_iter().collect(),
        Some("SAPAICore") => sap_ai_core::CREDENTIALS
            .into_iter()
            .map(|(_, key)| key)
            .collect(),
        _ => spec.api_key_secret_key.as_deref().into_iter().collect(),
    }
}

fn take(secret: &Secret, key: &str, used: &mut Used) -> Result<(), TranslateError> {
    let (namespace, name) = (secret.namespace().unwrap_or_default(), secret.name_any());
    let value = secret.data.as_ref().and_then(|data| data.get(key));
    let value = value.ok_or_else(|| key_missing(Kind::Secret, &namespace, &name, key))?;
    let entries = used.entry(format!("{namespace}/{name}")).or_default();
    entries.insert(key.to_owned(), value.0.clone());
    Ok(())
}

/// kagent's formula: names and entries in order, one after the other.
fn hash(used: &Used) -> String {
    let mut hasher = Sha256::new();
    for (name, entries) in used {
        hasher.update(name);
        for (key, value) in entries {
            hasher.update(key);
            hasher.update(value);
        }
    }
    hex::encode(hasher.finalize())
}
