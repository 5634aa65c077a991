//! Which server is the primary: the first one, always. The label is what the Services select by.

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;

use crate::names::{Names, ROLE};
use crate::resource::Database;

/// The part that a server plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Takes writes.
    Primary,
    /// Follows the primary.
    Standby,
}

impl Role {
    /// As the label says it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Standby => "standby",
        }
    }
}

/// The pods whose label does not say what they are.
#[must_use]
pub fn unlabelled<'a>(database: &Database, pods: &'a [Pod]) -> Vec<(&'a Pod, Role)> {
    let primary = Names::of(database).pod(0);
    let role = |pod: &Pod| match pod.name_any() == primary {
        true => Role::Primary,
        false => Role::Standby,
    };
    let wrong =
        |pod: &Pod, role: Role| pod.labels().get(ROLE).map(String::as_str) != Some(role.as_str());
    pods.iter()
        .filter(|pod| pod.metadata.deletion_timestamp.is_none())
        .map(|pod| (pod, role(pod)))
        .filter(|(pod, role)| wrong(pod, *role))
        .collect()
}
