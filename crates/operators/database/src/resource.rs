//! The `Database` resource: what people may ask for, and what they may not change.
#![expect(
    unreachable_pub,
    reason = "the derive of the schema repeats the structs where nobody can reach them"
)]

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Affinity, LocalObjectReference, ResourceRequirements, Toleration,
};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::status::DatabaseStatus;

/// A PostgreSQL server, or a primary with streaming standbys.
#[derive(CustomResource, KubeSchema, Debug, Clone, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "evenkeel.io",
    version = "v1",
    kind = "Database",
    namespaced,
    status = "DatabaseStatus",
    shortname = "db",
    category = "evenkeel",
    derive = "PartialEq",
    doc = "A PostgreSQL server with its volume, services and credentials; with replicas, a primary and streaming standbys. There is no automatic failover.",
    scale(
        spec_replicas_path = ".spec.replicas",
        status_replicas_path = ".status.replicas",
        label_selector_path = ".status.selector"
    ),
    printcolumn(name = "Version", type_ = "string", json_path = ".spec.version"),
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.conditions[?(@.type=='Ready')].status"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Replicas", type_ = "integer", json_path = ".status.readyReplicas"),
    printcolumn(name = "Endpoint", type_ = "string", json_path = ".status.endpoint", priority = 1),
    printcolumn(name = "Secret", type_ = "string", json_path = ".status.secretName", priority = 1),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    validation = Rule::new("size(self.metadata.name) <= 45")
        .message("a Database's name may have 45 characters at most: names of its pods and services are made from it")
)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseSpec {
    /// The PostgreSQL version: a major version, or a major and a minor one.
    #[schemars(length(max = 8), regex(pattern = r"^[1-9][0-9](\.[0-9]{1,2})?$"))]
    #[x_kube(
        validation = Rule::new("int(self.split('.')[0]) == int(oldSelf.split('.')[0])")
            .message("PostgreSQL cannot change its major version in place; create a second Database and move the data with pg_dump"),
        validation = Rule::new("!self.contains('.') || !oldSelf.contains('.') || int(self.split('.')[1]) >= int(oldSelf.split('.')[1])")
            .message("a downgrade is not possible; restore a backup into a new Database"),
    )]
    pub version: String,

    /// The image instead of the official one of that version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,

    /// How many servers: the first is the primary, the others are read-only standbys.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 16))]
    pub replicas: i32,

    /// The volume of each server.
    pub storage: Storage,

    /// What each server may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,

    /// Settings of postgresql.conf. A change restarts the servers, one after the other.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 200))]
    #[x_kube(validation = Rule::new("self.all(k, k.matches('^[a-z_][a-z0-9_.]{0,62}$'))")
        .message("settings are named like parameters of postgresql.conf"),
        validation = Rule::new("!self.exists(k, k in ['port', 'listen_addresses', 'data_directory', 'config_file', 'hba_file', 'ident_file', 'unix_socket_directories', 'primary_conninfo', 'hot_standby', 'include', 'include_dir', 'include_if_exists'])")
        .message("this setting is made by the operator; use the Database's own fields (port for example)"))]
    pub settings: BTreeMap<String, Setting>,

    /// The port of the servers and services.
    #[serde(default = "standard_port")]
    #[schemars(range(min = 1024, max = 65535))]
    pub port: i32,

    /// The database that is made at the first start.
    #[serde(default = "app")]
    #[schemars(length(max = 63), regex(pattern = r"^[a-z_][a-z0-9_]*$"))]
    #[x_kube(validation = Rule::new("self == oldSelf")
        .message("the database was made at the first start; create another one with SQL instead"),
        validation = Rule::new("!(self in ['postgres', 'template0', 'template1'])")
        .message("this name belongs to PostgreSQL itself"))]
    pub database: String,

    /// The role that owns the database and that the Secret is for.
    #[serde(default = "app")]
    #[schemars(length(max = 63), regex(pattern = r"^[a-z_][a-z0-9_]*$"))]
    #[x_kube(validation = Rule::new("self == oldSelf")
        .message("the owner was made at the first start; create another role with SQL instead"),
        validation = Rule::new("self != 'postgres' && self != 'evenkeel_replication' && !self.startsWith('pg_')")
        .message("this role belongs to PostgreSQL or to the operator"))]
    pub owner: String,

    /// A Secret of yours with the owner's password; without it one is generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_secret_ref: Option<SecretKey>,

    /// The Services through which clients connect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ClientService>,

    /// Nodes on which the pods may run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub node_selector: BTreeMap<String, String>,

    /// Taints that the pods bear.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,

    /// Where the pods would rather run; by default not two of them on one node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Affinity>,

    /// Further labels of the pods.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = Rule::new("self.all(k, !k.startsWith('evenkeel.io/') && !k.startsWith('app.kubernetes.io/'))")
        .message("labels under evenkeel.io/ and app.kubernetes.io/ are set by the operator"))]
    pub pod_labels: BTreeMap<String, String>,

    /// Further annotations of the pods.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(validation = Rule::new("self.all(k, !k.startsWith('evenkeel.io/'))")
        .message("annotations under evenkeel.io/ are set by the operator"))]
    pub pod_annotations: BTreeMap<String, String>,

    /// Timing of the probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes: Option<Probes>,

    /// How many servers a drain may take down at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disruption_budget: Option<DisruptionBudget>,

    /// What becomes of volumes and credentials when the Database is deleted.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,

    /// Leave everything as it is, whatever is written here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,

    /// No pods; volumes, services and credentials stay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
}

/// Which image, and how to get it.
#[derive(JsonSchema, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// The full name, with tag or digest; the official image of the version when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When to pull it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_policy: Option<PullPolicy>,
    /// Secrets for the registry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pull_secrets: Vec<LocalObjectReference>,
    /// The user that the image's servers run as; 999 in the official Debian one, 70 in the Alpine one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_as_user: Option<i64>,
}

/// When an image is pulled.
#[derive(JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PullPolicy {
    /// At every start.
    Always,
    /// When the node does not have it.
    IfNotPresent,
    /// Never.
    Never,
}

impl PullPolicy {
    /// As Kubernetes writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Always => "Always",
            Self::IfNotPresent => "IfNotPresent",
            Self::Never => "Never",
        }
    }
}

/// The volume of each server.
#[derive(KubeSchema, Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("quantity(self.size).compareTo(quantity(oldSelf.size)) >= 0")
        .message("a volume cannot shrink; create a smaller Database and move the data with pg_dump"),
    validation = Rule::new("has(self.class) == has(oldSelf.class) && (!has(self.class) || self.class == oldSelf.class)")
        .message("the storage class of an existing volume cannot change; create another Database and move the data"),
    validation = Rule::new("self.accessMode == oldSelf.accessMode")
        .message("the access mode of an existing volume cannot change; create another Database and move the data"),
)]
pub struct Storage {
    /// How large; it may grow later if the storage class allows that.
    #[schemars(
        length(max = 20),
        regex(pattern = r"^[0-9]+(\.[0-9]+)?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?$")
    )]
    pub size: String,
    /// The storage class; the cluster's default when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub class: Option<String>,
    /// How the volume is mounted.
    #[serde(default)]
    pub access_mode: AccessMode,
}

/// How a volume is mounted.
#[derive(JsonSchema, Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccessMode {
    /// By one node.
    #[default]
    ReadWriteOnce,
    /// By one pod.
    ReadWriteOncePod,
    /// By many nodes.
    ReadWriteMany,
}

impl AccessMode {
    /// As Kubernetes writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadWriteOnce => "ReadWriteOnce",
            Self::ReadWriteOncePod => "ReadWriteOncePod",
            Self::ReadWriteMany => "ReadWriteMany",
        }
    }
}

/// A value of postgresql.conf, written as people write it.
#[derive(JsonSchema, Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Setting(#[schemars(length(max = 2048), regex(pattern = r"^[^\r\n\x00]*$"))] pub String);

/// One key of a Secret in the Database's namespace.
#[derive(JsonSchema, Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretKey {
    /// The Secret.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Its key.
    #[serde(default = "password")]
    pub key: String,
}

/// The Services through which clients connect.
#[derive(JsonSchema, Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientService {
    /// How they are reached.
    #[serde(default, rename = "type")]
    pub kind: ServiceType,
    /// Further annotations, for load balancers for example.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// How a Service is reached.
#[derive(JsonSchema, Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServiceType {
    /// Inside the cluster.
    #[default]
    ClusterIP,
    /// On a port of every node.
    NodePort,
    /// Through the cloud's load balancer.
    LoadBalancer,
}

impl ServiceType {
    /// As Kubernetes writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClusterIP => "ClusterIP",
            Self::NodePort => "NodePort",
            Self::LoadBalancer => "LoadBalancer",
        }
    }
}

/// Timing of the probes.
#[derive(JsonSchema, Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Probes {
    /// Restart the server when it fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub liveness: Option<ProbeTiming>,
    /// Send clients only when it succeeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readiness: Option<ProbeTiming>,
    /// How long a start (recovery or cloning included) may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub startup: Option<ProbeTiming>,
}

/// Timing of one probe.
#[derive(JsonSchema, Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProbeTiming {
    /// How long it waits before the first try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 3600))]
    pub initial_delay_seconds: Option<i32>,
    /// How often it tries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 3600))]
    pub period_seconds: Option<i32>,
    /// How long one try may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 3600))]
    pub timeout_seconds: Option<i32>,
    /// How many failures in a row count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10000))]
    pub failure_threshold: Option<i32>,
}

/// How many servers a drain may take down at once.
#[derive(JsonSchema, Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DisruptionBudget {
    /// Whether there is a limit at all.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// How many may be down. Never zero: that would block every drain without a word.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 16))]
    pub max_unavailable: i32,
}

impl Default for DisruptionBudget {
    fn default() -> Self {
        Self {
            enabled: true,
            max_unavailable: 1,
        }
    }
}

/// What becomes of volumes and credentials when the Database is deleted: always of both.
#[derive(JsonSchema, Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeletionPolicy {
    /// They stay, and a Database of the same name takes them up again.
    #[default]
    Retain,
    /// They go.
    Delete,
}

fn one() -> i32 {
    1
}

fn yes() -> bool {
    true
}

fn standard_port() -> i32 {
    5432
}

fn app() -> String {
    "app".to_owned()
}

fn password() -> String {
    "password".to_owned()
}

impl Database {
    /// The namespace; a Database that was read from a cluster always has one.
    #[must_use]
    pub fn namespace_or_default(&self) -> &str {
        self.metadata.namespace.as_deref().unwrap_or("default")
    }

    /// How many servers should run now.
    #[must_use]
    pub fn wanted_servers(&self) -> i32 {
        if self.spec.stopped {
            0
        } else {
            self.spec.replicas
        }
    }

    /// What somebody asks for by the rotation annotation.
    #[must_use]
    pub fn rotation_request(&self) -> Option<&str> {
        let annotations = self.metadata.annotations.as_ref()?;
        annotations.get(crate::names::ROTATE).map(String::as_str)
    }
}
