//! Kubernetes Events: told to people when something changes, and never in floods.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use evenkeel_reconcile::{Condition, Status};
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::Api;
use kube::api::{ObjectMeta, PostParams};
use tokio::time::Instant;
use tracing::debug;

use crate::context::Context;
use crate::watched::Watched;

/// What people are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Whether it is a warning.
    pub warning: bool,
    /// Why, as a CamelCase word.
    pub reason: String,
    /// What was being done, as a CamelCase word.
    pub action: String,
    /// What happened, as a sentence.
    pub note: String,
}

impl Told {
    /// A condition that changed.
    pub(crate) fn of(condition: &Condition) -> Self {
        Self {
            warning: condition.status == Status::False,
            reason: condition.reason.to_string(),
            action: condition.kind.clone(),
            note: condition.message.clone(),
        }
    }
}

/// How many Events one object may cause at once, and how long it takes to earn another.
const AT_ONCE: u32 = 10;
const EARNED_IN: Duration = Duration::from_secs(60);

/// How long a note may be.
const LONGEST_NOTE: usize = 1_000;

/// How many objects are remembered; beyond that all start anew.
const REMEMBERED: usize = 10_000;

/// Keeps Events within bounds for each object.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Mutex<BTreeMap<String, Allowance>>);

#[derive(Debug, Clone, Copy)]
struct Allowance {
    left: u32,
    since: Instant,
}

impl Recorder {
    fn allows(&self, uid: &str) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REMEMBERED {
            all.clear();
        }
        let now = Instant::now();
        let full = Allowance {
            left: AT_ONCE,
            since: now,
        };
        let allowance = all.entry(uid.to_owned()).or_insert(full);
        allowance.earn(now);
        let allowed = allowance.left > 0;
        allowance.left = allowance.left.saturating_sub(1);
        allowed
    }
}

impl Allowance {
    fn earn(&mut self, now: Instant) {
        let passed = now.duration_since(self.since);
        let earned = u32::try_from(passed.as_secs() / EARNED_IN.as_secs()).unwrap_or(AT_ONCE);
        self.left = self.left.saturating_add(earned).min(AT_ONCE);
        self.since += EARNED_IN * earned;
    }
}

impl Context {
    /// Tells people about `object`. That an Event cannot be written is no failure.
    pub async fn tell<K: Watched>(&self, object: &K, what: impl IntoIterator<Item = Told>) {
        let uid = object.meta().uid.clone().unwrap_or_default();
        for told in what {
            if !self.shared.recorder.allows(&uid) {
                continue;
            }
            let event = self.event(object.object_ref(&()), told);
            let namespace = event.metadata.namespace.clone().unwrap_or_default();
            let events: Api<Event> = Api::namespaced(self.client().clone(), &namespace);
            if let Err(error) = events.create(&PostParams::default(), &event).await {
                debug!(object = %self.key(), %error, "cannot write an event");
            }
        }
    }

    fn event(&self, about: ObjectReference, told: Told) -> Event {
        let name = about.name.clone().unwrap_or_default();
        let suffix = self.dice().next_u64();
        let metadata = ObjectMeta {
            name: Some(format!("{name:.200}.{suffix:016x}")),
            namespace: Some(
                about
                    .namespace
                    .clone()
                    .unwrap_or_else(|| "default".to_owned()),
            ),
            ..ObjectMeta::default()
        };
        Event {
            metadata,
            action: Some(told.action),
            reason: Some(told.reason),
            note: Some(told.note.chars().take(LONGEST_NOTE).collect()),
            type_: Some(if told.warning { "Warning" } else { "Normal" }.to_owned()),
            event_time: Some(MicroTime(self.clock().now())),
            reporting_controller: Some(format!("evenkeel.io/{}", self.manager())),
            reporting_instance: Some(self.manager().to_owned()),
            regarding: Some(about),
            ..Event::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_object_that_flaps_does_not_flood() {
        let recorder = Recorder::default();
        let told = (0..1_000).filter(|_| recorder.allows("a")).count();
        assert_eq!(told, 10);
        assert!(recorder.allows("b"), "others are not to blame");
        tokio::time::sleep(Duration::from_secs(180)).await;
        assert_eq!((0..1_000).filter(|_| recorder.allows("a")).count(), 3);
    }
}
