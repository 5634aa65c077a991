//! Which changes matter.

use std::sync::Arc;

use kube::Resource;
use kube::api::ObjectMeta;

/// Given an object before and after, tells whether the difference matters.
pub type Predicate<T> = Arc<dyn Fn(Option<&T>, Option<&T>) -> bool + Send + Sync>;

/// Every change matters.
pub fn any_change<T>(_: Option<&T>, _: Option<&T>) -> bool {
    true
}

/// What people declare matters: the spec, labels, annotations, finalizers, deletion. Status does
/// not, so that a controller is not woken by its own report. For kinds without a generation every
/// change matters.
pub fn declared_change<T: Resource>(before: Option<&T>, after: Option<&T>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => declared(before.meta()) != declared(after.meta()),
        _ => true,
    }
}

/// The parts of the metadata that change when people declare something else.
fn declared(meta: &ObjectMeta) -> impl PartialEq + '_ {
    let version = match meta.generation {
        Some(_) => None,
        None => meta.resource_version.as_ref(),
    };
    (
        (&meta.uid, meta.generation, version),
        (&meta.labels, &meta.annotations),
        (&meta.finalizers, &meta.deletion_timestamp),
    )
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Pod};

    use super::*;

    fn pod(generation: i64, version: &str) -> Pod {
        let mut pod = Pod::default();
        pod.metadata.generation = Some(generation);
        pod.metadata.resource_version = Some(version.to_owned());
        pod
    }

    #[test]
    fn a_report_does_not_matter_but_a_finalizer_does() {
        assert!(!declared_change(Some(&pod(1, "1")), Some(&pod(1, "2"))));
        assert!(declared_change(Some(&pod(1, "1")), Some(&pod(2, "2"))));
        let mut held = pod(1, "2");
        held.metadata.finalizers = Some(vec!["ours".to_owned()]);
        assert!(declared_change(Some(&pod(1, "1")), Some(&held)));
        assert!(declared_change(Some(&pod(1, "1")), None));
    }

    #[test]
    fn without_a_generation_every_change_matters() {
        let map = |version: &str| {
            let mut map = ConfigMap::default();
            map.metadata.resource_version = Some(version.to_owned());
            map
        };
        assert!(declared_change(Some(&map("1")), Some(&map("2"))));
    }
}
