//! What a resource does with an object on its way into the store: the same five steps for
//! built-in kinds and custom resources.

use std::sync::Arc;

use serde_json::Value;

use crate::field_error::FieldError;
use crate::schema::Schema;

/// How one resource prepares and judges its objects.
///
/// `default` runs on what a client sent (or on the merged result of a patch), then one of the
/// `prepare` steps, then the matching `validate` step. The steps expect `metadata` to have been
/// completed (name, namespace, uid) and never touch `managedFields` or `resourceVersion`.
pub trait Strategy: Send + Sync {
    /// The type of the objects.
    fn schema(&self) -> Arc<Schema>;

    /// Brings the object into the form that the server's types give it, then fills in defaults.
    fn default(&self, object: &mut Value);

    /// Drops what a creator may not set, sets the first generation, allocates what is to be
    /// allocated.
    fn prepare_create(&self, object: &mut Value, around: &dyn Surroundings);

    /// Keeps the parts of the old object that this request may not change, and counts the
    /// generation.
    fn prepare_update(&self, part: Part, new: &mut Value, old: &Value, around: &dyn Surroundings);

    /// Everything wrong with a new object, its metadata included.
    fn validate_create(&self, object: &Value) -> Vec<FieldError>;

    /// Everything wrong with a changed object, its metadata included.
    fn validate_update(&self, part: Part, new: &Value, old: &Value) -> Vec<FieldError>;

    /// What a client is told of an object that was accepted; `old` is nothing for a create.
    fn warnings(&self, _new: &Value, _old: Option<&Value>) -> Vec<String> {
        Vec::new()
    }
}

/// The part of an object that a request writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The object itself: all but the status, where the status is a subresource.
    Main,
    /// The `status` subresource.
    Status,
}

/// What preparation may ask of the cluster around the object.
pub trait Surroundings {
    /// All objects of a built-in resource, in any order.
    fn objects(&self, group: &str, resource: &str) -> Vec<Arc<Value>>;
}

/// An empty cluster.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Surroundings for Nothing {
    fn objects(&self, _group: &str, _resource: &str) -> Vec<Arc<Value>> {
        Vec::new()
    }
}
