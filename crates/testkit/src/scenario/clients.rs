//! Who talks to a cluster.

use evenkeel_kubesim::Workloads;
use kube::Client;

use super::model::Scenario;

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

    /// The clients of a new simulated cluster without rights and workloads.
    pub fn of_simulated() -> Self {
        Self::of(&evenkeel_kubesim::Cluster::new())
    }

    /// The clients of a new simulated cluster that can do what a scenario takes.
    pub fn for_scenario(scenario: &Scenario) -> Self {
        let mut builder = evenkeel_kubesim::Cluster::builder();
        if scenario.has_users() {
            builder = builder.rights();
        }
        if scenario.workloads {
            builder = builder.workloads(Workloads::instant());
        }
        Self::of(&builder.build())
    }

    fn of(cluster: &evenkeel_kubesim::Cluster) -> Self {
        let agent = evenkeel_kubesim::User::named("agent");
        Self {
            admin: Client::new(cluster.view("admin"), "default"),
            agent: Client::new(cluster.view_as(agent), "default"),
            anonymous: Client::new(cluster.entrance(), "default"),
        }
    }

    pub(super) fn who(&self, user: User) -> &Client {
        match user {
            User::Admin => &self.admin,
            User::Agent => &self.agent,
            User::Anonymous => &self.anonymous,
        }
    }
}
