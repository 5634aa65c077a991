//! The objects that run an agent.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{
    Deployment, DeploymentSpec, DeploymentStrategy, RollingUpdateDeployment,
};
use k8s_openapi::api::core::v1::{
    ConfigMap, PodTemplateSpec, Secret, Service, ServiceAccount, ServicePort, ServiceSpec,
};
use k8s_openapi::api::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta, OwnerReference};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::Resource;

use super::card::{self, Card};
use super::config::AgentConfig;
use super::error::TranslateError;
use super::hash::{self, Files, Secrets};
use super::skills::SkillsParts;
use super::workload::Workload;
use super::{Compiled, Scene, pod, sandbox, skills};
use crate::api::Agent;
use crate::go::json;

/// On the pods: the hash of all that they were started with.
pub const HASH_ANNOTATION: &str = "kagent.dev/config-hash";
/// What only the author of the agent's own text needs to see on it.
const PRIVATE_ANNOTATIONS: [&str; 4] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "argocd.argoproj.io/tracking-id",
    "argocd.argoproj.io/installation-id",
    crate::PAUSE_ANNOTATION,
];
const MANAGER: &str = "kagent";

/// What an agent is made into.
#[derive(Debug, Clone)]
pub struct Translation {
    pub(crate) config: AgentConfig,
    pub(crate) card: Card,
    pub(crate) secret: Secret,
    pub(crate) service_account: Option<ServiceAccount>,
    pub(crate) skills: Option<ConfigMap>,
    pub(crate) deployment: Deployment,
    pub(crate) service: Service,
    pub(crate) disruption_budget: Option<PodDisruptionBudget>,
    /// What the operator was told about all agents, written down.
    pub(crate) settings: String,
    /// Hashes of the Secrets behind models and servers, with names for people.
    pub(crate) secret_hashes: Vec<(String, String)>,
}

impl Translation {
    /// The hash of all that the pods are started with.
    pub fn hash(&self) -> &str {
        let template = self.deployment.spec.as_ref().map(|spec| &spec.template);
        let meta = template.and_then(|template| template.metadata.as_ref());
        let annotations = meta.and_then(|meta| meta.annotations.as_ref());
        annotations
            .and_then(|all| all.get(HASH_ANNOTATION))
            .map_or("", String::as_str)
    }

    /// Where the agent listens.
    pub fn endpoint(&self) -> String {
        self.card.url().to_owned()
    }

    /// The objects, as `Kind/name`.
    pub fn names(&self) -> Vec<String> {
        let name = |object: &serde_json::Value| {
            let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            format!(
                "{}/{}",
                text(&object["kind"]),
                text(&object["metadata"]["name"])
            )
        };
        self.manifest().iter().map(name).collect()
    }

    /// The files that the pods read, by name.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.secret.string_data.iter().flatten();
        files.map(|(name, text)| (name.as_str(), text.as_str()))
    }
}

pub(super) fn build(scene: &Scene<'_>, compiled: Compiled) -> Result<Translation, TranslateError> {
    let Compiled {
        config,
        workload,
        secrets,
    } = compiled;
    let card = card::card(scene);
    let texts = Texts {
        config: json::marshal(&config).map_err(|source| broken("config.json", source))?,
        card: json::marshal_indent(&card).map_err(|source| broken("agent-card.json", source))?,
        sandbox: sandbox::settings(scene)?,
    };
    let fetched = skills::parts(scene, &workload)?;
    let hash = hash::of(&texts.files(fetched.as_ref()), &secrets);
    let isolates = config.execute_code == Some(true) || fetched.is_some();
    let template = template(scene, &workload, fetched.as_ref(), hash, isolates);
    Ok(Translation {
        secret: config_secret(scene, &workload, texts),
        service_account: service_account(scene, &workload),
        skills: fetched.map(|fetched| skills_map(scene, fetched)),
        service: service(scene, &workload),
        disruption_budget: disruption_budget(scene, &workload),
        deployment: deployment(scene, workload, template),
        settings: json::marshal(scene.settings).map_err(|source| broken("settings", source))?,
        secret_hashes: hashes(&secrets),
        config,
        card,
    })
}

fn broken(what: &'static str, source: serde_json::Error) -> TranslateError {
    TranslateError::Json { what, source }
}

fn hashes(secrets: &Secrets) -> Vec<(String, String)> {
    secrets
        .iter()
        .map(|(name, hash)| (name.to_owned(), hex::encode(hash)))
        .collect()
}

/// What goes into the Secret.
struct Texts {
    config: String,
    card: String,
    sandbox: Option<String>,
}

impl Texts {
    fn files<'a>(&'a self, skills: Option<&'a SkillsParts>) -> Files<'a> {
        Files {
            config: &self.config,
            card: &self.card,
            sandbox: self.sandbox.as_deref(),
            skills: skills.map(|skills| skills.config.as_str()),
        }
    }
}

/// Labels by which the pods of an agent are found.
pub(super) fn selector(scene: &Scene<'_>) -> BTreeMap<String, String> {
    [("app", MANAGER), ("kagent", scene.name())]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
}

/// The labels of all objects; those by which pods are found cannot be taken over.
fn labels(scene: &Scene<'_>, workload: &Workload) -> BTreeMap<String, String> {
    let mut labels: BTreeMap<_, _> = [
        ("app.kubernetes.io/managed-by", MANAGER),
        ("app.kubernetes.io/part-of", MANAGER),
        ("app.kubernetes.io/name", scene.name()),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into();
    labels.extend(scene.settings.default_pod_labels.clone());
    labels.extend(workload.shared.labels.clone().unwrap_or_default());
    labels.extend(selector(scene));
    labels
}

/// What the author wrote on the agent for its objects to carry.
fn annotations(agent: &Agent) -> BTreeMap<String, String> {
    let own = agent.metadata.annotations.iter().flatten();
    let public = own.filter(|(key, _)| !PRIVATE_ANNOTATIONS.contains(&key.as_str()));
    public
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn metadata(scene: &Scene<'_>, workload: &Workload) -> ObjectMeta {
    ObjectMeta {
        labels: Some(labels(scene, workload)),
        annotations: Some(annotations(scene.agent)),
        ..bare_metadata(scene, scene.name())
    }
}

fn bare_metadata(scene: &Scene<'_>, name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some(scene.namespace().to_owned()),
        owner_references: Some(vec![owner(scene)]),
        ..ObjectMeta::default()
    }
}

fn owner(scene: &Scene<'_>) -> OwnerReference {
    OwnerReference {
        api_version: Agent::api_version(&()).into_owned(),
        kind: Agent::kind(&()).into_owned(),
        name: scene.name().to_owned(),
        uid: scene.agent.metadata.uid.clone().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

fn config_secret(scene: &Scene<'_>, workload: &Workload, texts: Texts) -> Secret {
    let sandbox = texts
        .sandbox
        .map(|text| ("srt-settings.json".to_owned(), text));
    let files = [
        ("config.json".to_owned(), texts.config),
        ("agent-card.json".to_owned(), texts.card),
    ];
    Secret {
        metadata: metadata(scene, workload),
        string_data: Some(files.into_iter().chain(sandbox).collect()),
        ..Secret::default()
    }
}

/// Made only for agents that use the account of their own name.
fn service_account(scene: &Scene<'_>, workload: &Workload) -> Option<ServiceAccount> {
    if workload.service_account(scene) != scene.name() {
        return None;
    }
    let mut metadata = metadata(scene, workload);
    if let Some(more) = workload.shared.service_account_config.clone() {
        metadata
            .labels
            .get_or_insert_default()
            .extend(more.labels.unwrap_or_default());
        metadata
            .annotations
            .get_or_insert_default()
            .extend(more.annotations.unwrap_or_default());
    }
    Some(ServiceAccount {
        metadata,
        ..ServiceAccount::default()
    })
}

fn skills_map(scene: &Scene<'_>, fetched: SkillsParts) -> ConfigMap {
    ConfigMap {
        metadata: bare_metadata(scene, &skills::config_map_name(scene)),
        data: Some([("config.json".to_owned(), fetched.config)].into()),
        ..ConfigMap::default()
    }
}

fn template(
    scene: &Scene<'_>,
    workload: &Workload,
    skills: Option<&SkillsParts>,
    hash: String,
    isolates: bool,
) -> PodTemplateSpec {
    let mut annotations = workload.shared.annotations.clone().unwrap_or_default();
    annotations.insert(HASH_ANNOTATION.to_owned(), hash);
    let runs_code = sandbox::runs_code(scene);
    PodTemplateSpec {
        metadata: Some(ObjectMeta {
            labels: Some(labels(scene, workload)),
            annotations: Some(annotations),
            ..ObjectMeta::default()
        }),
        spec: Some(pod::pod_spec(scene, workload, skills, runs_code, isolates)),
    }
}

fn deployment(scene: &Scene<'_>, workload: Workload, template: PodTemplateSpec) -> Deployment {
    let mut metadata = metadata(scene, &workload);
    let more = workload.shared.deployment_annotations.unwrap_or_default();
    metadata.annotations.get_or_insert_default().extend(more);
    let spec = DeploymentSpec {
        replicas: workload.shared.replicas,
        selector: own_pods(scene),
        strategy: Some(workload.shared.strategy.unwrap_or_else(one_more_first)),
        template,
        ..DeploymentSpec::default()
    };
    Deployment {
        metadata,
        spec: Some(spec),
        ..Deployment::default()
    }
}

fn own_pods(scene: &Scene<'_>) -> LabelSelector {
    LabelSelector {
        match_labels: Some(selector(scene)),
        ..LabelSelector::default()
    }
}

/// A pod is stopped when one more is ready.
fn one_more_first() -> DeploymentStrategy {
    let rolling = RollingUpdateDeployment {
        max_unavailable: Some(IntOrString::Int(0)),
        max_surge: Some(IntOrString::Int(1)),
    };
    DeploymentStrategy {
        type_: Some("RollingUpdate".to_owned()),
        rolling_update: Some(rolling),
    }
}

/// Made only for agents that ask for one.
fn disruption_budget(scene: &Scene<'_>, workload: &Workload) -> Option<PodDisruptionBudget> {
    let wanted = workload.shared.pod_disruption_budget.as_ref()?;
    let spec = PodDisruptionBudgetSpec {
        selector: Some(own_pods(scene)),
        min_available: wanted.min_available.clone(),
        max_unavailable: wanted.max_unavailable.clone(),
        ..PodDisruptionBudgetSpec::default()
    };
    Some(PodDisruptionBudget {
        metadata: metadata(scene, workload),
        spec: Some(spec),
        ..PodDisruptionBudget::default()
    })
}

fn service(scene: &Scene<'_>, workload: &Workload) -> Service {
    let port = ServicePort {
        name: Some("http".to_owned()),
        port: pod::PORT,
        target_port: Some(IntOrString::Int(pod::PORT)),
        app_protocol: workload.speaks_a2a.then(|| "kgateway.dev/a2a".to_owned()),
        ..ServicePort::default()
    };
    let spec = ServiceSpec {
        selector: Some(selector(scene)),
        ports: Some(vec![port]),
        type_: Some("ClusterIP".to_owned()),
        ..ServiceSpec::default()
    };
    Service {
        metadata: metadata(scene, workload),
        spec: Some(spec),
        ..Service::default()
    }
}
