//! How the pods of an agent are run.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::DeploymentStrategy;
use k8s_openapi::api::core::v1::{
    Affinity, Container, EnvFromSource, EnvVar, LocalObjectReference, PodSecurityContext,
    ResourceRequirements, SecurityContext, Toleration, TopologySpreadConstraint, Volume,
    VolumeMount,
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use super::quantities;

/// How a declarative agent is run.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("!(has(self.serviceAccountName) && has(self.serviceAccountConfig))").message("serviceAccountName and serviceAccountConfig are mutually exclusive"))]
#[serde(rename_all = "camelCase")]
pub struct DeclarativeDeployment {
    /// Where the runtime's image comes from.
    pub image_registry: Option<String>,
    /// What every agent has.
    #[serde(flatten)]
    pub shared: SharedDeployment,
}

/// How the image of a brought agent is run.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("!(has(self.serviceAccountName) && has(self.serviceAccountConfig))").message("serviceAccountName and serviceAccountConfig are mutually exclusive"))]
#[serde(rename_all = "camelCase")]
pub struct ByoDeployment {
    /// The image.
    #[schemars(length(min = 1))]
    pub image: Option<String>,
    /// The program, when not the image's own.
    pub cmd: Option<String>,
    /// Its arguments.
    pub args: Option<Vec<String>>,
    /// Where it starts.
    pub working_dir: Option<String>,
    /// What every agent has.
    #[serde(flatten)]
    pub shared: SharedDeployment,
}

/// What the deployments of all agents have.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedDeployment {
    /// How many pods; left to others when absent.
    pub replicas: Option<i32>,
    /// Secrets for pulling images.
    pub image_pull_secrets: Option<Vec<LocalObjectReference>>,
    /// Further volumes.
    #[serde(default, deserialize_with = "quantities::as_text")]
    pub volumes: Option<Vec<Volume>>,
    /// Where they are mounted.
    pub volume_mounts: Option<Vec<VolumeMount>>,
    /// Further labels.
    pub labels: Option<BTreeMap<String, String>>,
    /// Annotations of the pods.
    pub annotations: Option<BTreeMap<String, String>>,
    /// Annotations of the Deployment.
    pub deployment_annotations: Option<BTreeMap<String, String>>,
    /// Further environment variables.
    pub env: Option<Vec<EnvVar>>,
    /// Sources of environment variables.
    pub env_from: Option<Vec<EnvFromSource>>,
    /// When the image is pulled.
    pub image_pull_policy: Option<String>,
    /// What the container may use.
    #[serde(default, deserialize_with = "quantities::as_text")]
    pub resources: Option<ResourceRequirements>,
    /// Taints that are tolerated.
    pub tolerations: Option<Vec<Toleration>>,
    /// Where pods should be.
    pub affinity: Option<Affinity>,
    /// Which nodes may be used.
    pub node_selector: Option<BTreeMap<String, String>>,
    /// The container's privileges.
    pub security_context: Option<SecurityContext>,
    /// The pod's privileges.
    pub pod_security_context: Option<PodSecurityContext>,
    /// An existing service account.
    pub service_account_name: Option<String>,
    /// What the service account that is made for the agent carries.
    pub service_account_config: Option<ServiceAccountConfig>,
    /// Further containers.
    #[serde(default, deserialize_with = "quantities::as_text")]
    pub extra_containers: Option<Vec<Container>>,
    /// How pods are spread; without a selector, the agent's own are meant. Not in kagent 0.10, as
    /// all that follow.
    pub topology_spread_constraints: Option<Vec<TopologySpreadConstraint>>,
    /// How pods are replaced; when absent, one more is started before one is stopped.
    pub strategy: Option<DeploymentStrategy>,
    /// When a container that no longer shows its card is restarted; never when absent.
    pub liveness_probe: Option<CardProbe>,
    /// How long a container may take until it shows its card; as long as it likes when absent.
    pub startup_probe: Option<CardProbe>,
    /// How many pods may go at once when nodes are drained; all when absent.
    pub pod_disruption_budget: Option<DisruptionBudget>,
}

/// How an agent is asked for its card. What is absent is as Kubernetes has it.
#[derive(KubeSchema, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardProbe {
    /// When it is asked first, in seconds.
    pub initial_delay_seconds: Option<i32>,
    /// How long it may take, in seconds.
    pub timeout_seconds: Option<i32>,
    /// How often it is asked, in seconds.
    pub period_seconds: Option<i32>,
    /// How often in a row it may fail.
    pub failure_threshold: Option<i32>,
}

/// How many pods may go at once.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("has(self.minAvailable) != has(self.maxUnavailable)").message("exactly one of minAvailable and maxUnavailable must be set"))]
#[serde(rename_all = "camelCase")]
pub struct DisruptionBudget {
    /// So many must stay.
    pub min_available: Option<IntOrString>,
    /// So many may go.
    pub max_unavailable: Option<IntOrString>,
}

/// What the service account that is made for an agent carries.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServiceAccountConfig {
    /// Labels.
    pub labels: Option<BTreeMap<String, String>>,
    /// Annotations.
    pub annotations: Option<BTreeMap<String, String>>,
}
