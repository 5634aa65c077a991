//! What a cluster shall consist of.

use std::path::Path;

use crate::access::{Rights, User};
use crate::ambient::Ambient;
use crate::cluster::{Cluster, Pace};
use crate::store::{FileError, Store};
use crate::workloads::Workloads;

/// Describes a cluster. What is not asked for is not there: a plain cluster is an API server
/// with the few controllers without which the API makes no sense.
#[derive(Debug, Clone, Default)]
pub struct ClusterBuilder {
    pub(crate) ambient: Ambient,
    pub(crate) pace: Pace,
    pub(crate) workloads: Option<Workloads>,
    pub(crate) rights: Option<Rights>,
}

impl ClusterBuilder {
    /// This clock and these dice.
    #[must_use]
    pub fn ambient(mut self, ambient: Ambient) -> Self {
        self.ambient = ambient;
        self
    }

    /// When controllers do their work.
    #[must_use]
    pub fn pace(mut self, pace: Pace) -> Self {
        self.pace = pace;
        self
    }

    /// Also nodes, and the controllers that make workloads run on them. Call it inside a tokio
    /// runtime: what takes time is done there.
    #[must_use]
    pub fn workloads(mut self, workloads: Workloads) -> Self {
        self.workloads = Some(workloads);
        self
    }

    /// Everybody has to say who they are, and may do what roles allow them. Without this,
    /// everybody may do everything.
    #[must_use]
    pub fn rights(mut self) -> Self {
        self.rights.get_or_insert_default();
        self
    }

    /// With rights, of which this token gives the bearer those of `user`.
    #[must_use]
    pub fn token(mut self, token: &str, user: User) -> Self {
        let rights = self.rights.get_or_insert_default();
        rights.tokens.insert(token.to_owned(), user);
        self
    }

    /// The cluster, empty and in memory.
    pub fn build(self) -> Cluster {
        self.over(Store::new())
    }

    /// The cluster that the file at `path` keeps; an empty one when there is no file yet.
    pub fn open(self, path: &Path) -> Result<Cluster, FileError> {
        Ok(self.over(Store::open(path)?))
    }

    /// The cluster whose objects are in `store`.
    pub fn over(self, store: Store) -> Cluster {
        Cluster::make(self, store)
    }
}
