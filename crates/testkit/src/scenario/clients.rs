//! Who talks to a cluster.

use kube::Client;

use crate::real::{RealCluster, RealClusterError, User};

/// The clients of one cluster, one per user.
#[derive(Clone)]
pub struct Clients {
    /// All rights.
    pub admin: Client,
    /// A user without rights.
    pub agent: Client,
    /// No user.
    pub anonymous: Client,
}

impl std::fmt::Debug for Clients {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clients")
    }
}

impl Clients {
    /// The clients of a real cluster.
    pub async fn of_real(cluster: &RealCluster) -> Result<Self, RealClusterError> {
        Ok(Self {
            admin: cluster.raw_client(User::Admin).await?,
            agent: cluster.raw_client(User::Agent).await?,
            anonymous: cluster.raw_client(User::Anonymous).await?,
        })
    }

    /// The clients of a new simulated cluster, which knows no users.
    pub fn of_simulated() -> Self {
        let cluster = evenkeel_kubesim::Cluster::new();
        let client = |user| Client::new(cluster.view(user), "default");
        Self {
            admin: client("admin"),
            agent: client("agent"),
            anonymous: client("anonymous"),
        }
    }

    pub(super) fn of(&self, user: User) -> &Client {
        match user {
            User::Admin => &self.admin,
            User::Agent => &self.agent,
            User::Anonymous => &self.anonymous,
        }
    }
}
