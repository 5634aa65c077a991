//! Names, labels and annotations: how everything of one Database is called and found.

use std::collections::BTreeMap;

use crate::resource::Database;

/// The annotation by which people ask for a new password: any text that they did not use before.
pub const ROTATE: &str = "evenkeel.io/rotate-password";
/// The finalizer that decides about volumes and credentials.
pub const FINALIZER: &str = "evenkeel.io/database";
/// The label that ties everything to its Database.
pub const DATABASE: &str = "evenkeel.io/database";
/// The label that tells the primary from the standbys.
pub const ROLE: &str = "evenkeel.io/role";
/// The annotation that says which Database made a volume or a Secret, by uid.
pub const MADE_BY: &str = "evenkeel.io/made-by";
/// The annotation of the pod template that changes with the settings.
pub(crate) const SETTINGS_CHECKSUM: &str = "evenkeel.io/settings-checksum";
/// The field manager of the operator.
pub const MANAGER: &str = "evenkeel-database-operator";

/// The volume of each server, as the StatefulSet's claim template calls it.
pub(crate) const VOLUME: &str = "data";
/// The role that standbys clone with.
pub(crate) const REPLICATION_ROLE: &str = "evenkeel_replication";

/// The names of everything that belongs to one Database.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a>(&'a str);

impl<'a> Names<'a> {
    /// Of this Database.
    #[must_use]
    pub fn of(database: &'a Database) -> Self {
        Self(database.metadata.name.as_deref().unwrap_or_default())
    }

    /// StatefulSet, ServiceAccount, disruption budget and the Service of the primary.
    #[must_use]
    pub fn main(self) -> String {
        self.0.to_owned()
    }

    /// The Service that gives each server a name of its own.
    #[must_use]
    pub fn pods(self) -> String {
        format!("{}-pods", self.0)
    }

    /// The Service of the standbys.
    #[must_use]
    pub fn read_only(self) -> String {
        format!("{}-ro", self.0)
    }

    /// The ConfigMap.
    #[must_use]
    pub fn config(self) -> String {
        format!("{}-config", self.0)
    }

    /// The Secret.
    #[must_use]
    pub fn secret(self) -> String {
        format!("{}-credentials", self.0)
    }

    /// The server with this ordinal.
    #[must_use]
    pub fn pod(self, ordinal: i32) -> String {
        format!("{}-{ordinal}", self.0)
    }

    /// The volume of the server with this ordinal.
    #[must_use]
    pub fn claim(self, ordinal: i32) -> String {
        format!("{VOLUME}-{}-{ordinal}", self.0)
    }

    /// Whether a pod of this name would be a server.
    #[must_use]
    pub fn is_pod(self, name: &str) -> bool {
        let ordinal = name
            .strip_prefix(self.0)
            .and_then(|rest| rest.strip_prefix('-'));
        ordinal.is_some_and(|ordinal| ordinal.parse::<u16>().is_ok())
    }

    /// Whether a claim of this name would be the volume of a server.
    #[must_use]
    pub fn is_claim(self, name: &str) -> bool {
        let pod = name
            .strip_prefix(VOLUME)
            .and_then(|rest| rest.strip_prefix('-'));
        pod.is_some_and(|pod| self.is_pod(pod))
    }

    /// The labels by which the pods are selected; they never change.
    #[must_use]
    pub fn selector(self) -> BTreeMap<String, String> {
        BTreeMap::from([(DATABASE.to_owned(), self.0.to_owned())])
    }

    /// The labels of everything.
    #[must_use]
    pub fn labels(self) -> BTreeMap<String, String> {
        let mut labels = self.selector();
        for (key, value) in [
            ("app.kubernetes.io/name", "postgresql"),
            ("app.kubernetes.io/instance", self.0),
            ("app.kubernetes.io/managed-by", "evenkeel"),
        ] {
            labels.insert(key.to_owned(), value.to_owned());
        }
        labels
    }

    /// The selector as text, as the scale subresource wants it.
    #[must_use]
    pub fn selector_text(self) -> String {
        format!("{DATABASE}={}", self.0)
    }
}
