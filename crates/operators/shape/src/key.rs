//! What tells one shape from another, here and in the cloud.

use std::cmp::Ordering;
use std::fmt::{self, Display};

/// The uid of a Shape resource, or the id of a cloud shape that belongs to none. The name is for
/// people only.
#[derive(Debug, Clone)]
pub struct ShapeKey {
    id: String,
    name: String,
}

impl ShapeKey {
    /// The shape of the resource with this uid.
    pub(crate) fn of_resource(uid: &str, name: impl Into<String>) -> Self {
        Self {
            id: uid.to_owned(),
            name: name.into(),
        }
    }

    /// The uid of the resource, if it belongs to one.
    pub(crate) fn uid(&self) -> Option<&str> {
        Some(self.id.as_str()).filter(|id| !id.starts_with("cloud:"))
    }

    /// A cloud shape that belongs to no resource.
    pub(crate) fn of_cloud(id: &str, name: &str) -> Self {
        Self {
            id: format!("cloud:{id}"),
            name: format!("{id} ({name})"),
        }
    }
}

impl PartialEq for ShapeKey {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for ShapeKey {}

impl PartialOrd for ShapeKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ShapeKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.id.cmp(&other.id)
    }
}

impl Display for ShapeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
