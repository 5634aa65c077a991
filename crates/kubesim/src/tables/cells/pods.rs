//! Pods: what a pod's state comes to in one word.

use serde_json::{Value, json};

use super::{condition, is_condition};
use crate::meta;
use crate::tables::Seen;
use crate::tables::text::{NONE, items, moment, number, or, text};

pub(super) fn pod(seen: Seen<'_>) -> Vec<Value> {
    let (spec, status) = (seen.spec(), seen.status());
    let summary = Summary::of(seen.object);
    vec![
        json!(seen.name()),
        json!(format!("{}/{}", summary.ready, summary.total)),
        json!(summary.reason),
        json!(summary.restarts_text(seen)),
        json!(seen.age()),
        json!(or(&status["podIPs"][0]["ip"], NONE)),
        json!(or(&spec["nodeName"], NONE)),
        json!(or(&status["nominatedNodeName"], NONE)),
        json!(readiness_gates(spec, status)),
    ]
}

/// A pod that is done says so beside its cells.
pub(in crate::tables) fn add_conditions(row: &mut Value, pod: &Value) {
    let message = match pod["status"]["phase"].as_str() {
        Some("Succeeded") => "The pod has completed successfully.",
        Some("Failed") => "The pod failed.",
        _ => return,
    };
    row["conditions"] = json!([{
        "type": "Completed",
        "status": "True",
        "reason": pod["status"]["phase"],
        "message": message,
    }]);
}

fn readiness_gates(spec: &Value, status: &Value) -> String {
    let gates = items(&spec["readinessGates"]);
    let open = gates
        .iter()
        .filter(|gate| is_condition(status, text(&gate["conditionType"])));
    match gates.len() {
        0 => NONE.to_owned(),
        all => format!("{}/{all}", open.count()),
    }
}

#[derive(Default)]
struct Summary {
    ready: usize,
    total: usize,
    reason: String,
    restarts: i64,
    /// When a container last ended.
    ended: Option<jiff::Timestamp>,
}

impl Summary {
    fn of(pod: &Value) -> Self {
        let (spec, status) = (&pod["spec"], &pod["status"]);
        let side_cars = items(&spec["initContainers"])
            .iter()
            .filter(|c| is_side_car(c));
        let mut summary = Self {
            total: items(&spec["containers"]).len() + side_cars.count(),
            reason: or(&status["reason"], text(&status["phase"])).to_owned(),
            ..Self::default()
        };
        let scheduled = condition(status, "PodScheduled").map(|found| text(&found["reason"]));
        if scheduled == Some("SchedulingGated") {
            "SchedulingGated".clone_into(&mut summary.reason);
        }
        let initializing = summary.add_init_containers(spec, status);
        if !initializing || is_condition(status, "Initialized") {
            summary.add_containers(status);
        }
        summary.note_deletion(pod);
        summary
    }

    /// Whether containers that come first still run.
    fn add_init_containers(&mut self, spec: &Value, status: &Value) -> bool {
        let all = items(&spec["initContainers"]);
        for (index, container) in items(&status["initContainerStatuses"]).iter().enumerate() {
            let side_car = all
                .iter()
                .any(|c| c["name"] == container["name"] && is_side_car(c));
            self.restarts += number(&container["restartCount"]);
            let state = &container["state"];
            if state["terminated"]["exitCode"] == 0 {
                continue;
            }
            if side_car && container["started"] == true {
                self.ready += usize::from(container["ready"] == true);
                continue;
            }
            self.reason = match init_reason(state) {
                Some(reason) => format!("Init:{reason}"),
                None => format!("Init:{index}/{}", all.len()),
            };
            return true;
        }
        false
    }

    fn add_containers(&mut self, status: &Value) {
        self.restarts = 0;
        let (mut running, mut failure) = (false, None);
        for container in items(&status["containerStatuses"]).iter().rev() {
            let state = &container["state"];
            self.restarts += number(&container["restartCount"]);
            self.ended = self
                .ended
                .max(moment(&container["lastState"]["terminated"]["finishedAt"]));
            let waiting = text(&state["waiting"]["reason"]);
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.reason);
            } else if state["terminated"].is_object() {
                self.reason = end_reason(&state["terminated"]);
                if state["terminated"]["exitCode"] != 0 {
                    failure = Some(self.reason.clone());
                }
            } else if container["ready"] == true && state["running"].is_object() {
                running = true;
                self.ready += 1;
            }
        }
        if self.reason == "Completed" {
            self.note_completion(running, is_condition(status, "Ready"), failure);
        }
    }

    /// A pod of which one container has ended goes on as long as another one runs.
    fn note_completion(&mut self, running: bool, ready: bool, failure: Option<String>) {
        match failure {
            _ if running && ready => "Running".clone_into(&mut self.reason),
            Some(failure) => self.reason = failure,
            None if running => "NotReady".clone_into(&mut self.reason),
            None => {}
        }
    }

    fn note_deletion(&mut self, pod: &Value) {
        let done = matches!(
            pod["status"]["phase"].as_str(),
            Some("Succeeded" | "Failed")
        );
        if !meta::is_deleting(pod) {
            return;
        }
        if pod["status"]["reason"] == "NodeLost" {
            "Unknown".clone_into(&mut self.reason);
        } else if !done {
            "Terminating".clone_into(&mut self.reason);
        }
    }

    fn restarts_text(&self, seen: Seen<'_>) -> String {
        match self.ended {
            Some(ended) if self.restarts > 0 => {
                let ago = crate::tables::human_duration(seen.now.duration_since(ended));
                format!("{} ({ago} ago)", self.restarts)
            }
            _ => self.restarts.to_string(),
        }
    }
}

fn is_side_car(container: &Value) -> bool {
    container["restartPolicy"] == "Always"
}

fn init_reason(state: &Value) -> Option<String> {
    if state["terminated"].is_object() {
        return Some(end_reason(&state["terminated"]));
    }
    let waiting = text(&state["waiting"]["reason"]);
    (!["", "PodInitializing"].contains(&waiting)).then(|| waiting.to_owned())
}

fn end_reason(ended: &Value) -> String {
    match (text(&ended["reason"]), number(&ended["signal"])) {
        ("", 0) => format!("ExitCode:{}", number(&ended["exitCode"])),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}
