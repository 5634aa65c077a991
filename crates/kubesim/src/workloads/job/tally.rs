//! How the pods of a job have fared so far.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use super::{TRACKING, index};
use crate::meta;
use crate::store::Object;
use crate::workloads::pod;

/// The pods of a job, counted.
pub(super) struct Tally {
    /// Those that run or will.
    pub(super) active: Vec<Object>,
    /// Those that have ended, some of which are counted here for the first time.
    pub(super) ended: Vec<Object>,
    pub(super) succeeded: i64,
    pub(super) failed: i64,
    /// Restarts of containers inside pods that go on.
    pub(super) restarts: i64,
    pub(super) last_failure: Option<Timestamp>,
    /// The indexes that are done, of a job that has them.
    pub(super) indexes: BTreeSet<i64>,
}

impl Tally {
    pub(super) fn of(job: &Value, pods: &[Object]) -> Self {
        let (ended, others): (Vec<Object>, Vec<Object>) =
            pods.iter().cloned().partition(|pod| pod::has_ended(pod));
        let uncounted = |phase: &str| -> Vec<&Object> {
            let of_phase = ended.iter().filter(|pod| pod::phase(pod) == phase);
            of_phase
                .filter(|pod| meta::finalizers(pod).contains(&TRACKING))
                .collect()
        };
        let status = &job["status"];
        let count = |field: &str, more: usize| {
            status[field].as_i64().unwrap_or(0) + i64::try_from(more).unwrap_or(0)
        };
        let mut indexes = index::read(status["completedIndexes"].as_str().unwrap_or_default());
        let indexed = job["spec"]["completionMode"] == "Indexed";
        let done = uncounted("Succeeded");
        if indexed {
            indexes.extend(done.iter().filter_map(|pod| index::of(pod)));
        }
        let succeeded = match indexed {
            true => i64::try_from(indexes.len()).unwrap_or(0),
            false => count("succeeded", done.len()),
        };
        let active = others.into_iter().filter(|pod| pod::is_active(pod));
        let active: Vec<Object> = active.collect();
        Self {
            succeeded,
            failed: count("failed", uncounted("Failed").len()),
            restarts: active.iter().map(|pod| restarts(pod)).sum(),
            last_failure: ended.iter().filter_map(|pod| failed_at(pod)).max(),
            active,
            ended,
            indexes,
        }
    }
}

fn restarts(pod: &Value) -> i64 {
    let containers = pod["status"]["containerStatuses"]
        .as_array()
        .into_iter()
        .flatten();
    containers
        .filter_map(|container| container["restartCount"].as_i64())
        .sum()
}

fn failed_at(pod: &Value) -> Option<Timestamp> {
    let state = &pod["status"]["containerStatuses"][0]["state"]["terminated"];
    let time = state["finishedAt"]
        .as_str()
        .filter(|_| pod::phase(pod) == "Failed")?;
    time.parse().ok()
}
