//! Fields that an endpoint does not write: the main one leaves the status alone, the status one
//! the rest. Whoever sends them anyway neither changes nor owns them.

use std::sync::LazyLock;

use super::set::FieldSet;

/// The fields that an endpoint resets to what they were.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResetFields(FieldSet);

static NONE: LazyLock<ResetFields> = LazyLock::new(ResetFields::default);
static STATUS: LazyLock<ResetFields> = LazyLock::new(|| of([&["status"]]));
static SPEC: LazyLock<ResetFields> = LazyLock::new(|| of([&["spec"]]));
static SPEC_AND_STATUS: LazyLock<ResetFields> = LazyLock::new(|| of([&["spec"], &["status"]]));
static SPEC_AND_METADATA: LazyLock<ResetFields> = LazyLock::new(|| of([&["spec"], &["metadata"]]));
static SPEC_AND_LABELS: LazyLock<ResetFields> =
    LazyLock::new(|| of([&["spec"], &["metadata", "labels"]]));
static POD_STATUS: LazyLock<ResetFields> = LazyLock::new(|| {
    of([
        &["spec"],
        &["metadata", "deletionTimestamp"],
        &["metadata", "ownerReferences"],
    ])
});

fn of<const N: usize>(paths: [&[&str]; N]) -> ResetFields {
    ResetFields(FieldSet::of_fields(paths))
}

impl ResetFields {
    /// What an endpoint of a built-in resource resets. `subresource` is empty for the main one;
    /// `has_status` says whether the resource has a status endpoint.
    pub fn built_in(
        group: &str,
        resource: &str,
        subresource: &str,
        has_status: bool,
    ) -> &'static Self {
        match (group, resource, subresource) {
            ("certificates.k8s.io", "certificatesigningrequests", "") => &SPEC_AND_STATUS,
            (_, _, "") if has_status => &STATUS,
            ("", "namespaces", "finalize") => &STATUS,
            ("", "pods", "status") => &POD_STATUS,
            ("apps", "deployments", "status") => &SPEC_AND_LABELS,
            (
                "flowcontrol.apiserver.k8s.io"
                | "internal.apiserver.k8s.io"
                | "resource.k8s.io"
                | "storagemigration.k8s.io",
                _,
                "status",
            )
            | ("networking.k8s.io", "servicecidrs", "status")
            | ("storage.k8s.io", "volumeattachments", "status") => &SPEC_AND_METADATA,
            (_, _, "status") => &SPEC,
            _ => &NONE,
        }
    }

    /// What an endpoint of a custom resource resets.
    pub fn custom(subresource: &str, has_status: bool) -> &'static Self {
        match subresource {
            "" if has_status => &STATUS,
            "status" => &SPEC_AND_METADATA,
            _ => &NONE,
        }
    }

    /// Nothing: everything sent is written.
    pub fn none() -> &'static Self {
        &NONE
    }

    /// The set without what is reset.
    pub(crate) fn filter(&self, set: FieldSet) -> FieldSet {
        if self.0.is_empty() || set.is_empty() {
            set
        } else {
            set.difference_deep(&self.0)
        }
    }
}
