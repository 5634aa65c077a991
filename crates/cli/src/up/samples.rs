//! Something to try the operators with.

use anyhow::Context;
use evenkeel_manifest::{Document, Limits, parse};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DynamicObject, ListParams, PostParams};
use kube::core::GroupVersionKind;
use kube::{Api, Client};
use serde_json::Value;
use tokio::time::{Duration, Instant, sleep};

use crate::operator::ALL;

const SERVED_WITHIN: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Declares the samples of all operators, each kind only where there is none of it: what a person
/// deleted stays deleted as long as something else of its kind is there.
pub(super) async fn declare(client: &Client) -> anyhow::Result<()> {
    for operator in ALL {
        let documents = parse(operator.samples, Limits::NONE)?;
        let definitions = (operator.definitions)();
        let first = documents.first().context("an operator without samples")?;
        if is_empty(client, &definitions, first).await? {
            for document in documents {
                create(client, &definitions, document).await?;
            }
        }
    }
    Ok(())
}

async fn is_empty(
    client: &Client,
    definitions: &[CustomResourceDefinition],
    of: &Document,
) -> anyhow::Result<bool> {
    let listed = once_served(&api(client, definitions, of)).await;
    listed.with_context(|| format!("cannot list objects like {}", of.id))
}

/// Whether there are no objects of a kind. A real server takes a moment to serve what was just
/// defined.
async fn once_served(api: &Api<DynamicObject>) -> kube::Result<bool> {
    let deadline = Instant::now() + SERVED_WITHIN;
    loop {
        match api.list(&ListParams::default().limit(1)).await {
            Ok(found) => return Ok(found.items.is_empty()),
            Err(error) if Instant::now() >= deadline => return Err(error),
            Err(_) => sleep(LOOK_EVERY).await,
        }
    }
}

async fn create(
    client: &Client,
    definitions: &[CustomResourceDefinition],
    document: Document,
) -> anyhow::Result<()> {
    let api = api(client, definitions, &document);
    once_served(&api).await?;
    let object: DynamicObject = serde_json::from_value(Value::Object(document.object))?;
    let created = api.create(&PostParams::default(), &object).await;
    created.with_context(|| format!("cannot create the sample {}", document.id))?;
    Ok(())
}

fn api(
    client: &Client,
    definitions: &[CustomResourceDefinition],
    document: &Document,
) -> Api<DynamicObject> {
    let text = |field: &str| document.object[field].as_str().unwrap_or_default();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or_default();
    let kind = GroupVersionKind::gvk(group, version, text("kind"));
    let named = |definition: &&CustomResourceDefinition| definition.spec.names.kind == kind.kind;
    let plural = definitions
        .iter()
        .find(named)
        .map(|found| found.spec.names.plural.clone());
    let resource = ApiResource::from_gvk_with_plural(&kind, &plural.unwrap_or_default());
    Api::namespaced_with(client.clone(), "default", &resource)
}
