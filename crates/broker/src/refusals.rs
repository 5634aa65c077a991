//! Slowing down addresses that keep presenting keys which open nothing.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use crate::bucket::{Bucket, Rate};

/// So many addresses are watched; when there are more, all are forgotten and watched anew.
const ADDRESSES: usize = 10_000;

/// How many more refusals each address gets before it must wait.
#[derive(Debug)]
pub(crate) struct Refusals {
    rate: Rate,
    buckets: Mutex<HashMap<IpAddr, Bucket>>,
}

impl Refusals {
    pub(crate) fn new(per_second: u32) -> Self {
        let rate = Rate {
            per_second,
            burst: per_second.saturating_mul(10),
        };
        Self {
            rate,
            buckets: Mutex::default(),
        }
    }

    /// Takes one refusal; otherwise says in how many seconds there is one again.
    pub(crate) fn take(&self, address: IpAddr) -> Result<(), u64> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= ADDRESSES {
            buckets.clear();
        }
        buckets.entry(address).or_default().take(self.rate)
    }
}
