//! How agents check the certificates of others: fields of their configuration, and the Secret with
//! the authorities as a volume.

use k8s_openapi::api::core::v1::{SecretVolumeSource, Volume, VolumeMount};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::parts::PodParts;
use crate::api::tls::TlsConfig;

const VOLUME_PREFIX: &str = "tls-ca-";
const MOUNT_ROOT: &str = "/etc/ssl/certs/custom";
const LABEL_LENGTH: usize = 63;
/// Readable by whoever the container runs as.
const READ_ONLY: i32 = 0o444;

#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct TlsFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_insecure_skip_verify: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_ca_cert_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_disable_system_cas: Option<bool>,
}

/// The Secret and key of the authorities, if both are named.
pub(crate) fn authorities(tls: &TlsConfig) -> Option<(&str, &str)> {
    let set = |text: &'_ Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
    (set(&tls.ca_cert_secret_ref) && set(&tls.ca_cert_secret_key)).then_some((
        tls.ca_cert_secret_ref.as_deref().unwrap_or_default(),
        tls.ca_cert_secret_key.as_deref().unwrap_or_default(),
    ))
}

pub(super) fn fields(tls: Option<&TlsConfig>) -> TlsFields {
    let Some(tls) = tls.filter(|tls| !is_empty(tls)) else {
        return TlsFields::default();
    };
    TlsFields {
        tls_insecure_skip_verify: Some(tls.disable_verify.unwrap_or_default()),
        tls_ca_cert_path: authorities(tls)
            .map(|(secret, key)| format!("{MOUNT_ROOT}/{}/{key}", identity(secret))),
        tls_disable_system_cas: Some(tls.disable_system_cas.unwrap_or_default()),
    }
}

/// A block without an opinion is as good as none.
fn is_empty(tls: &TlsConfig) -> bool {
    let unset = |text: &Option<String>| text.as_deref().unwrap_or_default().is_empty();
    !tls.disable_verify.unwrap_or_default()
        && !tls.disable_system_cas.unwrap_or_default()
        && unset(&tls.ca_cert_secret_ref)
        && unset(&tls.ca_cert_secret_key)
}

/// Mounts the Secret with the authorities, once.
pub(super) fn mount(tls: Option<&TlsConfig>, parts: &mut PodParts) {
    let Some((secret, _)) = tls.and_then(authorities) else {
        return;
    };
    let identity = identity(secret);
    let name = format!("{VOLUME_PREFIX}{identity}");
    let source = SecretVolumeSource {
        secret_name: Some(secret.to_owned()),
        default_mode: Some(READ_ONLY),
        ..SecretVolumeSource::default()
    };
    parts.add_volume(Volume {
        name: name.clone(),
        secret: Some(source),
        ..Volume::default()
    });
    parts.add_mount(VolumeMount {
        name,
        mount_path: format!("{MOUNT_ROOT}/{identity}"),
        read_only: Some(true),
        ..VolumeMount::default()
    });
}

/// The Secret's name where it may be part of the name of a volume, else a hash of it.
fn identity(secret: &str) -> String {
    if secret.len() + VOLUME_PREFIX.len() <= LABEL_LENGTH && is_label_end(secret) {
        return secret.to_owned();
    }
    hex::encode(&Sha256::digest(secret)[..4])
}

/// Whether a label may end in this text.
fn is_label_end(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.chars().all(|c| plain(c) || c == '-') && text.ends_with(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_labels_are_hashed() {
        assert_eq!(identity("corp-ca"), "corp-ca");
        let hashed = hex::encode(Sha256::digest("corp.ca"));
        assert_eq!(identity("corp.ca"), hashed[..8]);
        assert_eq!(identity(&"a".repeat(56)), "a".repeat(56));
        assert_eq!(identity(&"a".repeat(57)).len(), 8);
    }
}
