//! What is wrong with the cloud.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What is wrong with the cloud. A new cloud has no vices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Vices {
    /// For this many milliseconds a new shape cannot be seen.
    pub appears_after: u64,
    /// Every call takes this many milliseconds longer.
    pub slow: u64,
    /// Of a hundred calls so many fail without having done anything.
    pub fails: u8,
    /// Of a hundred changes so many are made, but the reply is lost.
    pub loses_replies: u8,
    /// More calls than this in a second are turned away; 0: as many as you like.
    pub rate: u32,
    /// Labels are neither kept nor understood.
    pub no_labels: bool,
    /// Tokens are neither kept nor understood: the same call twice makes two shapes.
    pub no_tokens: bool,
}

impl Vices {
    pub(crate) fn delay(self) -> Duration {
        Duration::from_millis(self.slow)
    }
}
