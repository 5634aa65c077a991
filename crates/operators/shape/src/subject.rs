//! The one shape that a run is about, whether its resource still exists or only a checkpoint.

use evenkeel_controller::Key;

use crate::checkpoint::Checkpoint;
use crate::key::ShapeKey;
use crate::resource::{Shape, ShapeRef};

/// The one shape that a run is about.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) uid: String,
    pub(crate) key: Key,
    pub(crate) adopt: Option<String>,
    pub(crate) checkpoint: Option<Checkpoint>,
}

impl Subject {
    /// The shape that a resource declares; a ShapeRef knows better how far it has come.
    pub(crate) fn of(shape: &Shape, known: Option<&ShapeRef>) -> Self {
        let told = || shape.status.as_ref()?.checkpoint.clone();
        Self {
            uid: shape.metadata.uid.clone().unwrap_or_default(),
            key: Key::of(shape),
            adopt: shape.spec.adopt.clone(),
            checkpoint: known
                .map(|known| known.spec.checkpoint.clone())
                .or_else(told),
        }
    }

    /// The shape of a resource that is gone.
    pub(crate) fn left_behind(known: &ShapeRef) -> Self {
        Self {
            uid: known.spec.shape.uid.clone(),
            key: Key::of(known).beside(&known.spec.shape.name),
            adopt: None,
            checkpoint: Some(known.spec.checkpoint.clone()),
        }
    }

    /// For the engine.
    pub(crate) fn shape_key(&self) -> ShapeKey {
        ShapeKey::of_resource(&self.uid, self.key.to_string())
    }

    /// Namespace and name as the cloud's names write them.
    pub(crate) fn path(&self) -> String {
        let namespace = self.key.namespace.as_deref().unwrap_or_default();
        format!("{namespace}.{}", self.key.name)
    }

    /// The id of the shape that was made for it last.
    pub(crate) fn recorded_id(&self) -> Option<&str> {
        self.checkpoint.as_ref()?.id.as_deref()
    }
}
