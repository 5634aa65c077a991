//! The operators beside the first cluster, and a shapes cloud for one of them.

use anyhow::Context;
use async_trait::async_trait;
use evenkeel_controller::Ended;
use evenkeel_shapes_cloud::serve;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::cluster::Place;
use super::part::Part;
use super::{port, samples};
use crate::data_dir::DataDir;
use crate::operator::{ALL, Run, operate};
use crate::shapes_cloud::new_cloud;

/// All operators, and a cloud that makes shapes for one of them.
pub(super) struct Operators {
    url: String,
    stop: CancellationToken,
    cloud: JoinHandle<std::io::Result<()>>,
    operator: JoinHandle<anyhow::Result<Ended>>,
}

/// Starts them beside the first cluster of ours, with samples of what it has none of. A cluster of
/// the user's own is not given definitions that nobody asked for.
pub(super) async fn start(places: &[Place], data: &DataDir) -> anyhow::Result<Option<Operators>> {
    match places.iter().find(|place| place.context.is_none()) {
        Some(place) => start_beside(place, data).await.map(Some),
        None => Ok(None),
    }
    .context("cannot start the operators and the shapes cloud")
}

async fn start_beside(place: &Place, data: &DataDir) -> anyhow::Result<Operators> {
    let listener = port::listen(&data.of_cluster(&place.name, "shapes-port")).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let client = place.client().await?;
    define(&client).await?;
    samples::declare(&client).await?;
    let stop = CancellationToken::new();
    let run = Run::beside(&url);
    let (of_operator, stopped) = (client, stop.clone());
    Ok(Operators {
        url,
        cloud: tokio::spawn(serve(listener, new_cloud(), stop.clone())),
        operator: tokio::spawn(async move { operate(of_operator, &run, None, stopped).await }),
        stop,
    })
}

#[async_trait]
impl Part for Operators {
    fn name(&self) -> &'static str {
        "shapesCloud"
    }

    fn told(&self) -> Value {
        json!(self.url)
    }

    fn shown(&self) -> String {
        let url = &self.url;
        format!(
            "\nA shapes cloud is at {url}, kept as the Shapes of the first cluster declare:\n  \
             kubectl get shapes\n  curl {url}/v1/shapes\n  \
             curl -X DELETE {url}/v1/shapes/ID     and see it come back\n\n\
             There are a Database and an AI agent too:\n  \
             kubectl get databases,agents\n  kubectl describe database orders\n"
        )
    }

    async fn stop(self: Box<Self>) {
        self.stop.cancel();
        let _ = tokio::join!(self.operator, self.cloud);
    }
}

async fn define(client: &Client) -> anyhow::Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let apply = PatchParams::apply("evenkeel-up").force();
    for definition in ALL.iter().flat_map(|operator| (operator.definitions)()) {
        let name = definition.metadata.name.clone().unwrap_or_default();
        let applied = api.patch(&name, &apply, &Patch::Apply(&definition)).await;
        applied.with_context(|| format!("cannot define {name}"))?;
    }
    Ok(())
}
