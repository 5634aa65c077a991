//! The engine: brings a *world* to the state that somebody declared, and says what it did.
//!
//! A world is anything that can list what exists and change it: a cluster, a cloud API, a map in
//! memory. The engine decides what to do about every key, does it, and gives a reason for
//! everything, above all for what it leaves alone; it never deletes what it cannot prove to be its
//! owner's. It knows no Kubernetes, no HTTP and no SQL.
//!
//! ```text
//! observe ──Snapshot──▶ compare ──Plan──▶ act ──ChangeSet──▶ report      (and again, for ever)
//! ```
//!
//! Read in this order:
//!
//! 1. the nouns: [`desired`], [`snapshot`], [`ownership`] (proved in one of four ways: [`claim`],
//!    [`ledger`]) and [`policy`];
//! 2. the decision: [`mod@compare`] makes a [`plan`], each step with its [`reason`];
//! 3. the deed: [`mod@act`] carries the plan out on a [`world`] and returns a [`change`] set, also
//!    when it is [`interrupted`];
//! 4. the word: [`mod@report`] tells it, as [`condition`]s among others;
//! 5. around it: [`pass`] ties the four together, [`finalizer`] is the life of an object whose
//!    effects outlive it, and the [`runner`] calls for each key again and again, as
//!    [`mod@outcome`] and [`mod@retry`] say.
//!
//! # A tiny world
//!
//! A cloud that keeps shapes, some of them ours. Somebody wants two squares; one circle is left
//! over from before, and one belongs to Bob.
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::Mutex;
//!
//! use evenkeel_ambient::ManualClock;
//! use evenkeel_reconcile::*;
//! use evenkeel_reconcile::world::{ObservedOf, SnapshotOf, WantedOf};
//!
//! #[derive(Clone, Debug, PartialEq)]
//! struct Shape { form: &'static str, owner: &'static str, version: u32 }
//!
//! /// What is wanted of a shape: its form.
//! struct Form(&'static str);
//!
//! impl Matches<Shape> for Form {
//!     fn difference(&self, live: &Shape) -> Option<String> {
//!         (live.form != self.0).then(|| format!("a {}, not a {}", live.form, self.0))
//!     }
//! }
//!
//! #[derive(Debug, thiserror::Error)]
//! #[error("the shape changed since it was seen")]
//! struct Changed;
//!
//! impl Failure for Changed {
//!     fn reach(&self) -> Reach { Reach::Stale }
//! }
//!
//! struct Cloud(Mutex<BTreeMap<String, Shape>>);
//!
//! impl World for Cloud {
//!     type Key = String;
//!     type Item = Form;
//!     type Live = Shape;
//!     type Version = u32;
//!     type Error = Changed;
//!
//!     async fn observe(&self) -> Result<SnapshotOf<Self>, Changed> {
//!         let whose = |shape: &Shape| match shape.owner {
//!             "us" => Ownership::mine_at(shape.version),
//!             other => Ownership::Other { owner: other.to_owned() },
//!         };
//!         let shapes = self.0.lock().unwrap();
//!         Ok(Snapshot::of(shapes.iter().map(|(name, shape)| {
//!             (name.clone(), Observed::new(shape.clone(), whose(shape)))
//!         })))
//!     }
//!
//!     async fn create(&self, name: &String, wanted: &WantedOf<Self>) -> Result<(), Changed> {
//!         let made = Shape { form: wanted.item.0, owner: "us", version: wanted.version };
//!         let mut shapes = self.0.lock().unwrap();
//!         if shapes.contains_key(name) { return Err(Changed); }
//!         shapes.insert(name.clone(), made);
//!         Ok(())
//!     }
//!
//!     async fn update(
//!         &self, name: &String, wanted: &WantedOf<Self>, seen: &ObservedOf<Self>,
//!     ) -> Result<(), Changed> {
//!         let made = Shape { form: wanted.item.0, owner: "us", version: wanted.version };
//!         let mut shapes = self.0.lock().unwrap();
//!         if shapes.get(name) != Some(&seen.live) { return Err(Changed); }
//!         shapes.insert(name.clone(), made);
//!         Ok(())
//!     }
//!
//!     async fn delete(
//!         &self, name: &String, seen: &ObservedOf<Self>,
//!     ) -> Result<Deletion, Changed> {
//!         let mut shapes = self.0.lock().unwrap();
//!         if shapes.get(name).is_some_and(|shape| *shape != seen.live) { return Err(Changed); }
//!         shapes.remove(name);
//!         Ok(Deletion::Gone)
//!     }
//! }
//!
//! # futures::executor::block_on(async {
//! let circle = |owner| Shape { form: "circle", owner, version: 1 };
//! let cloud = Cloud(Mutex::new(BTreeMap::from([
//!     ("left-over".to_owned(), circle("us")),
//!     ("bobs".to_owned(), circle("bob")),
//! ])));
//! let desired = Desired::things([
//!     ("one".to_owned(), Wanted::new(Form("square"), 2)),
//!     ("two".to_owned(), Wanted::new(Form("square"), 2)),
//! ])?;
//!
//! let (policy, how, clock) = (Policy::default(), Acting::default(), ManualClock::default());
//! let pass = reconcile(&cloud, &desired, &policy, &how, &clock).await;
//! let told: Vec<_> = report(&pass).notes.into_iter().map(|note| note.message).collect();
//! assert_eq!(told, [
//!     "created one: it does not exist",
//!     "created two: it does not exist",
//!     "deleted left-over: it is no longer wanted",
//! ]);
//!
//! // Bob's circle is still there, and a second pass finds nothing to do.
//! assert!(cloud.0.lock().unwrap().contains_key("bobs"));
//! let again = reconcile(&cloud, &desired, &policy, &how, &clock).await?;
//! assert_eq!(again.writes(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

pub mod act;
pub mod change;
pub mod claim;
pub mod compare;
pub mod condition;
pub mod desired;
pub mod finalizer;
pub mod interrupted;
mod join;
mod judge;
pub mod ledger;
pub mod outcome;
pub mod ownership;
pub mod pass;
pub mod plan;
pub mod policy;
pub mod reason;
pub mod report;
pub mod retry;
pub mod runner;
pub mod snapshot;
pub mod world;

pub use act::{Acted, Acting, AfterFailure, act};
pub use change::{Change, ChangeSet, Word};
pub use claim::{Claim, Evidence, Mark, NamePrefix, OwnerReference};
pub use compare::compare;
pub use condition::{Condition, ReasonWord, Status, Verdict, set_condition};
pub use desired::{Desired, Duplicate, Key, Matches, Rank, Wanted};
pub use interrupted::{Attempt, Failed, Interrupted};
pub use ledger::Ledger;
pub use outcome::{Delays, Outcome, OutcomeClass};
pub use ownership::Ownership;
pub use pass::{outcome, reconcile};
pub use plan::{Action, Plan, Step};
pub use policy::{Adopt, Approval, Brake, Drift, Naming, Policy, Prune, Tenancy};
pub use reason::Reason;
pub use report::{Gravity, Note, Report, report};
pub use retry::{Classify, ErrorClass, RetryPolicy, retry};
pub use snapshot::{Completeness, Contention, Guard, Observed, Recorded, Snapshot};
pub use world::{Deletion, Failure, Reach, Stage, World};
