//! What else has a say in a write: limits and quotas.
//!
//! ```text
//! write ──▶ mutate: limit ranges ──▶ rules of the kind ──▶ validate: limits ▸ sizes ▸ quotas
//! ```

mod claim;
mod limits;
mod quota;
mod usage;

use serde_json::Value;

use crate::cluster::Cluster;
use crate::registry::ResourceType;
use crate::status::ApiError;

pub(crate) use usage::used;

/// What is to be done with an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
}

/// One write on its way.
pub(crate) struct Act<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) resource: &'a ResourceType,
    pub(crate) subresource: &'a str,
    pub(crate) operation: Operation,
    /// The object before, if there was one.
    pub(crate) old: Option<&'a Value>,
}

impl Act<'_> {
    fn is_about(&self, group: &str, plural: &str) -> bool {
        self.subresource.is_empty() && self.resource.is(group, plural)
    }

    /// Lets those who may change the object do so.
    pub(crate) fn mutate(&self, object: &mut Value) {
        if self.operation == Operation::Create {
            limits::fill_in(self, object);
        }
    }

    /// Asks those who may refuse the object.
    pub(crate) fn validate(&self, object: &Value) -> Result<(), ApiError> {
        limits::check(self, object)?;
        claim::check(self, object)?;
        quota::check(self, object)
    }
}
