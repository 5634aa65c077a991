//! What the operator was told about all agents.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// What the operator was told about all agents. The default is what kagent's own tests assume.
/// Written down, it holds what pods may come to see of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// Where the images of runtimes come from.
    pub image_registry: String,
    /// Their tag.
    pub image_tag: String,
    /// When images are pulled.
    pub image_pull_policy: String,
    /// A Secret for pulling the images of declarative agents.
    pub image_pull_secret: Option<String>,
    /// The service account of agents that name none.
    pub default_service_account: Option<String>,
    /// Labels of all pods.
    pub default_pod_labels: BTreeMap<String, String>,
    /// A gateway for requests to agents and servers of the cluster.
    pub proxy_url: Option<String>,
    /// Where agents report to.
    pub controller_url: String,
    /// Where people look at agents.
    pub ui_url: Option<String>,
    /// Environment variables of telemetry, handed on to agents.
    pub telemetry: BTreeMap<String, String>,
    /// The namespaces that are watched; all when `None`.
    #[serde(skip)]
    pub watched: Option<BTreeSet<String>>,
    /// Whether `name.namespace` is a host of the cluster.
    #[serde(skip)]
    pub namespaces: KnownNamespaces,
}

/// How the host `name.namespace` is told from the host `example.com`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownNamespaces {
    /// By the namespaces that were fetched.
    Fetched,
    /// Nobody can be asked, so any host of two parts is taken for one of the cluster.
    Assumed,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            image_registry: "ghcr.io".to_owned(),
            image_tag: "dev".to_owned(),
            image_pull_policy: "IfNotPresent".to_owned(),
            image_pull_secret: None,
            default_service_account: None,
            default_pod_labels: BTreeMap::new(),
            proxy_url: None,
            controller_url: "http://kagent-controller.kagent:8083".to_owned(),
            ui_url: None,
            telemetry: BTreeMap::new(),
            watched: None,
            namespaces: KnownNamespaces::Fetched,
        }
    }
}
