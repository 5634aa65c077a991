//! The Database operator, from the resource to running servers.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod children;
mod credentials;
mod definition;
mod sample;
mod script;
mod storage;
mod verdict;
