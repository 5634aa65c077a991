//! Converge a set of Kubernetes objects under one owner.
//!
//! A [`Set`] is everything that one owner has in a cluster. It is given the text of what should
//! be there and makes it so: validated as a whole before the first write, applied in order,
//! pruned only where ownership is proved, and free of requests while nothing changes.
//!
//! ```text
//! text ─▶ Manifests ─▶ Set::converge ─▶ engine(observe: view │ enter: dry-runs │ apply, delete) ─▶ Converged
//!                                         inventory (what may exist) ┘
//! ```
//!
//! Read in this order: [`manifest`] (what somebody wrote), `item` (resolved against
//! `discovery`, with `marks`), [`owner`] (whose it is), [`set`] (the attempt as a whole) with
//! `world`, `look`, `validate` and `write` (how the engine is served), `view`, `shelf` and `live`
//! (what is known of the cluster without asking), `inventory` and `sweep` (what may exist),
//! [`fields`] and [`drift`] (what others did), [`health`], [`diff`] (what a pass would do).
//!
//! # How drift is seen without asking
//!
//! Every object carries a *seal*: the hash of what was applied, and the fingerprint of the fields
//! that we owned right after. The dry-run before a write tells that fingerprint, so the seal is
//! part of the same write. Kubernetes takes a field out of our `managedFields` entry when anybody
//! changes or removes it, so a metadata watch shows that fingerprint and seal differ.
//!
//! # For operators
//!
//! A set can also belong to a [`Parent`], an object of the cluster such as a custom resource. Its
//! children carry a controller reference to it, and that alone proves that they are its own: an
//! object of the same name that another object controls, or none, is refused (the latter unless the
//! policy is to adopt). There is no inventory, since what carries the parent's uid as label is all
//! that exists. A child annotated with [`CREATE_ONCE`] is made if it is missing and never changed; one
//! annotated with [`KEEP`] carries no reference, so that it outlives its parent. One [`Cluster`]
//! serves any number of parents with one watch for each of [`Settings::child_kinds`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use evenkeel_ambient::{SystemClock, SystemRandom};
//! use evenkeel_kubeset::{Cluster, GroupKind, Manifests, Parent, SetPolicy, Settings};
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::{Api, Client};
//! use serde_json::json;
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! # let client = Client::new(evenkeel_kubesim::Cluster::new().view("operator"), "default");
//! let settings = Settings {
//!     owner_key: "example.com/parent".to_owned(),
//!     child_kinds: [GroupKind::new("", "Secret"), GroupKind::new("apps", "StatefulSet")].into(),
//!     ..Settings::default()
//! };
//! let (clock, dice) = (Arc::new(SystemClock), Arc::new(SystemRandom));
//! let cluster = Cluster::new(client.clone(), settings, clock, dice);
//!
//! // In a reconcile: the parent is what the run is about.
//! # let parents: Api<ConfigMap> = Api::default_namespaced(client.clone());
//! # let made = json!({"metadata": {"name": "shop"}});
//! # let parent = parents.create(&Default::default(), &serde_json::from_value(made)?).await?;
//! let set = cluster.children(Parent::of(&parent).ok_or("the server has not seen it")?);
//! let wanted = Manifests::of([json!({
//!     "apiVersion": "v1", "kind": "Secret",
//!     "metadata": {"name": "shop-password", "annotations": {"evenkeel.io/on-change": "leave"}},
//!     "stringData": {"password": "drawn once"},
//! })])?;
//! let first = set.converge(&wanted, &SetPolicy::default()).await;
//! assert!(first.is_settled());
//! let again = set.converge(&wanted, &SetPolicy::default()).await;
//! assert_eq!(again.changes().writes(), 0);
//!
//! // Who else changed something? The uids of the parents concerned, from one place for all.
//! let touched = cluster.touched();
//! # drop(touched);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

mod ahead;
mod ask;
mod bells;
mod calls;
mod cluster;
pub mod diff;
mod discovery;
pub mod drift;
mod error;
pub mod fields;
pub mod health;
mod inventory;
mod item;
mod key;
mod leftovers;
mod live;
mod look;
pub mod manifest;
mod marks;
mod metadata;
pub mod owner;
mod rank;
mod resource;
pub mod set;
mod shelf;
mod shown;
mod sweep;
mod validate;
mod view;
mod words;
mod world;
mod write;

pub use bells::{Rings, Touched};
pub use cluster::{Cluster, Settings};
pub use diff::{Diff, Fate, ObjectDiff};
pub use drift::{DriftRecord, Fight, Ignore};
pub use error::Error;
pub use evenkeel_manifest::{Identity, ManifestError, Place};
pub use fields::LostField;
pub use health::{Health, SetHealth};
pub use key::{GroupKind, ObjectKey};
pub use manifest::{Manifest, Manifests, Warning};
pub use marks::{CREATE_ONCE, KEEP};
pub use owner::{BadOwner, Owner, Parent};
pub use set::{Converged, Set, SetPolicy};
