//! The identity of the pods.

use k8s_openapi::api::core::v1::ServiceAccount;

use crate::children::named;
use crate::names::Names;
use crate::resource::Database;

/// An account without rights: the servers never talk to Kubernetes.
pub(super) fn account(database: &Database) -> ServiceAccount {
    ServiceAccount {
        metadata: named(database, Names::of(database).main()),
        automount_service_account_token: Some(false),
        ..ServiceAccount::default()
    }
}
