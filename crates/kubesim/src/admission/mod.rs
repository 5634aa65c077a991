//! What else has a say in a write: limits, policies, webhooks and quotas.
//!
//! ```text
//! write ──▶ mutate: limits ▸ webhooks ──▶ rules of the kind ──▶ validate: limits ▸ policies ▸ webhooks ▸ quotas
//! ```
//!
//! [`matching`] decides who is asked, and [`question`] what they are told.

mod claim;
mod limits;
mod matching;
mod params;
mod policy;
mod question;
mod quota;
mod usage;
mod webhook;

use serde_json::Value;

use crate::access::User;
use crate::cluster::Cluster;
use crate::registry::ResourceType;
use crate::status::ApiError;

pub(crate) use usage::used;
pub(crate) use webhook::{Court, Summons};

/// What is to be done with an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

impl Operation {
    fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// One write on its way.
pub(crate) struct Act<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) actor: &'a User,
    pub(crate) dry_run: bool,
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

    /// Lets those who may change the object do so; whether it may need its defaults again.
    pub(crate) fn mutate(&self, object: &mut Value) -> Result<bool, ApiError> {
        if self.operation == Operation::Create {
            limits::fill_in(self, object);
        }
        webhook::mutate(self, object)
    }

    /// Asks those who may refuse the object.
    pub(crate) fn validate(&self, object: &Value) -> Result<(), ApiError> {
        limits::check(self, object)?;
        claim::check(self, object)?;
        policy::check(self, Some(object))?;
        webhook::validate(self, Some(object))?;
        quota::check(self, object)
    }

    /// Asks those who may refuse a deletion.
    pub(crate) fn validate_deletion(&self) -> Result<(), ApiError> {
        policy::check(self, None)?;
        webhook::validate(self, None)
    }
}
