//! ShapeRefs whose Shape is gone: the deletion was missed, or somebody took the finalizer off.

use std::sync::Arc;

use evenkeel_controller::{Context, Key, Outcome, Ran, Reconciler};
use kube::Api;

use crate::error::Error;
use crate::keeper::Keeper;
use crate::notebook::Notebook;
use crate::resource::{Shape, ShapeRef};
use crate::subject::Subject;

/// Resolves ShapeRefs whose Shape is gone.
#[derive(Debug, Clone)]
pub struct Dangling(pub(crate) Keeper);

/// Which Shape a ShapeRef is of, in the words of Kubernetes.
pub(crate) fn shape_of(known: &ShapeRef) -> Key {
    Key::of(known).beside(&known.spec.shape.name)
}

impl Reconciler for Dangling {
    type Kind = ShapeRef;
    type Error = Error;

    async fn reconcile(&self, known: Arc<ShapeRef>, cx: Context) -> Ran<Error> {
        if self.has_shape(&known, &cx).await? {
            return Ok(Outcome::Done);
        }
        let (subject, on_delete) = (Subject::left_behind(&known), known.spec.deletion_policy);
        let page = Arc::unwrap_or_clone(known);
        let notebook = Notebook::in_ref(cx.clone(), &subject, on_delete, Some(page));
        let world = self.0.world(&subject, &notebook, &cx);
        if !self.0.is_cleared(&world, on_delete).await? {
            return Ok(Outcome::wait("the cloud's shape to be gone"));
        }
        notebook.forget().await?;
        Ok(Outcome::Done)
    }
}

impl Dangling {
    /// Whether the Shape exists: by what is known, and if not, by what the server itself says.
    async fn has_shape(&self, known: &ShapeRef, cx: &Context) -> Result<bool, Error> {
        let key = shape_of(known);
        let is_it = |shape: &Shape| shape.metadata.uid.as_ref() == Some(&known.spec.shape.uid);
        if cx
            .known::<Shape>()?
            .get(&key)
            .is_some_and(|shape| is_it(&shape))
        {
            return Ok(true);
        }
        let namespace = key.namespace.as_deref().unwrap_or_default();
        let shapes: Api<Shape> = Api::namespaced(cx.client().clone(), namespace);
        let shape = shapes.get_opt(&key.name).await;
        let shape = shape.map_err(evenkeel_controller::Error::kube(format!(
            "look at Shape {key}"
        )))?;
        Ok(shape.is_some_and(|shape| is_it(&shape)))
    }
}
