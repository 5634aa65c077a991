//! Objects of a cluster, as agents speak of them: which one, what was done to it, how it is doing.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::HealthStatus;
use crate::word::words;

/// Names one object of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
pub struct ObjectKey {
    /// Its API group; empty for the core group.
    #[serde(default)]
    pub group: String,
    /// Its kind.
    pub kind: String,
    /// Its namespace; absent for what belongs to the whole cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

words! {
    /// What an attempt did to an object.
    ObjectAction as "action on an object" {
        /// It was made.
        Created = "created",
        /// It was changed.
        Updated = "updated",
        /// It was as it should be.
        Unchanged = "unchanged",
        /// It existed, and belongs to the stack from now on.
        Adopted = "adopted",
        /// It was removed.
        Deleted = "deleted",
        /// It was left although it is no longer wanted; the reason says why.
        Kept = "kept",
        /// It was not touched because it is somebody else's.
        Refused = "refused",
        /// Its removal waits for somebody's word.
        Held = "held",
        /// It could not be made so; the reason says why.
        Failed = "failed",
    }
}

/// What an attempt did to one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ObjectChange {
    /// Which object.
    #[serde(flatten)]
    pub object: ObjectKey,
    /// What was done.
    pub action: ObjectAction,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How one object of a cluster is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ObjectHealth {
    /// Which object.
    #[serde(flatten)]
    pub object: ObjectKey,
    /// How it is doing.
    pub status: HealthStatus,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}
