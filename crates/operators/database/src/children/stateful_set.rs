//! The servers: one StatefulSet, whose first pod is the primary.
//!
//! The pod template depends on the Database alone. Nothing of the operator (its version, its
//! image) may enter it, or an upgrade of the operator would restart every database; golden files
//! hold that down.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{
    StatefulSet, StatefulSetPersistentVolumeClaimRetentionPolicy, StatefulSetSpec,
};
use k8s_openapi::api::core::v1::{
    Affinity, ConfigMap, ConfigMapVolumeSource, Container, ContainerPort, EmptyDirVolumeSource,
    EnvVar, EnvVarSource, ExecAction, ObjectFieldSelector, PersistentVolumeClaim,
    PersistentVolumeClaimSpec, PodAffinityTerm, PodAntiAffinity, PodSecurityContext, PodSpec,
    PodTemplateSpec, Probe, SecretVolumeSource, SecurityContext, Volume, VolumeMount,
    VolumeResourceRequirements, WeightedPodAffinityTerm,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::api::ObjectMeta;

use crate::children::{config, named, services};
use crate::names::{Names, SETTINGS_CHECKSUM, VOLUME};
use crate::resource::{Database, Image, ProbeTiming};

/// The user of the official Debian image.
const POSTGRES_USER: i64 = 999;
const DATA_DIR: &str = "/var/lib/postgresql/data";
const CONFIG_DIR: &str = "/etc/evenkeel/config";
const CREDENTIALS_DIR: &str = "/etc/evenkeel/credentials";
const RUN_DIR: &str = "/run/evenkeel";

/// The StatefulSet of a Database.
pub(super) fn servers(database: &Database, config: &ConfigMap) -> StatefulSet {
    let names = Names::of(database);
    StatefulSet {
        metadata: named(database, names.main()),
        spec: Some(StatefulSetSpec {
            replicas: Some(database.wanted_servers()),
            service_name: Some(names.pods()),
            selector: LabelSelector {
                match_labels: Some(names.selector()),
                ..LabelSelector::default()
            },
            template: template(database, config),
            volume_claim_templates: Some(vec![claim(database)]),
            // Volumes go by the Database's policy, never because a StatefulSet went.
            persistent_volume_claim_retention_policy: Some(
                StatefulSetPersistentVolumeClaimRetentionPolicy {
                    when_deleted: Some("Retain".to_owned()),
                    when_scaled: Some("Retain".to_owned()),
                },
            ),
            ..StatefulSetSpec::default()
        }),
        status: None,
    }
}

fn template(database: &Database, config: &ConfigMap) -> PodTemplateSpec {
    let mut labels = database.spec.pod_labels.clone();
    labels.extend(Names::of(database).labels());
    let mut annotations = database.spec.pod_annotations.clone();
    annotations.insert(SETTINGS_CHECKSUM.to_owned(), config::checksum(config));
    PodTemplateSpec {
        metadata: Some(ObjectMeta {
            labels: Some(labels),
            annotations: Some(annotations),
            ..ObjectMeta::default()
        }),
        spec: Some(pod(database)),
    }
}

fn pod(database: &Database) -> PodSpec {
    let spec = &database.spec;
    let image = spec.image.clone().unwrap_or_default();
    PodSpec {
        service_account_name: Some(Names::of(database).main()),
        automount_service_account_token: Some(false),
        security_context: Some(pod_security(&image)),
        // A clean shutdown writes a checkpoint, which may take its time.
        termination_grace_period_seconds: Some(120),
        containers: vec![container(database, &image)],
        volumes: Some(volumes(database)),
        node_selector: some_map(&spec.node_selector),
        tolerations: Some(spec.tolerations.clone()).filter(|all| !all.is_empty()),
        affinity: Some(spec.affinity.clone().unwrap_or_else(|| apart(database))),
        image_pull_secrets: Some(image.pull_secrets).filter(|all| !all.is_empty()),
        ..PodSpec::default()
    }
}

fn some_map(map: &BTreeMap<String, String>) -> Option<BTreeMap<String, String>> {
    Some(map.clone()).filter(|map| !map.is_empty())
}

fn container(database: &Database, image: &Image) -> Container {
    let official = || format!("docker.io/library/postgres:{}", database.spec.version);
    Container {
        name: "postgresql".to_owned(),
        image: Some(image.name.clone().unwrap_or_else(official)),
        image_pull_policy: image.pull_policy.map(|policy| policy.as_str().to_owned()),
        command: Some(vec!["sh".to_owned(), format!("{CONFIG_DIR}/start.sh")]),
        env: Some(environment(database)),
        ports: Some(vec![ContainerPort {
            name: Some(services::PORT.to_owned()),
            container_port: database.spec.port,
            protocol: Some("TCP".to_owned()),
            ..ContainerPort::default()
        }]),
        resources: database.spec.resources.clone(),
        security_context: Some(container_security()),
        volume_mounts: Some(mounts()),
        startup_probe: Some(probe(database, startup_timing(database))),
        liveness_probe: Some(probe(database, liveness_timing(database))),
        readiness_probe: Some(probe(database, readiness_timing(database))),
        ..Container::default()
    }
}

/// What the start script is told.
fn environment(database: &Database) -> Vec<EnvVar> {
    let names = Names::of(database);
    let primary = format!("{}.{}", names.pod(0), names.pods());
    let told = [
        ("PGDATA", format!("{DATA_DIR}/pgdata")),
        ("PGPORT", database.spec.port.to_string()),
        ("DATABASE_NAME", database.spec.database.clone()),
        ("DATABASE_OWNER", database.spec.owner.clone()),
        ("PRIMARY_HOST", primary),
        ("CONFIG_DIR", CONFIG_DIR.to_owned()),
        ("CREDENTIALS_DIR", CREDENTIALS_DIR.to_owned()),
        ("RUN_DIR", RUN_DIR.to_owned()),
    ];
    let mut variables = vec![pod_name()];
    variables.extend(told.map(|(name, value)| EnvVar {
        name: name.to_owned(),
        value: Some(value),
        ..EnvVar::default()
    }));
    variables
}

fn pod_name() -> EnvVar {
    EnvVar {
        name: "POD_NAME".to_owned(),
        value_from: Some(EnvVarSource {
            field_ref: Some(ObjectFieldSelector {
                api_version: Some("v1".to_owned()),
                field_path: "metadata.name".to_owned(),
            }),
            ..EnvVarSource::default()
        }),
        ..EnvVar::default()
    }
}

fn mounts() -> Vec<VolumeMount> {
    let mount = |name: &str, path: &str, read_only: bool| VolumeMount {
        name: name.to_owned(),
        mount_path: path.to_owned(),
        read_only: read_only.then_some(true),
        ..VolumeMount::default()
    };
    vec![
        mount(VOLUME, DATA_DIR, false),
        mount("config", CONFIG_DIR, true),
        mount("credentials", CREDENTIALS_DIR, true),
        mount("run", RUN_DIR, false),
    ]
}

fn volumes(database: &Database) -> Vec<Volume> {
    let names = Names::of(database);
    vec![
        Volume {
            name: "config".to_owned(),
            config_map: Some(ConfigMapVolumeSource {
                name: names.config(),
                ..ConfigMapVolumeSource::default()
            }),
            ..Volume::default()
        },
        Volume {
            name: "credentials".to_owned(),
            secret: Some(SecretVolumeSource {
                secret_name: Some(names.secret()),
                default_mode: Some(0o440),
                ..SecretVolumeSource::default()
            }),
            ..Volume::default()
        },
        Volume {
            name: "run".to_owned(),
            empty_dir: Some(EmptyDirVolumeSource::default()),
            ..Volume::default()
        },
    ]
}

fn claim(database: &Database) -> PersistentVolumeClaim {
    let storage = &database.spec.storage;
    PersistentVolumeClaim {
        metadata: ObjectMeta {
            name: Some(VOLUME.to_owned()),
            labels: Some(Names::of(database).selector()),
            ..ObjectMeta::default()
        },
        spec: Some(PersistentVolumeClaimSpec {
            access_modes: Some(vec![storage.access_mode.as_str().to_owned()]),
            storage_class_name: storage.class.clone(),
            resources: Some(VolumeResourceRequirements {
                requests: Some(BTreeMap::from([(
                    "storage".to_owned(),
                    Quantity(storage.size.clone()),
                )])),
                limits: None,
            }),
            ..PersistentVolumeClaimSpec::default()
        }),
        status: None,
    }
}

fn probe(database: &Database, timing: ProbeTiming) -> Probe {
    let port = database.spec.port;
    Probe {
        exec: Some(ExecAction {
            command: Some(
                [
                    "pg_isready",
                    "-q",
                    "-h",
                    RUN_DIR,
                    "-U",
                    "postgres",
                    "-p",
                    &port.to_string(),
                ]
                .map(str::to_owned)
                .to_vec(),
            ),
        }),
        initial_delay_seconds: timing.initial_delay_seconds,
        period_seconds: timing.period_seconds,
        timeout_seconds: timing.timeout_seconds,
        failure_threshold: timing.failure_threshold,
        ..Probe::default()
    }
}

/// An hour to recover or to clone, unless people know better.
fn startup_timing(database: &Database) -> ProbeTiming {
    let wish = database
        .spec
        .probes
        .as_ref()
        .and_then(|probes| probes.startup);
    over(wish, 5, 720)
}

fn liveness_timing(database: &Database) -> ProbeTiming {
    let wish = database
        .spec
        .probes
        .as_ref()
        .and_then(|probes| probes.liveness);
    over(wish, 10, 6)
}

fn readiness_timing(database: &Database) -> ProbeTiming {
    let wish = database
        .spec
        .probes
        .as_ref()
        .and_then(|probes| probes.readiness);
    over(wish, 5, 3)
}

fn over(wish: Option<ProbeTiming>, period: i32, failures: i32) -> ProbeTiming {
    let wish = wish.unwrap_or_default();
    ProbeTiming {
        initial_delay_seconds: wish.initial_delay_seconds,
        period_seconds: wish.period_seconds.or(Some(period)),
        timeout_seconds: wish.timeout_seconds.or(Some(5)),
        failure_threshold: wish.failure_threshold.or(Some(failures)),
    }
}

fn pod_security(image: &Image) -> PodSecurityContext {
    let user = image.run_as_user.unwrap_or(POSTGRES_USER);
    PodSecurityContext {
        run_as_non_root: Some(true),
        run_as_user: Some(user),
        run_as_group: Some(user),
        fs_group: Some(user),
        fs_group_change_policy: Some("OnRootMismatch".to_owned()),
        ..PodSecurityContext::default()
    }
}

fn container_security() -> SecurityContext {
    SecurityContext {
        allow_privilege_escalation: Some(false),
        capabilities: Some(k8s_openapi::api::core::v1::Capabilities {
            drop: Some(vec!["ALL".to_owned()]),
            add: None,
        }),
        ..SecurityContext::default()
    }
}

/// Rather not two servers on one node.
fn apart(database: &Database) -> Affinity {
    Affinity {
        pod_anti_affinity: Some(PodAntiAffinity {
            preferred_during_scheduling_ignored_during_execution: Some(vec![
                WeightedPodAffinityTerm {
                    weight: 100,
                    pod_affinity_term: PodAffinityTerm {
                        topology_key: "kubernetes.io/hostname".to_owned(),
                        label_selector: Some(LabelSelector {
                            match_labels: Some(Names::of(database).selector()),
                            ..LabelSelector::default()
                        }),
                        ..PodAffinityTerm::default()
                    },
                },
            ]),
            ..PodAntiAffinity::default()
        }),
        ..Affinity::default()
    }
}
