//! What a Deployment is made of, however the agent was described.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, LocalObjectReference, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use super::error::TranslateError;
use super::parts::PodParts;
use super::{Scene, sandbox};
use crate::api::agent::DeclarativeAgent;
use crate::api::deployment::{ByoDeployment, CardProbe, SharedDeployment};

/// The name of the container that is the agent.
pub(super) const AGENT_CONTAINER: &str = "kagent";
const PYTHON_IMAGE: &str = "kagent-dev/kagent/app";
const GO_IMAGE: &str = "kagent-dev/kagent/golang-adk";

/// The image and how it is started.
pub(super) struct Workload {
    pub(super) image: String,
    pub(super) command: Option<Vec<String>>,
    pub(super) args: Vec<String>,
    pub(super) working_dir: Option<String>,
    pub(super) pull_policy: String,
    pub(super) probe: CardProbe,
    /// Whether the Service says that it speaks A2A.
    pub(super) speaks_a2a: bool,
    pub(super) parts: PodParts,
    pub(super) shared: SharedDeployment,
}

const SLOW_START: CardProbe = CardProbe {
    initial_delay_seconds: Some(15),
    timeout_seconds: Some(15),
    period_seconds: Some(15),
    failure_threshold: None,
};
const QUICK_START: CardProbe = CardProbe {
    initial_delay_seconds: Some(1),
    timeout_seconds: Some(5),
    period_seconds: Some(1),
    failure_threshold: None,
};

pub(super) fn declarative(
    scene: &Scene<'_>,
    declarative: &DeclarativeAgent,
    parts: PodParts,
) -> Result<Workload, TranslateError> {
    let deployment = declarative.deployment.clone().unwrap_or_default();
    let mut shared = deployment.shared;
    check_containers(&shared)?;
    add_pull_secret(scene, &mut shared);
    let is_go = declarative.runtime.as_deref() == Some("go");
    let registry = deployment
        .image_registry
        .filter(|registry| !registry.is_empty());
    Ok(Workload {
        image: runtime_image(scene, is_go, registry.as_deref()),
        command: None,
        args: [
            "--host",
            "0.0.0.0",
            "--port",
            "8080",
            "--filepath",
            "/config",
        ]
        .map(str::to_owned)
        .to_vec(),
        working_dir: None,
        pull_policy: pull_policy(scene, &shared),
        probe: if is_go { QUICK_START } else { SLOW_START },
        speaks_a2a: declarative.a2a_config.is_some(),
        parts,
        shared,
    })
}

pub(super) fn brought(
    scene: &Scene<'_>,
    deployment: &ByoDeployment,
) -> Result<Workload, TranslateError> {
    let image = deployment.image.clone().filter(|image| !image.is_empty());
    let shared = deployment.shared.clone();
    check_containers(&shared)?;
    Ok(Workload {
        image: image.ok_or(TranslateError::Missing("spec.byo.deployment.image"))?,
        command: deployment
            .cmd
            .clone()
            .filter(|cmd| !cmd.is_empty())
            .map(|cmd| vec![cmd]),
        args: deployment.args.clone().unwrap_or_default(),
        working_dir: deployment.working_dir.clone(),
        pull_policy: pull_policy(scene, &shared),
        probe: SLOW_START,
        speaks_a2a: true,
        parts: PodParts::default(),
        shared,
    })
}

fn runtime_image(scene: &Scene<'_>, is_go: bool, registry: Option<&str>) -> String {
    let registry = registry.unwrap_or(&scene.settings.image_registry);
    let repository = if is_go { GO_IMAGE } else { PYTHON_IMAGE };
    let full = if sandbox::runs_code(scene) {
        "-full"
    } else {
        ""
    };
    format!("{registry}/{repository}:{}{full}", scene.settings.image_tag)
}

fn pull_policy(scene: &Scene<'_>, shared: &SharedDeployment) -> String {
    let own = shared
        .image_pull_policy
        .clone()
        .filter(|policy| !policy.is_empty());
    own.unwrap_or_else(|| scene.settings.image_pull_policy.clone())
}

fn add_pull_secret(scene: &Scene<'_>, shared: &mut SharedDeployment) {
    let Some(name) = &scene.settings.image_pull_secret else {
        return;
    };
    let secrets = shared.image_pull_secrets.get_or_insert_default();
    if secrets.iter().all(|secret| secret.name != *name) {
        secrets.push(LocalObjectReference { name: name.clone() });
    }
}

fn check_containers(shared: &SharedDeployment) -> Result<(), TranslateError> {
    let containers = shared.extra_containers.as_deref().unwrap_or_default();
    let mut names = vec![AGENT_CONTAINER];
    for Container { name, .. } in containers {
        if names.contains(&name.as_str()) {
            return Err(TranslateError::Malformed {
                what: "extra container",
                value: name.clone(),
                problem: "has a name that is taken".to_owned(),
            });
        }
        names.push(name);
    }
    Ok(())
}

impl Workload {
    /// The service account of the pods.
    pub(super) fn service_account(&self, scene: &Scene<'_>) -> String {
        let named = self.shared.service_account_name.clone();
        let default = scene.settings.default_service_account.clone();
        named.or(default).unwrap_or_else(|| scene.name().to_owned())
    }
}

/// What containers may use when nobody says.
pub(super) fn resources(given: Option<&ResourceRequirements>) -> ResourceRequirements {
    let amounts = |cpu: &str, memory: &str| -> BTreeMap<_, _> {
        [("cpu", cpu), ("memory", memory)]
            .map(|(what, much)| (what.to_owned(), Quantity(much.to_owned())))
            .into()
    };
    given.cloned().unwrap_or_else(|| ResourceRequirements {
        requests: Some(amounts("100m", "384Mi")),
        limits: Some(amounts("2", "1Gi")),
        ..ResourceRequirements::default()
    })
}
