//! A kubelet that starts nothing: it tells of every pod on a node what a real one would tell.
//!
//! ```text
//! bound ──▶ creating ──▶ running ──▶ ready            deleted ──▶ stopping ──▶ gone
//!              └▶ pulling  └▶ ended, or waiting to be restarted
//! ```

mod report;

use std::time::Duration;

use serde_json::Value;

use super::agenda::{Agenda, Controller, Task};
use super::desk::{Desk, NODES, PODS};
use super::fate::{Fate, Times};
use super::{Again, pod};
use crate::meta;
use crate::status::ApiError;
use crate::store::{Key, Object};
use report::Report;

/// How long a container that ended waits for its first restart, and at most.
const FIRST_RESTART: Duration = Duration::from_secs(10);
const LAST_RESTART: Duration = Duration::from_secs(300);

/// How far a pod has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Creating,
    Pulling,
    Running,
    BackOff,
}

pub(super) fn reconcile(desk: &Desk<'_>, task: &Task) -> Again {
    let Some(agenda) = desk.agenda() else {
        return Ok(None);
    };
    let Some(pod) = desk.get(PODS, &task.key) else {
        agenda.forget(Controller::Kubelet, &task.key);
        return Ok(None);
    };
    let Some(node) = pod::node(&pod) else {
        return Ok(None);
    };
    let Some(node) = desk.get(NODES, &Key::cluster(node)) else {
        return lose(desk, &pod);
    };
    let life = Life {
        desk,
        agenda,
        task,
        times: Times::of(&pod, &agenda.settings),
        fate: Fate::of(&pod),
        report: Report::new(desk, agenda, &pod, &node),
        pod: &pod,
    };
    if meta::is_deleting(&pod) {
        return life.stop();
    }
    if is_evicted(&node, &pod) {
        return desk.delete(PODS, &pod).map(|()| None);
    }
    match pod::has_ended(&pod) {
        true => Ok(None),
        false => life.go_on(),
    }
}

/// A pod whose node does not exist has no kubelet; somebody else cleans up.
fn lose(desk: &Desk<'_>, pod: &Value) -> Again {
    desk.delete_now(PODS, pod).map(|()| None)
}

fn is_evicted(node: &Value, pod: &Value) -> bool {
    let taints = node["spec"]["taints"].as_array().into_iter().flatten();
    let mut hard = taints.filter(|taint| taint["effect"] == "NoExecute");
    hard.any(|taint| !super::scheduler::is_tolerated(taint, &pod["spec"]))
}

/// One pod and what is to become of it.
struct Life<'a> {
    desk: &'a Desk<'a>,
    agenda: &'a Agenda,
    task: &'a Task,
    times: Times,
    fate: Fate,
    report: Report<'a>,
    pod: &'a Object,
}

impl Life<'_> {
    fn go_on(&self) -> Again {
        match (self.stage(), self.fate) {
            (Stage::New, _) => self.create(),
            (Stage::Creating, Fate::Hang) | (Stage::Pulling, Fate::ImagePull) => Ok(None),
            (Stage::Creating | Stage::Pulling, _) => self.start(),
            (Stage::Running, Fate::Run | Fate::NeverReady) => self.keep_running(),
            (Stage::Running, _) => self.end(),
            (Stage::BackOff, _) => self.restart(),
        }
    }

    fn stage(&self) -> Stage {
        let state = &self.pod["status"]["containerStatuses"][0]["state"];
        match state["waiting"]["reason"].as_str() {
            Some("CrashLoopBackOff") => Stage::BackOff,
            Some("ErrImagePull" | "ImagePullBackOff") => Stage::Pulling,
            Some(_) => Stage::Creating,
            None if state["running"].is_object() => Stage::Running,
            None => Stage::New,
        }
    }

    /// How much of `delay` is left since the pod is in this state; nothing when it has passed.
    fn left(&self, state: &str, delay: Duration) -> Option<Duration> {
        let uid = meta::uid(self.pod);
        let mark = format!("{uid} {state} {}", self.report.restarts());
        let passed = self.agenda.time_in(self.task, &mark);
        delay.checked_sub(passed).filter(|left| !left.is_zero())
    }

    fn create(&self) -> Again {
        let left = self.left("starting", self.times.ready_after);
        if left.is_none() && self.fate != Fate::Hang {
            return self.start();
        }
        self.report.creating()?;
        Ok(left)
    }

    fn start(&self) -> Again {
        if let Some(left) = self.left("starting", self.times.ready_after) {
            return Ok(Some(left));
        }
        if self.fate == Fate::ImagePull {
            return self.report.pulling().map(|()| None);
        }
        let ready = !matches!(self.fate, Fate::NeverReady | Fate::Fail | Fate::CrashLoop);
        self.report.running(ready)?;
        self.desk
            .event(PODS, self.pod, "Started", "Container started");
        match self.fate {
            Fate::Run | Fate::NeverReady => Ok(None),
            _ => Ok(self
                .left("running", self.times.runs_for)
                .or(Some(Duration::ZERO))),
        }
    }

    /// Conditions that others set may have made it ready, or not.
    fn keep_running(&self) -> Again {
        self.report.running(self.fate == Fate::Run)?;
        Ok(None)
    }

    fn end(&self) -> Again {
        if let Some(left) = self.left("running", self.times.runs_for) {
            return Ok(Some(left));
        }
        let code = i64::from(self.fate != Fate::Succeed);
        let policy = self.pod["spec"]["restartPolicy"]
            .as_str()
            .unwrap_or("Always");
        let ends = match policy {
            "Never" => true,
            "OnFailure" => code == 0,
            _ => false,
        };
        if ends && self.fate != Fate::CrashLoop {
            return self.report.ended(code).map(|()| None);
        }
        self.report.crashed(code)?;
        let message = "Back-off restarting failed container";
        self.desk.warn(PODS, self.pod, "BackOff", message);
        Ok(Some(Duration::ZERO))
    }

    fn restart(&self) -> Again {
        let restarts = self.report.restarts().saturating_sub(1).min(16);
        let delay = FIRST_RESTART * 2u32.saturating_pow(u32::try_from(restarts).unwrap_or(16));
        if let Some(left) = self.left("waiting", delay.min(LAST_RESTART)) {
            return Ok(Some(left));
        }
        let ready = self.fate == Fate::Succeed;
        self.report.running(ready)?;
        Ok(Some(Duration::ZERO))
    }

    /// Stops the containers within their grace, then lets the pod go.
    fn stop(&self) -> Again {
        let grace = self.pod["metadata"]["deletionGracePeriodSeconds"]
            .as_u64()
            .unwrap_or(0);
        let delay = self.times.stops_after.min(Duration::from_secs(grace));
        if let Some(left) = self.left("stopping", delay) {
            return Ok(Some(left));
        }
        self.finish().map(|()| None)
    }

    fn finish(&self) -> Result<(), ApiError> {
        // Whoever holds the pod wants to know how it ended.
        if !meta::finalizers(self.pod).is_empty() && !pod::has_ended(self.pod) {
            self.report.ended(137)?;
        }
        self.desk.delete_now(PODS, self.pod)
    }
}
