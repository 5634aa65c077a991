//! What models and servers add to a pod.

use k8s_openapi::api::core::v1::{EnvVar, EnvVarSource, SecretKeySelector, Volume, VolumeMount};

/// Variables, volumes and mounts; the first of a name stays.
#[derive(Debug, Clone, Default)]
pub(crate) struct PodParts {
    pub(crate) env: Vec<EnvVar>,
    pub(crate) volumes: Vec<Volume>,
    pub(crate) mounts: Vec<VolumeMount>,
}

impl PodParts {
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.env.push(variable(name, value));
    }

    pub(super) fn set_from_secret(&mut self, name: &str, secret: &str, key: &str) {
        self.env.push(from_secret(name, secret, key));
    }

    pub(super) fn add_volume(&mut self, volume: Volume) {
        if self.volumes.iter().all(|known| known.name != volume.name) {
            self.volumes.push(volume);
        }
    }

    pub(super) fn add_mount(&mut self, mount: VolumeMount) {
        let same =
            |known: &VolumeMount| known.name == mount.name && known.mount_path == mount.mount_path;
        if !self.mounts.iter().any(same) {
            self.mounts.push(mount);
        }
    }

    /// Takes in what is not there yet.
    pub(super) fn merge(&mut self, other: Self) {
        for variable in other.env {
            if self.env.iter().all(|known| known.name != variable.name) {
                self.env.push(variable);
            }
        }
        other
            .volumes
            .into_iter()
            .for_each(|volume| self.add_volume(volume));
        other
            .mounts
            .into_iter()
            .for_each(|mount| self.add_mount(mount));
    }
}

pub(super) fn variable(name: &str, value: impl Into<String>) -> EnvVar {
    EnvVar {
        name: name.to_owned(),
        value: Some(value.into()),
        ..EnvVar::default()
    }
}

fn from_secret(name: &str, secret: &str, key: &str) -> EnvVar {
    let selector = SecretKeySelector {
        name: secret.to_owned(),
        key: key.to_owned(),
        optional: None,
    };
    let source = EnvVarSource {
        secret_key_ref: Some(selector),
        ..EnvVarSource::default()
    };
    EnvVar {
        name: name.to_owned(),
        value: None,
        value_from: Some(source),
    }
}
