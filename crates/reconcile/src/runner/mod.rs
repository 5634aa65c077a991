//! The runner: a keyed work queue and the workers that empty it.
//!
//! Ask for a key to be run, as often as you like; the runner runs it soon, never twice at once,
//! and again as its [`Outcome`](crate::Outcome) says. Keys are served in order of arrival,
//! changes before routine, and none can starve, hang or crash another. A run is given its key
//! and nothing else: it looks at the world, whatever woke it.
//!
//! ```text
//! Handle::add(key, why) ──▶ Queue ──key──▶ work(key) ──Outcome──▶ Queue ──▶ later, or never
//! ```
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU32, Ordering};
//! use std::time::Duration;
//!
//! use evenkeel_ambient::SeededRandom;
//! use evenkeel_reconcile::runner::{Request, Runner, Settings};
//! use evenkeel_reconcile::{Classify, ErrorClass, Outcome};
//! use tokio_util::sync::CancellationToken;
//!
//! #[derive(Debug, thiserror::Error)]
//! #[error("the database does not answer")]
//! struct Unreachable;
//!
//! impl Classify for Unreachable {
//!     fn class(&self) -> ErrorClass {
//!         ErrorClass::Transient
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let runner = Runner::new(Settings::default(), Arc::new(SeededRandom::new(1)));
//! let handle = runner.handle();
//! let shutdown = CancellationToken::new();
//!
//! // Two databases; `orders` is down at first.
//! let calls = Arc::new(AtomicU32::new(0));
//! let work = move |key: &'static str| {
//!     let call = calls.fetch_add(1, Ordering::SeqCst);
//!     async move {
//!         match key {
//!             "orders" if call < 3 => Outcome::Retry(Unreachable),
//!             _ => Outcome::Done,
//!         }
//!     }
//! };
//! let running = tokio::spawn(runner.run(work, shutdown.clone()));
//!
//! handle.add("users", Request::changed().generation(1));
//! handle.add("orders", Request::changed().generation(1));
//! tokio::time::sleep(Duration::from_secs(1)).await;
//!
//! // `users` is done. Why is `orders` waiting?
//! assert_eq!(handle.find(&"users"), None);
//! let why = handle.find(&"orders").expect("it is not done").to_string();
//! assert!(why.starts_with(
//!     "orders: attempt 1 failed (transient): the database does not answer; next run in "
//! ));
//!
//! // It recovers by itself.
//! tokio::time::sleep(Duration::from_secs(60)).await;
//! assert_eq!(handle.find(&"orders"), None);
//!
//! shutdown.cancel();
//! assert!(running.await.expect("no panic").abandoned.is_empty());
//! # }
//! ```
//!
//! What it promises, each a test in `tests/it/runner/`:
//! fair between keys ([`Queue`]: two first-in-first-out lanes, routine sure of every third run);
//! backoff per key, ended by success, by a new generation or by somebody asking ([`Request`]);
//! a [`Debounce`] that cannot postpone for ever; a time limit for every run; a panic or a hang
//! harms only its key; resyncs spread out; a drain that says what it cut off ([`Drained`]).
//!
//! Read [`request`] first, then [`queue`], which has no clock and no tasks, then [`drive`], the
//! shell around it. [`item`] answers "why is it waiting?", [`metrics`] is what is counted.

pub mod drive;
pub mod ended;
mod entry;
mod guard;
pub mod handle;
pub mod item;
mod lanes;
pub mod metrics;
pub mod moment;
pub mod queue;
pub mod request;
mod slots;

pub use drive::{Drained, Runner, Settings};
pub use ended::{Ended, Failure, FailureKind};
pub use handle::Handle;
pub use item::{Item, Load, State, Trouble};
pub use metrics::Metrics;
pub use moment::Moment;
pub use queue::{Key, Queue, Started};
pub use request::{Debounce, Priority, Reason, Request};
pub use slots::Slot;
