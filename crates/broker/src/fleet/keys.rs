//! The keys in memory, found by their public part.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use evenkeel_model::{ApiKey, KeyId};
use jiff::Timestamp;

use crate::bucket::{Bucket, Rate};
use crate::pak::Presented;

/// A key that opened something, with its share of the broker's time.
#[derive(Debug)]
pub(crate) struct KnownKey {
    pub(crate) key: ApiKey,
    bucket: Mutex<Bucket>,
}

impl KnownKey {
    /// Takes one request from the key's share; otherwise says when to come again.
    pub(crate) fn take(&self, rate: Rate) -> Result<(), u64> {
        self.bucket
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take(rate)
    }
}

/// Every key that is not revoked.
#[derive(Debug, Default)]
pub(crate) struct KeyRing {
    by_short_token: RwLock<HashMap<String, Vec<Arc<KnownKey>>>>,
}

impl KeyRing {
    /// The key that was presented, if it is known here and valid at `now`.
    pub(crate) fn find(&self, presented: &Presented<'_>, now: Timestamp) -> Option<Arc<KnownKey>> {
        let keys = self
            .by_short_token
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let candidates = keys.get(presented.short_token)?;
        candidates
            .iter()
            .find(|known| presented.opens(&known.key) && known.key.is_valid_at(now))
            .cloned()
    }

    /// Whether the key still opens something.
    pub(crate) fn holds(&self, id: KeyId, short_token: &str, now: Timestamp) -> bool {
        let keys = self
            .by_short_token
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let same = |known: &Arc<KnownKey>| known.key.id == id && known.key.is_valid_at(now);
        keys.get(short_token)
            .is_some_and(|keys| keys.iter().any(same))
    }

    /// Takes a key in, or out if it was revoked.
    pub(crate) fn put(&self, key: ApiKey) -> Arc<KnownKey> {
        let mut keys = self
            .by_short_token
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let known = Arc::new(KnownKey {
            bucket: Mutex::default(),
            key,
        });
        let same_name = keys.entry(known.key.short_token.clone()).or_default();
        same_name.retain(|other| other.key.id != known.key.id);
        if known.key.revoked_at.is_none() {
            same_name.push(Arc::clone(&known));
        }
        known
    }

    /// Replaces all keys.
    pub(super) fn replace(&self, all: Vec<ApiKey>) {
        let mut keys: HashMap<String, Vec<_>> = HashMap::with_capacity(all.len());
        for key in all {
            let short_token = key.short_token.clone();
            let known = Arc::new(KnownKey {
                bucket: Mutex::default(),
                key,
            });
            keys.entry(short_token).or_default().push(known);
        }
        *self
            .by_short_token
            .write()
            .unwrap_or_else(PoisonError::into_inner) = keys;
    }
}
