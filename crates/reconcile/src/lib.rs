//! Observe, compare, act, report: the engine that everything else uses.

pub mod act;
pub mod change;
pub mod compare;
pub mod condition;
pub mod desired;
pub mod finalizer;
mod join;
pub mod outcome;
pub mod ownership;
pub mod plan;
pub mod policy;
pub mod reason;
pub mod retry;
pub mod runner;
pub mod snapshot;
pub mod world;

pub use act::{Acting, AfterFailure, Interrupted, act};
pub use change::{Change, ChangeSet, Word};
pub use compare::compare;
pub use desired::{Desired, Duplicate, Key, Matches, Rank, Wanted};
pub use outcome::{Delays, Outcome, OutcomeClass};
pub use ownership::Ownership;
pub use plan::{Action, Plan, Step};
pub use policy::{Adopt, Approval, Brake, Drift, Naming, Policy, Prune, Tenancy};
pub use reason::Reason;
pub use retry::{Classify, ErrorClass, RetryPolicy, retry};
pub use snapshot::{Completeness, Guard, Observed, Recorded, Snapshot};
pub use world::{Deletion, Failure, Reach, Stage, World};
