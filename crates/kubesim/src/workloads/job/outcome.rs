//! Whether a job is over, and how.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::tally::Tally;
use crate::workloads::condition;

/// How a job stands.
pub(super) enum Outcome {
    /// There is more to do; perhaps only until a moment.
    Open(Option<Duration>),
    Complete,
    /// Given up, for a reason, in words.
    Failed(&'static str, &'static str),
}

pub(super) fn judge(job: &Value, tally: &Tally, now: Timestamp) -> Outcome {
    let spec = &job["spec"];
    let backoff = spec["backoffLimit"].as_i64().unwrap_or(6);
    let restarts = match spec["template"]["spec"]["restartPolicy"] == "OnFailure" {
        true => tally.restarts,
        false => 0,
    };
    if tally.failed > backoff || (restarts > 0 && restarts >= backoff) {
        let message = "Job has reached the specified backoff limit";
        return Outcome::Failed("BackoffLimitExceeded", message);
    }
    let left = time_left(job, now);
    if left == Some(Duration::ZERO) {
        let message = "Job was active longer than specified deadline";
        return Outcome::Failed("DeadlineExceeded", message);
    }
    let done = match spec["completions"].as_i64() {
        Some(completions) => tally.succeeded >= completions,
        None => tally.succeeded > 0 && tally.active.is_empty(),
    };
    match done {
        true => Outcome::Complete,
        false => Outcome::Open(left),
    }
}

fn time_left(job: &Value, now: Timestamp) -> Option<Duration> {
    let limit = job["spec"]["activeDeadlineSeconds"].as_i64()?;
    if job["spec"]["suspend"] == true {
        return None;
    }
    let started = job["status"]["startTime"].as_str();
    let started: Timestamp = started.map_or(Some(now), |time| time.parse().ok())?;
    let left = started.as_second() + limit - now.as_second();
    Some(Duration::from_secs(left.max(0).unsigned_abs()))
}

/// Writes what the outcome is; the last word when no pod is left.
pub(super) fn note(status: &mut Value, outcome: &Outcome, no_pods: bool, now: &str) {
    let (first, last, reason, message) = match outcome {
        Outcome::Open(_) => return,
        Outcome::Complete => (
            "SuccessCriteriaMet",
            "Complete",
            "CompletionsReached",
            "Reached expected number of succeeded pods",
        ),
        Outcome::Failed(reason, message) => ("FailureTarget", "Failed", *reason, *message),
    };
    let say = |status: &mut Value, kind: &str| {
        let mut condition = condition::new(kind, true, reason, message, now);
        condition["lastProbeTime"] = now.into();
        condition::set(status, condition);
    };
    say(status, first);
    if no_pods {
        say(status, last);
        if last == "Complete" {
            status["completionTime"] = now.into();
        }
    }
}

/// A job that is suspended has no time of start.
pub(super) fn note_suspension(status: &mut Value, suspended: bool, now: &str) {
    let was = condition::holds(status, "Suspended");
    if suspended {
        if let Some(fields) = status.as_object_mut() {
            fields.remove("startTime");
        }
    } else if status["startTime"].is_null() {
        status["startTime"] = now.into();
    }
    if was == suspended {
        return;
    }
    let (reason, message) = match suspended {
        true => ("JobSuspended", "Job suspended"),
        false => ("JobResumed", "Job resumed"),
    };
    let mut condition = condition::new("Suspended", suspended, reason, message, now);
    condition["lastProbeTime"] = now.into();
    condition::set(status, condition);
}
