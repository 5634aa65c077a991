//! The operators beside each cluster of ours, each with a shapes cloud of its own.

use anyhow::Context;
use async_trait::async_trait;
use evenkeel_controller::Ended;
use evenkeel_shapes_cloud::serve;
use futures::future::{join_all, try_join_all};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::{Map, Value};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::cluster::Place;
use super::part::Part;
use super::{port, samples};
use crate::data_dir::DataDir;
use crate::operator::{ALL, Run, operate};
use crate::shapes_cloud::new_cloud;

/// The operators of every cluster.
pub(super) struct Operators {
    beside: Vec<Beside>,
    stop: CancellationToken,
}

/// All operators of one cluster, and a cloud that makes shapes for one of them.
struct Beside {
    cluster: String,
    cloud_url: String,
    cloud: JoinHandle<std::io::Result<()>>,
    operator: JoinHandle<anyhow::Result<Ended>>,
}

/// Starts them beside each cluster of ours; the first gets samples of what it has none of. A
/// cluster of the user's own is not given definitions that nobody asked for.
pub(super) async fn start(places: &[Place], data: &DataDir) -> anyhow::Result<Option<Operators>> {
    let ours = places.iter().filter(|place| place.context.is_none());
    let ours: Vec<_> = ours.collect();
    let Some(first) = ours.first() else {
        return Ok(None);
    };
    let stop = CancellationToken::new();
    let starts = ours.iter().map(|place| start_beside(place, data, &stop));
    let beside = try_join_all(starts).await;
    let beside = beside.context("cannot start the operators and the shapes clouds")?;
    samples::declare(&first.client().await?).await?;
    Ok(Some(Operators { beside, stop }))
}

async fn start_beside(
    place: &Place,
    data: &DataDir,
    stop: &CancellationToken,
) -> anyhow::Result<Beside> {
    let listener = port::listen(&data.of_cluster(&place.name, "shapes-port")).await?;
    let cloud_url = format!("http://{}", listener.local_addr()?);
    let client = place.client().await?;
    define(&client).await?;
    let (run, stopped) = (Run::beside(&cloud_url), stop.clone());
    Ok(Beside {
        cluster: place.name.clone(),
        cloud_url,
        cloud: tokio::spawn(serve(listener, new_cloud(), stop.clone())),
        operator: tokio::spawn(async move { operate(client, &run, None, stopped).await }),
    })
}

#[async_trait]
impl Part for Operators {
    fn name(&self) -> &'static str {
        "shapesClouds"
    }

    fn told(&self) -> Value {
        let told = |one: &Beside| (one.cluster.clone(), one.cloud_url.as_str().into());
        Value::Object(self.beside.iter().map(told).collect::<Map<_, _>>())
    }

    fn shown(&self) -> String {
        let Some(Beside {
            cluster, cloud_url, ..
        }) = self.beside.first()
        else {
            return String::new();
        };
        format!(
            "\nOperators for Databases, AI agents and the shapes of a cloud run beside each of them.\n\
             {cluster} has samples:\n  \
             kubectl get databases,agents,shapes\n  kubectl describe database orders\n  \
             curl {cloud_url}/v1/shapes\n  \
             curl -X DELETE {cloud_url}/v1/shapes/ID     and see it come back\n"
        )
    }

    async fn stop(self: Box<Self>) {
        self.stop.cancel();
        let ends = self.beside.into_iter().map(|one| async {
            let _ = tokio::join!(one.operator, one.cloud);
        });
        join_all(ends).await;
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
