//! Requests for one object of any kind, and the finalizer on it.

use evenkeel_reconcile::finalizer::{held, released};
use http::Request;
use kube::api::{Patch, PatchParams};
use kube::core::request::Error as BuildError;
use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::key::Key;
use crate::watched::Watched;

/// An object as the body of a request.
pub(crate) fn body<K: Serialize>(object: &K) -> Result<Vec<u8>, BuildError> {
    serde_json::to_vec(object).map_err(BuildError::SerializeBody)
}

impl Context {
    /// Sends a request about the object `key` of kind `K`.
    pub(crate) async fn send<K: Watched>(
        &self,
        key: &Key,
        build: impl FnOnce(kube::core::Request) -> Result<Request<Vec<u8>>, BuildError>,
    ) -> kube::Result<K> {
        let path = K::url_path(&(), key.namespace.as_deref());
        let request = build(kube::core::Request::new(path)).map_err(kube::Error::BuildRequest)?;
        self.client().request(request).await
    }

    /// Puts the finalizer `ours` on `object`, in a write of its own, and answers the object as it
    /// is now. Nothing may be done outside the object before this has succeeded.
    ///
    /// # Errors
    /// A conflict when `object` is out of date.
    pub async fn hold<K: Watched>(&self, object: &K, ours: &str) -> Result<K, Error> {
        let finalizers = held(finalizers(object), ours);
        let attempt = format!("put a finalizer on {}", Key::of(object));
        let held = self.set_finalizers(object, &finalizers).await;
        held.map_err(Error::kube(attempt))
    }

    /// Takes the finalizer `ours` off `object`, which may then vanish. One that is gone already is
    /// as good.
    ///
    /// # Errors
    /// A conflict when `object` is out of date.
    pub async fn release<K: Watched>(&self, object: &K, ours: &str) -> Result<(), Error> {
        let finalizers = released(finalizers(object), ours);
        let attempt = format!("take a finalizer off {}", Key::of(object));
        match self.set_finalizers(object, &finalizers).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(error) => Err(Error::kube(attempt)(error)),
        }
    }

    /// Only on the object that was seen: neither on a newer state nor on a namesake.
    async fn set_finalizers<K: Watched>(&self, object: &K, names: &[String]) -> kube::Result<K> {
        let (key, meta) = (Key::of(object), object.meta());
        let patch = json!({"metadata": {
            "uid": meta.uid,
            "resourceVersion": meta.resource_version,
            "finalizers": names,
        }});
        let how = PatchParams {
            field_manager: Some(self.manager().to_owned()),
            ..PatchParams::default()
        };
        self.send(&key, |request| {
            request.patch(&key.name, &how, &Patch::Merge(&patch))
        })
        .await
    }
}

/// The finalizers of an object.
pub(crate) fn finalizers<K: kube::Resource>(object: &K) -> &[String] {
    object.meta().finalizers.as_deref().unwrap_or_default()
}

/// Whether `object` carries the finalizer `ours`.
pub fn is_held<K: kube::Resource>(object: &K, ours: &str) -> bool {
    finalizers(object).iter().any(|name| name == ours)
}
