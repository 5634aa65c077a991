//! Jobs: pods that end, until enough of them have ended well.
//!
//! ```text
//! pods ──▶ counted once each ──▶ finished? ──▶ end the rest, say so
//!                           └──▶ more to do ──▶ create or delete
//! ```

mod index;
mod outcome;
mod tally;

use std::time::Duration;

use serde_json::{Value, json};

use super::desk::{Desk, JOBS, PODS};
use super::{Again, condition, controlled, pod};
use crate::meta;
use crate::selectors::LabelSelector;
use crate::status::ApiError;
use crate::store::{Key, Object};
use outcome::Outcome;
use tally::Tally;

/// The finalizer that keeps a pod until it is counted.
const TRACKING: &str = "batch.kubernetes.io/job-tracking";
const FIRST_RETRY: i64 = 10;
const LAST_RETRY: i64 = 600;

pub(super) fn reconcile(desk: &Desk<'_>, key: &Key) -> Again {
    let Some(job) = desk.get(JOBS, key) else {
        return Ok(None);
    };
    let selector = LabelSelector::of(&job["spec"]["selector"]);
    let pods = controlled::claim(desk, PODS, JOBS, &job, &selector)?;
    if is_finished(&job) || meta::is_deleting(&job) {
        release(desk, &pods)?;
        return retire(desk, &job);
    }
    let round = Round { desk, job: &job };
    let tally = Tally::of(&job, &pods);
    let outcome = outcome::judge(&job, &tally, desk.now());
    let again = match &outcome {
        Outcome::Open(again) if job["spec"]["suspend"] != true => {
            let delay = round.manage(&tally)?;
            [*again, delay].into_iter().flatten().min()
        }
        Outcome::Open(_) => {
            round.end(&tally.active)?;
            None
        }
        _ => {
            round.end(&tally.active)?;
            None
        }
    };
    round.write_status(key, &tally, &outcome)?;
    release(desk, &tally.ended)?;
    Ok(again)
}

fn is_finished(job: &Value) -> bool {
    ["Complete", "Failed"]
        .iter()
        .any(|kind| condition::holds(&job["status"], kind))
}

/// Lets pods go that have been counted, or no longer count.
fn release(desk: &Desk<'_>, pods: &[Object]) -> Result<(), ApiError> {
    for pod in pods
        .iter()
        .filter(|pod| meta::finalizers(pod).contains(&TRACKING))
    {
        let key = meta::key(pod);
        desk.update(PODS, &key, |pod| meta::remove_finalizer(pod, TRACKING))?;
    }
    Ok(())
}

/// Deletes a finished job when its time has come.
fn retire(desk: &Desk<'_>, job: &Value) -> Again {
    let Some(seconds) = job["spec"]["ttlSecondsAfterFinished"].as_i64() else {
        return Ok(None);
    };
    let finished = ["Complete", "Failed"].iter().find_map(|kind| {
        let condition = condition::find(&job["status"], kind)?;
        condition["lastTransitionTime"]
            .as_str()?
            .parse::<jiff::Timestamp>()
            .ok()
    });
    let Some(finished) = finished.filter(|_| !meta::is_deleting(job)) else {
        return Ok(None);
    };
    let left = finished.as_second() + seconds - desk.now().as_second();
    if left > 0 {
        return Ok(Some(Duration::from_secs(left.unsigned_abs())));
    }
    desk.delete(JOBS, job).map(|()| None)
}

/// One look at a job that is not finished.
struct Round<'a> {
    desk: &'a Desk<'a>,
    job: &'a Value,
}

impl Round<'_> {
    /// Makes the number of running pods right; when to look again.
    fn manage(&self, tally: &Tally) -> Result<Option<Duration>, ApiError> {
        let spec = &self.job["spec"];
        let parallel = spec["parallelism"].as_i64().unwrap_or(1);
        let wanted = match spec["completions"].as_i64() {
            Some(completions) => parallel.min(completions - tally.succeeded),
            None if tally.succeeded > 0 => 0,
            None => parallel,
        };
        let wanted = usize::try_from(wanted).unwrap_or(0);
        let surplus = tally.active.len().saturating_sub(wanted);
        self.end(&tally.active[..surplus])?;
        let missing = wanted.saturating_sub(tally.active.len());
        if missing == 0 {
            return Ok(None);
        }
        if let Some(delay) = self.delay(tally) {
            return Ok(Some(delay));
        }
        for index in index::free(self.job, tally, missing) {
            let pod = self.desk.create(PODS, index::draft(self.job, index))?;
            let message = format!("Created pod: {}", meta::name(&pod));
            self.desk
                .event(JOBS, self.job, "SuccessfulCreate", &message);
        }
        Ok(None)
    }

    /// How long to wait after the latest failures.
    fn delay(&self, tally: &Tally) -> Option<Duration> {
        let last = tally.last_failure?;
        let shift = u32::try_from(tally.failed.clamp(1, 8) - 1).unwrap_or(0);
        let delay = (FIRST_RETRY << shift).min(LAST_RETRY);
        let left = last.as_second() + delay - self.desk.now().as_second();
        (left > 0).then(|| Duration::from_secs(left.unsigned_abs()))
    }

    fn end(&self, pods: &[Object]) -> Result<(), ApiError> {
        pods.iter().try_for_each(|pod| self.desk.delete(PODS, pod))
    }

    fn write_status(&self, key: &Key, tally: &Tally, outcome: &Outcome) -> Result<(), ApiError> {
        let now = self.desk.timestamp();
        let pods = self.desk.list(PODS, key.namespace());
        let mine = pods
            .iter()
            .filter(|pod| controlled::is_controlled_by(pod, self.job));
        let mine: Vec<&Object> = mine.filter(|pod| !pod::has_ended(pod)).collect();
        let active: Vec<&&Object> = mine.iter().filter(|pod| pod::is_active(pod)).collect();
        let terminating = mine.len() - active.len();
        self.desk.update_status(JOBS, key, |job| {
            let suspended = job["spec"]["suspend"] == true;
            let status = &mut job["status"];
            status["active"] = active.len().into();
            status["ready"] = active
                .iter()
                .filter(|pod| pod::is_ready(pod))
                .count()
                .into();
            status["terminating"] = terminating.into();
            status["succeeded"] = tally.succeeded.into();
            status["failed"] = tally.failed.into();
            status["uncountedTerminatedPods"] = json!({});
            if !tally.indexes.is_empty() {
                status["completedIndexes"] = index::text(&tally.indexes).into();
            }
            outcome::note_suspension(status, suspended, &now);
            outcome::note(status, outcome, mine.is_empty(), &now);
        })
    }
}
