//! The pod that is an agent.

use k8s_openapi::api::core::v1::{
    Container, ContainerPort, EnvVar, EnvVarSource, HTTPGetAction, ObjectFieldSelector, PodSpec,
    Probe, ProjectedVolumeSource, SecretVolumeSource, SecurityContext,
    ServiceAccountTokenProjection, TopologySpreadConstraint, Volume, VolumeMount, VolumeProjection,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::skills::{self, SkillsParts};
use super::workload::{AGENT_CONTAINER, Workload, resources};
use super::{Scene, objects, parts};
use crate::api::deployment::{CardProbe, SharedDeployment};

pub(super) const PORT: i32 = 8080;
const CONFIG: &str = "config";
const TOKEN: &str = "kagent-token";
const CARD_PATH: &str = "/.well-known/agent-card.json";
const SANDBOX_PATH: &str = "/config/srt-settings.json";

pub(super) fn pod_spec(
    scene: &Scene<'_>,
    workload: &Workload,
    skills: Option<&SkillsParts>,
    runs_code: bool,
    isolates: bool,
) -> PodSpec {
    let shared = &workload.shared;
    let agent = container(scene, workload, skills.is_some(), runs_code, isolates);
    let containers = [agent]
        .into_iter()
        .chain(shared.extra_containers.iter().flatten().cloned());
    PodSpec {
        service_account_name: Some(workload.service_account(scene)),
        image_pull_secrets: shared.image_pull_secrets.clone(),
        security_context: shared.pod_security_context.clone(),
        init_containers: skills.map(|skills| vec![skills.container.clone()]),
        containers: containers.collect(),
        volumes: Some(volumes(scene, workload, skills)),
        tolerations: shared.tolerations.clone(),
        affinity: shared.affinity.clone(),
        node_selector: shared.node_selector.clone(),
        topology_spread_constraints: spread(scene, shared),
        ..PodSpec::default()
    }
}

fn container(
    scene: &Scene<'_>,
    workload: &Workload,
    has_skills: bool,
    runs_code: bool,
    isolates: bool,
) -> Container {
    let shared = &workload.shared;
    Container {
        name: AGENT_CONTAINER.to_owned(),
        image: Some(workload.image.clone()),
        image_pull_policy: Some(workload.pull_policy.clone()),
        command: workload.command.clone(),
        args: Some(workload.args.clone()),
        working_dir: workload.working_dir.clone(),
        ports: Some(vec![ContainerPort {
            name: Some("http".to_owned()),
            container_port: PORT,
            ..ContainerPort::default()
        }]),
        resources: Some(resources(shared.resources.as_ref())),
        env: Some(env(scene, workload, has_skills, runs_code)),
        env_from: shared.env_from.clone(),
        readiness_probe: Some(probe(workload.probe)),
        liveness_probe: shared.liveness_probe.map(probe),
        startup_probe: shared.startup_probe.map(probe),
        security_context: security_context(shared.security_context.as_ref(), isolates),
        volume_mounts: Some(mounts(workload, has_skills)),
        ..Container::default()
    }
}

/// The author's variables first, then the models', then what every agent is told.
fn env(scene: &Scene<'_>, workload: &Workload, has_skills: bool, runs_code: bool) -> Vec<EnvVar> {
    let settings = scene.settings;
    let mut env: Vec<_> = workload.shared.env.iter().flatten().cloned().collect();
    env.extend(workload.parts.env.iter().cloned());
    env.extend(
        settings
            .telemetry
            .iter()
            .map(|(name, value)| parts::variable(name, value)),
    );
    env.push(own_namespace());
    env.push(parts::variable("KAGENT_NAME", scene.name()));
    env.push(parts::variable("KAGENT_URL", &settings.controller_url));
    env.extend(
        settings
            .ui_url
            .iter()
            .map(|url| parts::variable("KAGENT_UI_URL", url)),
    );
    env.extend(has_skills.then(|| parts::variable("KAGENT_SKILLS_FOLDER", skills::FOLDER)));
    env.extend(runs_code.then(|| parts::variable("KAGENT_SRT_SETTINGS_PATH", SANDBOX_PATH)));
    env
}

fn own_namespace() -> EnvVar {
    let field = ObjectFieldSelector {
        field_path: "metadata.namespace".to_owned(),
        ..ObjectFieldSelector::default()
    };
    let source = EnvVarSource {
        field_ref: Some(field),
        ..EnvVarSource::default()
    };
    EnvVar {
        name: "KAGENT_NAMESPACE".to_owned(),
        value: None,
        value_from: Some(source),
    }
}

fn probe(times: CardProbe) -> Probe {
    Probe {
        http_get: Some(HTTPGetAction {
            path: Some(CARD_PATH.to_owned()),
            port: IntOrString::String("http".to_owned()),
            ..HTTPGetAction::default()
        }),
        initial_delay_seconds: times.initial_delay_seconds,
        timeout_seconds: times.timeout_seconds,
        period_seconds: times.period_seconds,
        failure_threshold: times.failure_threshold,
        ..Probe::default()
    }
}

/// Pods are spread among their like unless the author says among which.
fn spread(scene: &Scene<'_>, shared: &SharedDeployment) -> Option<Vec<TopologySpreadConstraint>> {
    let own = LabelSelector {
        match_labels: Some(objects::selector(scene)),
        ..LabelSelector::default()
    };
    let among = |constraint: &TopologySpreadConstraint| TopologySpreadConstraint {
        label_selector: constraint
            .label_selector
            .clone()
            .or_else(|| Some(own.clone())),
        ..constraint.clone()
    };
    let given = shared.topology_spread_constraints.as_ref();
    given.map(|all| all.iter().map(among).collect())
}

/// Code of others is run in a sandbox, which needs privileges to be set up; not where the author
/// forbids them.
fn security_context(given: Option<&SecurityContext>, isolates: bool) -> Option<SecurityContext> {
    let forbidden = given.is_some_and(|given| given.allow_privilege_escalation == Some(false));
    if !isolates || forbidden {
        return given.cloned();
    }
    Some(SecurityContext {
        privileged: Some(true),
        ..given.cloned().unwrap_or_default()
    })
}

fn volumes(scene: &Scene<'_>, workload: &Workload, skills: Option<&SkillsParts>) -> Vec<Volume> {
    let source = SecretVolumeSource {
        secret_name: Some(scene.name().to_owned()),
        ..SecretVolumeSource::default()
    };
    let mut volumes = vec![Volume {
        secret: Some(source),
        ..named_volume(CONFIG)
    }];
    volumes.extend(workload.shared.volumes.iter().flatten().cloned());
    volumes.extend(workload.parts.volumes.iter().cloned());
    volumes.extend(
        skills
            .into_iter()
            .flat_map(|skills| skills.volumes.iter().cloned()),
    );
    volumes.push(token_volume());
    volumes
}

fn mounts(workload: &Workload, has_skills: bool) -> Vec<VolumeMount> {
    let mut mounts = vec![mount(CONFIG, "/config")];
    mounts.extend(workload.shared.volume_mounts.iter().flatten().cloned());
    mounts.extend(workload.parts.mounts.iter().cloned());
    mounts.extend(has_skills.then(|| read_only(skills::VOLUME, skills::FOLDER)));
    mounts.push(mount(TOKEN, "/var/run/secrets/tokens"));
    mounts
}

fn token_volume() -> Volume {
    let token = ServiceAccountTokenProjection {
        audience: Some("kagent".to_owned()),
        expiration_seconds: Some(3600),
        path: TOKEN.to_owned(),
    };
    let projection = VolumeProjection {
        service_account_token: Some(token),
        ..VolumeProjection::default()
    };
    let source = ProjectedVolumeSource {
        sources: Some(vec![projection]),
        default_mode: None,
    };
    Volume {
        projected: Some(source),
        ..named_volume(TOKEN)
    }
}

/// A volume of which only the name is known.
pub(super) fn named_volume(name: &str) -> Volume {
    Volume {
        name: name.to_owned(),
        ..Volume::default()
    }
}

pub(super) fn mount(volume: &str, path: &str) -> VolumeMount {
    VolumeMount {
        name: volume.to_owned(),
        mount_path: path.to_owned(),
        ..VolumeMount::default()
    }
}

pub(super) fn read_only(volume: &str, path: &str) -> VolumeMount {
    VolumeMount {
        read_only: Some(true),
        ..mount(volume, path)
    }
}
