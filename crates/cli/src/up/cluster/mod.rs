//! The clusters: simulated, real ones of the test bed, or the user's own.

mod given;
mod real;
mod simulated;

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, bail};
use async_trait::async_trait;
use kube::Client;
use serde_json::{Value, json};

use super::options::{ControlPlane, UpOptions};
use super::part::Part;
use crate::agent::connect::connect;
use crate::agent::settings::KubernetesSection;
use crate::data_dir::DataDir;

/// How a cluster is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) name: String,
    pub(super) url: String,
    pub(super) kubeconfig: PathBuf,
    /// The context of the kubeconfig, if it is not ours alone.
    pub(super) context: Option<String>,
}

impl Place {
    /// A client of the cluster. Of the kubeconfig nothing but the named context is used.
    pub(super) async fn client(&self) -> anyhow::Result<Client> {
        let section = KubernetesSection {
            kubeconfig: Some(self.kubeconfig.clone()),
            context: self.context.clone(),
        };
        Ok(connect(&section).await?.client)
    }
}

/// A cluster that answers.
enum Running {
    Simulated(simulated::Simulated),
    Real(real::Real),
    Given(Place),
}

/// Every cluster that answers.
pub(super) struct Clusters(Vec<Running>);

/// Starts the clusters that are wanted, or finds the user's own.
pub(super) async fn start(options: &UpOptions, data: &DataDir) -> anyhow::Result<Clusters> {
    if let Some(kubeconfig) = &options.kubeconfig {
        let places = given::find(kubeconfig, &options.contexts)?;
        return Ok(Clusters(places.into_iter().map(Running::Given).collect()));
    }
    let mut names = BTreeSet::new();
    let mut running = Vec::new();
    for name in &options.clusters {
        if !names.insert(name) {
            bail!("cluster {name} is named twice");
        }
        let started = match options.control_plane {
            ControlPlane::Simulated => simulated::start(name, data).await.map(Running::Simulated),
            ControlPlane::Real => real::start(name, data).await.map(Running::Real),
        };
        running.push(started.with_context(|| format!("cannot start cluster {name}"))?);
    }
    Ok(Clusters(running))
}

impl Running {
    const fn place(&self) -> &Place {
        match self {
            Self::Simulated(cluster) => &cluster.place,
            Self::Real(cluster) => &cluster.place,
            Self::Given(place) => place,
        }
    }
}

impl Clusters {
    /// How each of them is reached.
    pub(super) fn places(&self) -> Vec<Place> {
        self.0.iter().map(|one| one.place().clone()).collect()
    }
}

#[async_trait]
impl Part for Clusters {
    fn name(&self) -> &'static str {
        "clusters"
    }

    fn told(&self) -> Value {
        let told = |place: Place| {
            json!({
                "name": place.name,
                "url": place.url,
                "kubeconfig": place.kubeconfig,
                "context": place.context,
            })
        };
        self.places().into_iter().map(told).collect()
    }

    fn shown(&self) -> String {
        let places = self.places();
        let width = |text: fn(&Place) -> &str, title: &str| {
            let widths = places.iter().map(|place| text(place).len());
            widths.chain([title.len()]).max().unwrap_or_default()
        };
        let (name, url) = (
            width(|place| &place.name, "cluster"),
            width(|place| &place.url, "address"),
        );
        let mut text = format!("\n  {:name$}  {:url$}  kubeconfig\n", "cluster", "address");
        for place in &places {
            let file = place.kubeconfig.display();
            text += &format!("  {:name$}  {:url$}  {file}\n", place.name, place.url);
        }
        text
    }

    async fn stop(self: Box<Self>) {
        for cluster in self.0 {
            match cluster {
                Running::Simulated(cluster) => cluster.stop().await,
                // It ends with the value.
                Running::Real(_) | Running::Given(_) => {}
            }
        }
    }
}
