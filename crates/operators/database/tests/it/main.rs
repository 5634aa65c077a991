//! The Database operator, from the resource to running servers.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod bed;
mod children;
mod credentials;
mod definition;
mod farewell;
mod faults;
mod growth;
mod life;
mod rest;
mod sample;
mod script;
mod storage;
mod stuck;
mod transitions;
mod verdict;
mod visible;
mod world;
