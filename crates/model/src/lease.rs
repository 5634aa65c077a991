//! Leases: which broker does a piece of background work.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The right to do a piece of background work for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The work.
    pub name: String,
    /// Who does it.
    pub holder: String,
    /// Grows each time the work changes hands, so that a late writer can be told from the
    /// present holder.
    pub term: i64,
    /// Until when, by the clock of whoever took it.
    pub expires_at: Timestamp,
}
