//! How the objects of a stack are doing, looked at when something happened to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel_api::ReportedHealth;
use evenkeel_kubeset::{Error, SetHealth};
use evenkeel_model::{HealthStatus, ObjectHealth, ObjectKey, StackId};
use evenkeel_reconcile::Outcome;
use jiff::Timestamp;
use serde_json::json;

use crate::shift::Shift;
use crate::stacks::{Order, State};
use crate::words;

/// The most objects that a report names one by one.
const NAMED: usize = 500;

/// How the objects of a stack were doing, and since when.
#[derive(Debug, Default)]
pub(crate) struct Sightings {
    since: BTreeMap<ObjectKey, (HealthStatus, Timestamp)>,
    /// What was last reported, so that it is not said twice.
    reported: Option<ReportedHealth>,
}

/// Looks at the objects of a stack and reports what is new.
pub(crate) async fn look(shift: Arc<Shift>, id: StackId) -> Outcome<Error> {
    let Some(stack) = shift.stacks.get(id) else {
        shift.looks.forget(&id);
        return Outcome::Done;
    };
    let order = stack.order();
    if !shift.stacks.is_active() || order.object.kind.removes() && stack.state().waiting.is_none() {
        return Outcome::Done;
    }
    let seen = match stack.set.health().await {
        Ok(seen) => seen,
        Err(error) => return Outcome::failed(error),
    };
    let now = shift.agent.clock.now();
    let well = seen.worst().is_none();
    let mut state = stack.state();
    let report = told(&mut state, &order, &seen, now);
    if state.sightings.is_news(&report) {
        state.sightings.reported = Some(report.clone());
        state.findings.clear();
        shift.outbox.health(id, report);
    }
    match well {
        true => Outcome::Done,
        false => Outcome::wait(seen.to_string()),
    }
}

fn told(state: &mut State, order: &Order, seen: &SetHealth, now: Timestamp) -> ReportedHealth {
    let objects = state.sightings.objects(seen, now);
    let worst = objects.iter().map(|object| object.status);
    let status = worst.max_by_key(|status| badness(*status));
    ReportedHealth {
        id: order.object.id,
        status: status.unwrap_or(HealthStatus::Healthy),
        summary: Some(json!({
            "text": seen.to_string(),
            "objects": seen.objects.len(),
            "current": seen.current(),
        })),
        drift: state.drifted.clone(),
        checked_at: now,
        objects,
        drift_records: state.findings.clone(),
        waiting: state.waiting.clone(),
    }
}

fn badness(status: HealthStatus) -> u8 {
    match status {
        HealthStatus::Healthy => 0,
        HealthStatus::Unknown => 1,
        HealthStatus::Degraded => 2,
        HealthStatus::Failing => 3,
    }
}

impl Sightings {
    /// The objects, the worst first, each with the time since when it is so.
    fn objects(&mut self, seen: &SetHealth, now: Timestamp) -> Vec<ObjectHealth> {
        let earlier = std::mem::take(&mut self.since);
        let objects = seen.objects.iter().map(|(key, health)| {
            let (object, (status, reason)) = (words::object(key), words::health(health));
            let known = earlier.get(&object).filter(|(known, _)| *known == status);
            let since = known.map_or(now, |(_, since)| *since);
            self.since.insert(object.clone(), (status, since));
            let since = Some(since);
            ObjectHealth {
                object,
                status,
                reason,
                since,
            }
        });
        let mut objects: Vec<_> = objects.collect();
        objects.truncate(NAMED);
        objects
    }

    fn is_news(&self, report: &ReportedHealth) -> bool {
        let timeless = |report: &ReportedHealth| ReportedHealth {
            checked_at: Timestamp::UNIX_EPOCH,
            drift_records: Vec::new(),
            ..report.clone()
        };
        let known = self.reported.as_ref().map(timeless);
        !report.drift_records.is_empty() || known != Some(timeless(report))
    }
}
