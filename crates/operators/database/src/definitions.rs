//! The definitions that the operator needs in a cluster.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

use crate::resource::Database;

/// The definitions of the resources that the operator serves.
#[must_use]
pub fn definitions() -> Vec<CustomResourceDefinition> {
    vec![Database::crd()]
}
