//! CronJobs: a job at every moment of a schedule.

use std::cmp::Reverse;
use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::desk::{CRON_JOBS, Desk, JOBS};
use super::{Again, condition, controlled, pod};
use crate::builtin::Schedule;
use crate::meta;
use crate::status::ApiError;
use crate::store::{Key, Object};

pub(super) fn reconcile(desk: &Desk<'_>, key: &Key) -> Again {
    let Some(cron) = desk.get(CRON_JOBS, key) else {
        return Ok(None);
    };
    let jobs: Vec<Object> = desk.list(JOBS, key.namespace());
    let jobs = jobs
        .into_iter()
        .filter(|job| controlled::is_controlled_by(job, &cron));
    let jobs: Vec<Object> = jobs.collect();
    trim(desk, &cron, &jobs)?;
    let Some(plan) = Plan::of(&cron).filter(|_| !meta::is_deleting(&cron)) else {
        return write_status(desk, key, &jobs, None).map(|()| None);
    };
    let now = desk.now();
    let due = plan.due(now);
    let mut started = None;
    if let Some(due) = due.filter(|_| cron["spec"]["suspend"] != true) {
        started = start(desk, &cron, &jobs, due)?;
    }
    write_status(desk, key, &jobs, started)?;
    let next = plan.schedule.next_after(now, &plan.zone);
    Ok(next.map(|next| until(next, now)))
}

/// The schedule of a cron job and the time from which it counts.
struct Plan {
    schedule: Schedule,
    zone: TimeZone,
    since: Timestamp,
    deadline: Option<i64>,
}

impl Plan {
    fn of(cron: &Value) -> Option<Self> {
        let spec = &cron["spec"];
        let zone = spec["timeZone"].as_str();
        let last = cron["status"]["lastScheduleTime"].as_str();
        let since = last.unwrap_or_else(|| meta::text(cron, "creationTimestamp"));
        Some(Self {
            schedule: Schedule::parse(spec["schedule"].as_str()?).ok()?,
            zone: zone.map_or(Some(TimeZone::UTC), |zone| TimeZone::get(zone).ok())?,
            since: since.parse().ok()?,
            deadline: spec["startingDeadlineSeconds"].as_i64(),
        })
    }

    /// The latest moment that has come and has not been met yet.
    fn due(&self, now: Timestamp) -> Option<Timestamp> {
        let earliest = self
            .deadline
            .and_then(|seconds| now.checked_sub(SignedDuration::from_secs(seconds)).ok());
        let mut since = self.since.max(earliest.unwrap_or(Timestamp::MIN));
        let mut due = None;
        while let Some(next) = self
            .schedule
            .next_after(since, &self.zone)
            .filter(|at| *at <= now)
        {
            due = Some(next);
            since = next;
        }
        due
    }
}

fn until(moment: Timestamp, now: Timestamp) -> Duration {
    let left = moment.duration_since(now);
    left.try_into().unwrap_or(Duration::ZERO)
}

fn is_finished(job: &Value) -> bool {
    ["Complete", "Failed"]
        .iter()
        .any(|kind| condition::holds(&job["status"], kind))
}

/// Starts the job of a moment, if the others let it.
fn start(
    desk: &Desk<'_>,
    cron: &Value,
    jobs: &[Object],
    due: Timestamp,
) -> Result<Option<Timestamp>, ApiError> {
    let running: Vec<&Object> = jobs.iter().filter(|job| !is_finished(job)).collect();
    match cron["spec"]["concurrencyPolicy"].as_str() {
        Some("Forbid") if !running.is_empty() => {
            let message = "Not starting job because prior execution is running and concurrency policy is Forbid";
            desk.event(CRON_JOBS, cron, "JobAlreadyActive", message);
            return Ok(None);
        }
        Some("Replace") => {
            for job in running {
                desk.delete(JOBS, job)?;
            }
        }
        _ => {}
    }
    let job = draft(cron, due);
    let name = meta::name(&job).to_owned();
    match desk.create(JOBS, job) {
        Ok(_) => {
            let message = format!("Created job {name}");
            desk.event(CRON_JOBS, cron, "SuccessfulCreate", &message);
        }
        Err(error) if error.reason == "AlreadyExists" => {}
        Err(error) => return Err(error),
    }
    Ok(Some(due))
}

fn draft(cron: &Value, due: Timestamp) -> Value {
    let template = &cron["spec"]["jobTemplate"];
    let mut job = json!({"metadata": {}, "spec": template["spec"]});
    for field in ["labels", "annotations"] {
        if let Some(value) = template["metadata"].get(field) {
            job["metadata"][field] = value.clone();
        }
    }
    let minutes = due.as_second() / 60;
    job["metadata"]["name"] = format!("{}-{minutes}", meta::name(cron)).into();
    job["metadata"]["namespace"] = meta::namespace(cron).into();
    job["metadata"]["ownerReferences"] = json!([pod::controller_reference(CRON_JOBS, cron)]);
    let moment = due.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    meta::annotate(
        &mut job,
        "batch.kubernetes.io/cronjob-scheduled-timestamp",
        &moment,
    );
    job
}

/// Deletes finished jobs beyond the history.
fn trim(desk: &Desk<'_>, cron: &Value, jobs: &[Object]) -> Result<(), ApiError> {
    let limits = [
        ("Complete", "successfulJobsHistoryLimit", 3),
        ("Failed", "failedJobsHistoryLimit", 1),
    ];
    for (kind, field, default) in limits {
        let limit = cron["spec"][field].as_u64().unwrap_or(default);
        let finished = jobs
            .iter()
            .filter(|job| condition::holds(&job["status"], kind));
        let mut finished: Vec<&Object> = finished.collect();
        finished.sort_by_key(|job| Reverse(job["status"]["startTime"].as_str()));
        for job in finished
            .into_iter()
            .skip(usize::try_from(limit).unwrap_or(0))
        {
            desk.delete(JOBS, job)?;
        }
    }
    Ok(())
}

fn write_status(
    desk: &Desk<'_>,
    key: &Key,
    jobs: &[Object],
    started: Option<Timestamp>,
) -> Result<(), ApiError> {
    let fresh: Vec<Object> = jobs
        .iter()
        .filter_map(|job| desk.get(JOBS, &meta::key(job)))
        .collect();
    let all = desk.list(JOBS, key.namespace());
    let done = fresh
        .iter()
        .filter_map(|job| job["status"]["completionTime"].as_str())
        .max();
    desk.update_status(CRON_JOBS, key, |cron| {
        let active = all
            .iter()
            .filter(|job| controlled::is_controlled_by(job, cron) && !is_finished(job))
            .map(|job| reference(job));
        let active: Vec<Value> = active.collect();
        cron["status"]["active"] = active.into();
        if let Some(started) = started {
            let moment = started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            cron["status"]["lastScheduleTime"] = moment.into();
        }
        if let Some(done) = done {
            cron["status"]["lastSuccessfulTime"] = done.into();
        }
    })
}

fn reference(job: &Value) -> Value {
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": meta::name(job),
        "namespace": meta::namespace(job),
        "resourceVersion": meta::text(job, "resourceVersion"),
        "uid": meta::uid(job),
    })
}
