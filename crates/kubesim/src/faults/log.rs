//! What a client has asked for, so that a test can tell.

use std::collections::{BTreeMap, VecDeque};

use crate::registry::Verb;
use crate::store::ResourceId;

use super::Call;

/// How many requests are remembered one by one; all are counted.
const REMEMBERED: usize = 4_096;

/// One request and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What was asked for.
    pub call: Call,
    /// The HTTP code of the answer; `None` when the client got none.
    pub code: Option<u16>,
}

/// The requests of one client since the log was last reset.
#[derive(Debug, Clone, Default)]
pub struct RequestLog {
    entries: VecDeque<Entry>,
    counts: BTreeMap<(Verb, ResourceId), u64>,
    writes: u64,
    others: u64,
}

impl RequestLog {
    pub(super) fn add(&mut self, call: Option<Call>, code: Option<u16>) {
        let Some(call) = call else {
            self.others += 1;
            return;
        };
        *self
            .counts
            .entry((call.verb, call.resource.clone()))
            .or_default() += 1;
        self.writes += u64::from(call.is_write());
        if self.entries.len() == REMEMBERED {
            self.entries.pop_front();
        }
        self.entries.push_back(Entry { call, code });
    }

    /// The latest requests, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// How often a verb was asked of a resource.
    pub fn count(&self, verb: Verb, resource: &ResourceId) -> u64 {
        self.counts
            .get(&(verb, resource.clone()))
            .copied()
            .unwrap_or_default()
    }

    /// How often each verb was asked of each resource.
    pub fn counts(&self) -> &BTreeMap<(Verb, ResourceId), u64> {
        &self.counts
    }

    /// How many requests there were about objects.
    pub fn requests(&self) -> u64 {
        self.counts.values().sum()
    }

    /// How many requests there were about anything else, such as discovery.
    pub fn other_requests(&self) -> u64 {
        self.others
    }

    /// How many requests about objects were to change something. Dry runs were not.
    pub fn writes(&self) -> u64 {
        self.writes
    }
}
