//! The time during which a lease is held.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The time during which a lease is held. Clones share it.
#[derive(Debug, Clone)]
pub struct Term {
    until: Arc<Mutex<Instant>>,
    ended: CancellationToken,
}

impl Term {
    /// Whether it lasts at this moment. True only before any other process may take over, also
    /// right after this process was stopped for a while and no timer had a chance to fire.
    pub fn is_held(&self) -> bool {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        !self.ended.is_cancelled() && Instant::now() < until
    }

    /// Returns when it has ended.
    pub async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// A token that is cancelled when it ends.
    pub fn token(&self) -> CancellationToken {
        self.ended.clone()
    }

    /// A term without end, for processes that stand for no lease.
    pub fn unlimited() -> Self {
        const CENTURY: std::time::Duration = std::time::Duration::from_secs(100 * 365 * 86_400);
        Self {
            until: Arc::new(Mutex::new(Instant::now() + CENTURY)),
            ended: CancellationToken::new(),
        }
    }
}

/// Whoever keeps a term going. Dropping it ends the term.
#[derive(Debug)]
pub(crate) struct Keeper(Term);

impl Keeper {
    pub(crate) fn new(until: Instant) -> Self {
        Self(Term {
            until: Arc::new(Mutex::new(until)),
            ended: CancellationToken::new(),
        })
    }

    pub(crate) fn term(&self) -> Term {
        self.0.clone()
    }

    pub(crate) fn extend(&self, until: Instant) {
        *self.0.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.ended.cancel();
    }
}
