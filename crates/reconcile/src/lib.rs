//! Observe, compare, act, report: the engine that everything else uses

pub mod outcome;
pub mod retry;

pub use outcome::{Delays, Outcome, OutcomeClass};
pub use retry::{Classify, ErrorClass, RetryPolicy, retry};
