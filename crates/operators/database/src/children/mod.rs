//! What a Database becomes: a pure function from the resource to the objects that it owns.
//!
//! ```text
//! Database ─▶ ServiceAccount, ConfigMap, Services, StatefulSet, PodDisruptionBudget
//! ```
//!
//! The Secret and the volumes are not here: they outlive the Database when the policy says so,
//! and the Secret is made once ([`crate::credentials`], [`crate::storage`]).

mod account;
mod budget;
pub(crate) mod config;
mod services;
mod stateful_set;

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{ConfigMap, Service, ServiceAccount};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::api::ObjectMeta;
use serde_json::Value;

use crate::names::Names;
use crate::resource::Database;

/// Everything that a Database owns.
#[derive(Debug, Clone, PartialEq)]
pub struct Children {
    /// The identity of the pods; it has no rights.
    pub account: ServiceAccount,
    /// Settings, access rules and the start script.
    pub config: ConfigMap,
    /// A name for each server.
    pub pods: Service,
    /// The way to the primary.
    pub primary: Service,
    /// The way to the standbys, if there can be any.
    pub read_only: Option<Service>,
    /// The servers.
    pub servers: StatefulSet,
    /// The limit for drains.
    pub budget: Option<PodDisruptionBudget>,
}

impl Children {
    /// What this Database becomes.
    #[must_use]
    pub fn of(database: &Database) -> Self {
        let config = config::config(database);
        Self {
            account: account::account(database),
            pods: services::pods(database),
            primary: services::primary(database),
            read_only: services::read_only(database),
            servers: stateful_set::servers(database, &config),
            budget: budget::budget(database),
            config,
        }
    }

    /// All of them as Kubernetes documents, in the order in which they are needed.
    ///
    /// # Errors
    /// Never for objects that were built here; the types allow numbers that JSON has no form for.
    pub fn documents(&self) -> Result<Vec<Value>, serde_json::Error> {
        let mut documents = vec![
            serde_json::to_value(&self.account)?,
            serde_json::to_value(&self.config)?,
            serde_json::to_value(&self.pods)?,
            serde_json::to_value(&self.primary)?,
        ];
        if let Some(read_only) = &self.read_only {
            documents.push(serde_json::to_value(read_only)?);
        }
        documents.push(serde_json::to_value(&self.servers)?);
        if let Some(budget) = &self.budget {
            documents.push(serde_json::to_value(budget)?);
        }
        Ok(documents)
    }
}

/// The metadata of a child with this name.
fn named(database: &Database, name: String) -> ObjectMeta {
    ObjectMeta {
        name: Some(name),
        namespace: database.metadata.namespace.clone(),
        labels: Some(Names::of(database).labels()),
        ..ObjectMeta::default()
    }
}
