//! The volumes of a Database: they grow in place and never shrink.
//!
//! A StatefulSet cannot change its claim templates, so growing takes three moves: ask every claim
//! for more, delete the StatefulSet but not its pods, and let the next pass make it again. What is
//! left to do is read from the claims, never from the StatefulSet, so that a crash between the
//! moves forgets nothing.

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::ResourceExt;

use crate::names::{DATABASE, VOLUME};
use crate::quantity::bytes;
use crate::resource::Database;

/// What is to be done about the volumes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Ask this claim for more.
    Grow {
        /// The claim.
        claim: String,
        /// From what.
        from: String,
    },
    /// Delete the StatefulSet and leave its pods alone; it is made again with the new size.
    Recreate,
}

/// What the volumes look like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Storage {
    /// What is to be done now.
    pub steps: Vec<Step>,
    /// Claims whose volume is smaller than what they ask for.
    pub growing: Vec<String>,
    /// The storage class that does not let its volumes grow, when one must.
    pub rigid: Option<String>,
}

/// What is to be done, given the claims and whether a storage class lets its volumes grow.
#[must_use]
pub fn decide(
    database: &Database,
    claims: &[PersistentVolumeClaim],
    servers: Option<&StatefulSet>,
    may_grow: impl Fn(&str) -> bool,
) -> Storage {
    let Some(wanted) = bytes(&database.spec.storage.size) else {
        return Storage::default();
    };
    let mut storage = Storage::default();
    for claim in claims {
        let class = class(claim);
        match smaller(requested(claim), wanted) {
            Some(_) if !may_grow(class) => storage.rigid = Some(class.to_owned()),
            Some(from) => storage.steps.push(Step::Grow {
                claim: claim.name_any(),
                from,
            }),
            None => {}
        }
        if is_growing(claim) {
            storage.growing.push(claim.name_any());
        }
    }
    let asked = storage.steps.is_empty() && storage.rigid.is_none();
    if asked && servers.is_some_and(|servers| smaller(templated(servers), wanted).is_some()) {
        storage.steps.push(Step::Recreate);
    }
    storage
}

/// Whether a volume was made for this Database and belongs to nothing else.
pub(crate) fn is_ours(database: &Database, claim: &PersistentVolumeClaim) -> bool {
    let labelled = claim.labels().get(DATABASE) == database.metadata.name.as_ref();
    labelled && claim.owner_references().is_empty()
}

/// The size, if it is below what is wanted.
fn smaller(size: Option<&str>, wanted: u128) -> Option<String> {
    let size = size?;
    (bytes(size)? < wanted).then(|| size.to_owned())
}

fn requested(claim: &PersistentVolumeClaim) -> Option<&str> {
    let requests = claim.spec.as_ref()?.resources.as_ref()?.requests.as_ref()?;
    Some(requests.get("storage")?.0.as_str())
}

fn capacity(claim: &PersistentVolumeClaim) -> Option<&str> {
    let capacity = claim.status.as_ref()?.capacity.as_ref()?;
    Some(capacity.get("storage")?.0.as_str())
}

/// Whether the volume has not caught up with its claim; one that is not bound yet is not growing.
fn is_growing(claim: &PersistentVolumeClaim) -> bool {
    let (have, want) = (
        capacity(claim).and_then(bytes),
        requested(claim).and_then(bytes),
    );
    matches!((have, want), (Some(have), Some(want)) if have < want)
}

fn class(claim: &PersistentVolumeClaim) -> &str {
    let spec = claim.spec.as_ref();
    spec.and_then(|spec| spec.storage_class_name.as_deref())
        .unwrap_or("")
}

/// The size in the StatefulSet's claim template.
pub(crate) fn templated(servers: &StatefulSet) -> Option<&str> {
    let templates = servers.spec.as_ref()?.volume_claim_templates.as_ref()?;
    let named = |claim: &&PersistentVolumeClaim| claim.metadata.name.as_deref() == Some(VOLUME);
    requested(templates.iter().find(named)?)
}
