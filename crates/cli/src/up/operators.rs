//! The operators beside each cluster of ours, each with a shapes cloud of its own.

use std::sync::Arc;

use anyhow::Context;
use async_trait::async_trait;
use evenkeel_shapes_cloud::serve;
use futures::future::join_all;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::{Map, Value};
use tokio::net::TcpListener;
use tokio::sync::Mutex;
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
    /// Definitions keep a simulated cluster busy for a while: one cluster after the other, so that
    /// the agents' leases are not starved.
    turns: Arc<Mutex<()>>,
}

/// All operators of one cluster, and a cloud that makes shapes for one of them.
struct Beside {
    place: Place,
    cloud_url: String,
    cloud: JoinHandle<std::io::Result<()>>,
    operator: JoinHandle<()>,
}

/// Starts them beside each cluster of ours; the first gets samples of what it has none of. A
/// cluster of the user's own is not given definitions that nobody asked for. Nobody waits until
/// they work.
pub(super) async fn start(places: &[Place], data: &DataDir) -> anyhow::Result<Option<Operators>> {
    let mut operators = Operators {
        beside: Vec::new(),
        stop: CancellationToken::new(),
        turns: Arc::default(),
    };
    for place in places.iter().filter(|place| place.context.is_none()) {
        let listener = port::listen(&data.of_cluster(&place.name, "shapes-port")).await;
        let listener = listener.context("cannot start a shapes cloud")?;
        operators.add(place.clone(), listener)?;
    }
    Ok((!operators.beside.is_empty()).then_some(operators))
}

impl Operators {
    fn add(&mut self, place: Place, listener: TcpListener) -> anyhow::Result<()> {
        let cloud_url = format!("http://{}", listener.local_addr()?);
        let work = Work {
            cloud_url: cloud_url.clone(),
            with_samples: self.beside.is_empty(),
            stop: self.stop.clone(),
            turns: self.turns.clone(),
            place: place.clone(),
        };
        self.beside.push(Beside {
            place,
            cloud_url,
            cloud: tokio::spawn(serve(listener, new_cloud(), self.stop.clone())),
            operator: tokio::spawn(work.done()),
        });
        Ok(())
    }
}

/// What is to be done beside one cluster.
struct Work {
    place: Place,
    cloud_url: String,
    with_samples: bool,
    stop: CancellationToken,
    turns: Arc<Mutex<()>>,
}

impl Work {
    async fn done(self) {
        if let Err(error) = self.prepare_and_operate().await {
            let cluster = &self.place.name;
            tracing::error!("the operators do not work in {cluster}: {error:#}");
        }
    }

    async fn prepare_and_operate(&self) -> anyhow::Result<()> {
        let client = self.place.client().await?;
        tokio::select! {
            () = self.stop.cancelled() => return Ok(()),
            prepared = self.prepare(&client) => prepared?,
        }
        let run = Run::beside(&self.cloud_url);
        let ended = operate(client, &run, None, self.stop.clone()).await;
        ended.map(drop)
    }

    async fn prepare(&self, client: &Client) -> anyhow::Result<()> {
        let _turn = self.turns.lock().await;
        define(client).await?;
        if self.with_samples {
            samples::declare(client).await?;
        }
        Ok(())
    }
}

#[async_trait]
impl Part for Operators {
    fn name(&self) -> &'static str {
        "shapesClouds"
    }

    fn told(&self) -> Value {
        let told = |one: &Beside| (one.place.name.clone(), one.cloud_url.as_str().into());
        Value::Object(self.beside.iter().map(told).collect::<Map<_, _>>())
    }

    fn shown(&self) -> String {
        let Some(Beside {
            place, cloud_url, ..
        }) = self.beside.first()
        else {
            return String::new();
        };
        let (cluster, file) = (&place.name, place.kubeconfig.display());
        format!(
            "\nOperators for Databases, AI agents and the shapes of a cloud run beside each of them.\n\
             {cluster} has samples:\n  \
             kubectl --kubeconfig {file} get databases,agents,shapes\n  \
             kubectl --kubeconfig {file} describe database orders\n  \
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
