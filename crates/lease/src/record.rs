//! What a Lease object says, and since when it has said so.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::ObjectMeta;
use tokio::time::Instant;

use crate::timing::Timing;

/// The least difference between two times that a lease can show.
const STEP: SignedDuration = SignedDuration::from_micros(1);

/// A lease as it was last read, and when that content was first seen.
#[derive(Debug)]
pub(crate) struct Sighting {
    pub(crate) lease: Lease,
    since: Instant,
}

impl Sighting {
    /// What is known after reading `lease`; the count starts anew with every change to it.
    pub(crate) fn of(lease: Lease, earlier: Option<Self>) -> Self {
        let revision = |lease: &Lease| lease.metadata.resource_version.clone();
        match earlier {
            Some(known) if revision(&known.lease) == revision(&lease) => known,
            _ => Self {
                lease,
                since: Instant::now(),
            },
        }
    }

    /// Who holds it.
    pub(crate) fn holder(&self) -> Option<&str> {
        holder(&self.lease)
    }

    /// Whether `me` may take it now: nobody's, my own, or silent for as long as its holder said.
    pub(crate) fn is_free_for(&self, me: &str, timing: Timing) -> bool {
        match self.holder() {
            None => true,
            Some(holder) if holder == me => true,
            Some(_) => self.since.elapsed() >= self.lasts(timing),
        }
    }

    fn lasts(&self, timing: Timing) -> Duration {
        let spec = self.lease.spec.as_ref();
        spec.and_then(|spec| spec.lease_duration_seconds)
            .and_then(|seconds| u64::try_from(seconds).ok())
            .map_or(timing.duration(), Duration::from_secs)
    }
}

fn holder(lease: &Lease) -> Option<&str> {
    let holder = lease.spec.as_ref()?.holder_identity.as_deref()?;
    Some(holder).filter(|holder| !holder.is_empty())
}

/// Who writes the lease, and at what time by their clock, which only people read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signature<'a> {
    pub(crate) me: &'a str,
    pub(crate) timing: Timing,
    pub(crate) now: Timestamp,
}

impl Signature<'_> {
    /// A lease that did not exist, taken.
    pub(crate) fn new_lease(self, name: &str) -> Lease {
        let metadata = ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        };
        self.signed(Lease {
            metadata,
            spec: None,
        })
    }

    /// `lease`, taken or renewed.
    pub(crate) fn signed(self, lease: Lease) -> Lease {
        let renewal = holder(&lease) == Some(self.me);
        let spec = lease.spec.unwrap_or_default();
        let now = Some(MicroTime(self.later_than(spec.renew_time.as_ref())));
        let transitions = spec.lease_transitions.unwrap_or_default();
        let (acquire_time, lease_transitions) = match (renewal, &spec.renew_time) {
            (true, _) => (spec.acquire_time, transitions),
            (false, None) => (now.clone(), transitions),
            (false, Some(_)) => (now.clone(), transitions.saturating_add(1)),
        };
        Lease {
            metadata: lease.metadata,
            spec: Some(LeaseSpec {
                holder_identity: Some(self.me.to_owned()),
                lease_duration_seconds: Some(self.timing.whole_seconds()),
                acquire_time,
                renew_time: now,
                lease_transitions: Some(lease_transitions),
                ..LeaseSpec::default()
            }),
        }
    }

    /// The time, but always later than the last: a renewal that changes nothing is no renewal in
    /// the eyes of others, whatever our clock does.
    fn later_than(self, last: Option<&MicroTime>) -> Timestamp {
        let least = last.and_then(|MicroTime(last)| last.checked_add(STEP).ok());
        least.map_or(self.now, |least| least.max(self.now))
    }

    /// `lease`, given back.
    pub(crate) fn released(self, lease: Lease) -> Lease {
        let spec = lease.spec.unwrap_or_default();
        Lease {
            metadata: lease.metadata,
            spec: Some(LeaseSpec {
                holder_identity: None,
                renew_time: Some(MicroTime(self.now)),
                ..spec
            }),
        }
    }
}
