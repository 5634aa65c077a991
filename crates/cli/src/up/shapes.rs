//! A shapes cloud beside the first cluster, and the operator that keeps it as Shapes declare.

use anyhow::Context;
use evenkeel_controller::Ended;
use evenkeel_shape_operator::{Form, Shape, ShapeSpec};
use evenkeel_shapes_cloud::serve;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::cluster::RunningCluster;
use super::port;
use crate::data_dir::DataDir;
use crate::operator::{ALL, Run, operate};
use crate::shapes_cloud::new_cloud;

/// A cloud that makes shapes and an operator that asks it to.
#[derive(Debug)]
pub(crate) struct RunningShapes {
    url: String,
    stop: CancellationToken,
    cloud: JoinHandle<std::io::Result<()>>,
    operator: JoinHandle<anyhow::Result<Ended>>,
}

impl RunningShapes {
    /// Starts both, with sample Shapes in a cluster that has none.
    pub(crate) async fn start(cluster: &RunningCluster, data: &DataDir) -> anyhow::Result<Self> {
        let listener = port::listen(&data.of_cluster(&cluster.name, "shapes-port")).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let client = client(cluster).await?;
        define(&client).await?;
        declare_samples(&client).await?;
        let stop = CancellationToken::new();
        let run = Run::beside(&url);
        let (of_operator, stopped) = (client, stop.clone());
        Ok(Self {
            url,
            cloud: tokio::spawn(serve(listener, new_cloud(), stop.clone())),
            operator: tokio::spawn(async move { operate(of_operator, &run, None, stopped).await }),
            stop,
        })
    }

    /// Where the cloud listens.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Ends both in good order.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        let _ = tokio::join!(self.operator, self.cloud);
    }
}

async fn client(cluster: &RunningCluster) -> anyhow::Result<Client> {
    let file = Kubeconfig::read_from(&cluster.kubeconfig)?;
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    Ok(evenkeel_controller::connect(config)?)
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

/// Only into a cluster without Shapes: what a person deleted stays deleted.
async fn declare_samples(client: &Client) -> anyhow::Result<()> {
    let shapes: Api<Shape> = Api::namespaced(client.clone(), "default");
    if !shapes.list(&Default::default()).await?.items.is_empty() {
        return Ok(());
    }
    for (name, form, colour) in [
        ("foo", Form::Square, "purple"),
        ("moon", Form::Circle, "silver"),
    ] {
        let spec = ShapeSpec {
            form,
            colour: colour.to_owned(),
            deletion_policy: Default::default(),
            paused: false,
            adopt: None,
        };
        shapes
            .create(&PostParams::default(), &Shape::new(name, spec))
            .await?;
    }
    Ok(())
}
