//! When pods are restarted: when the hash of what they were started with differs.

use sha2::{Digest, Sha256};

/// Hashes of the Secrets behind models and servers, each with a name for people.
#[derive(Debug, Clone, Default)]
pub(super) struct Secrets(Vec<(String, Vec<u8>)>);

impl Secrets {
    pub(super) fn add(&mut self, name: String, hash: Vec<u8>) {
        if !hash.is_empty() {
            self.0.push((name, hash));
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0
            .iter()
            .map(|(name, hash)| (name.as_str(), hash.as_slice()))
    }

    fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|(_, hash)| hash.as_slice())
    }
}

/// The files that pods read at their start.
pub(super) struct Files<'a> {
    pub(super) config: &'a str,
    pub(super) card: &'a str,
    pub(super) sandbox: Option<&'a str>,
    pub(super) skills: Option<&'a str>,
}

/// The hash of everything that pods read at their start, as a decimal number.
pub(super) fn of(files: &Files<'_>, secrets: &Secrets) -> String {
    let mut hasher = Sha256::new();
    hasher.update(files.config);
    hasher.update(files.card);
    secrets.bytes().for_each(|hash| hasher.update(hash));
    hasher.update(files.sandbox.unwrap_or_default());
    hasher.update(files.skills.unwrap_or_default());
    let digest: [u8; 32] = hasher.finalize().into();
    let first = digest.first_chunk().copied().unwrap_or_default();
    u64::from_be_bytes(first).to_string()
}
