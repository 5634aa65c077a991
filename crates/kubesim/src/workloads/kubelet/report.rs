//! The status of a pod, as a kubelet writes it.

use serde_json::{Value, json};

use crate::meta;
use crate::status::ApiError;
use crate::workloads::agenda::Agenda;
use crate::workloads::condition;
use crate::workloads::desk::{Desk, PODS};

/// What is told of one pod.
pub(super) struct Report<'a> {
    desk: &'a Desk<'a>,
    agenda: &'a Agenda,
    pod: &'a Value,
    host: &'a str,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        desk: &'a Desk<'a>,
        agenda: &'a Agenda,
        pod: &'a Value,
        node: &'a Value,
    ) -> Self {
        let addresses = node["status"]["addresses"].as_array().into_iter().flatten();
        let mut internal = addresses.filter(|address| address["type"] == "InternalIP");
        let host = internal
            .next()
            .and_then(|address| address["address"].as_str());
        Self {
            desk,
            agenda,
            pod,
            host: host.unwrap_or("127.0.0.1"),
        }
    }

    /// How often the first container was restarted.
    pub(super) fn restarts(&self) -> u64 {
        let first = &self.pod["status"]["containerStatuses"][0];
        first["restartCount"].as_u64().unwrap_or(0)
    }

    pub(super) fn creating(&self) -> Result<(), ApiError> {
        let waiting = json!({"waiting": {"reason": "ContainerCreating"}});
        self.write(
            "Pending",
            &|_| (waiting.clone(), json!({})),
            false,
            self.restarts(),
        )
    }

    pub(super) fn pulling(&self) -> Result<(), ApiError> {
        let state = |container: &Value| {
            let image = container["image"].as_str().unwrap_or_default();
            let message =
                format!("Back-off pulling image {image:?}: ErrImagePull: {image}: not found");
            (
                json!({"waiting": {"reason": "ImagePullBackOff", "message": message}}),
                json!({}),
            )
        };
        self.desk
            .warn(PODS, self.pod, "Failed", "Error: ImagePullBackOff");
        self.write("Pending", &state, false, self.restarts())
    }

    pub(super) fn running(&self, ready: bool) -> Result<(), ApiError> {
        let now = self.desk.timestamp();
        let state = |container: &Value| {
            let known = self.known(container);
            let since = known.and_then(|known| known["state"]["running"].get("startedAt"));
            let since = since.cloned().unwrap_or_else(|| now.as_str().into());
            let last = known.map_or_else(|| json!({}), |known| known["lastState"].clone());
            (json!({"running": {"startedAt": since}}), last)
        };
        self.write("Running", &state, ready, self.restarts())
    }

    pub(super) fn ended(&self, code: i64) -> Result<(), ApiError> {
        let phase = if code == 0 { "Succeeded" } else { "Failed" };
        let ended = |container: &Value| (self.terminated(container, code), json!({}));
        self.write(phase, &ended, false, self.restarts())
    }

    pub(super) fn crashed(&self, code: i64) -> Result<(), ApiError> {
        let (pod, uid) = (meta::name(self.pod), meta::uid(self.pod));
        let namespace = meta::namespace(self.pod);
        let state = |container: &Value| {
            let name = container["name"].as_str().unwrap_or_default();
            let message = format!(
                "back-off 10s restarting failed container={name} pod={pod}_{namespace}({uid})"
            );
            let waiting = json!({"waiting": {"reason": "CrashLoopBackOff", "message": message}});
            (waiting, self.terminated(container, code))
        };
        self.write("Running", &state, false, self.restarts() + 1)
    }

    fn terminated(&self, container: &Value, code: i64) -> Value {
        let known = self.known(container);
        let since = known.and_then(|known| known["state"]["running"]["startedAt"].as_str());
        let now = self.desk.timestamp();
        json!({"terminated": {
            "exitCode": code,
            "reason": if code == 0 { "Completed" } else { "Error" },
            "startedAt": since.unwrap_or(&now),
            "finishedAt": now,
            "containerID": self.container_id(container),
        }})
    }

    fn known(&self, container: &Value) -> Option<&Value> {
        let known = self.pod["status"]["containerStatuses"].as_array()?;
        known
            .iter()
            .find(|known| known["name"] == container["name"])
    }

    fn container_id(&self, container: &Value) -> String {
        let uid = meta::uid(self.pod).replace('-', "");
        let name = container["name"].as_str().unwrap_or_default();
        format!("kubesim://{uid}-{name}-{}", self.restarts())
    }

    /// Writes the whole status; `state` tells the state and the last state of a container.
    fn write(
        &self,
        phase: &str,
        state: &dyn Fn(&Value) -> (Value, Value),
        ready: bool,
        restarts: u64,
    ) -> Result<(), ApiError> {
        let containers = self.pod["spec"]["containers"]
            .as_array()
            .into_iter()
            .flatten();
        let statuses: Vec<Value> = containers
            .map(|container| self.container(container, state(container), ready, restarts))
            .collect();
        let started = phase != "Pending";
        let ready = ready && self.gates_are_open();
        let now = self.desk.timestamp();
        let address = self.address(started);
        self.desk.update_status(PODS, &meta::key(self.pod), |pod| {
            let status = &mut pod["status"];
            status["phase"] = phase.into();
            if status["startTime"].is_null() {
                status["startTime"] = now.as_str().into();
            }
            status["hostIP"] = self.host.into();
            status["hostIPs"] = json!([{"ip": self.host}]);
            if let Some(address) = &address {
                status["podIP"] = address.as_str().into();
                status["podIPs"] = json!([{"ip": address}]);
            }
            status["containerStatuses"] = statuses.clone().into();
            self.init_containers(status, started, &now);
            self.conditions(status, phase, ready, &now);
        })
    }

    fn container(
        &self,
        container: &Value,
        state: (Value, Value),
        ready: bool,
        restarts: u64,
    ) -> Value {
        let (state, last) = state;
        let image = container["image"].as_str().unwrap_or_default();
        let running = state["running"].is_object();
        let mut status = json!({
            "name": container["name"],
            "image": image,
            "imageID": "",
            "ready": ready && running,
            "started": running,
            "restartCount": restarts,
            "state": state,
            "lastState": last,
        });
        if running || status["state"]["terminated"].is_object() {
            status["containerID"] = self.container_id(container).into();
            status["imageID"] = format!("kubesim://{image}").into();
        }
        status
    }

    fn init_containers(&self, status: &mut Value, started: bool, now: &str) {
        let list = self.pod["spec"]["initContainers"].as_array();
        let Some(list) = list.filter(|_| started && status["initContainerStatuses"].is_null())
        else {
            return;
        };
        let done = |container: &Value| {
            let sidecar = container["restartPolicy"] == "Always";
            let state = match sidecar {
                true => json!({"running": {"startedAt": now}}),
                false => json!({"terminated": {
                    "exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now,
                }}),
            };
            self.container(container, (state, json!({})), sidecar, 0)
        };
        let list: Vec<Value> = list.iter().map(done).collect();
        status["initContainerStatuses"] = list.into();
    }

    fn gates_are_open(&self) -> bool {
        let gates = self.pod["spec"]["readinessGates"]
            .as_array()
            .into_iter()
            .flatten();
        let mut kinds = gates.filter_map(|gate| gate["conditionType"].as_str());
        kinds.all(|kind| condition::holds(&self.pod["status"], kind))
    }

    fn conditions(&self, status: &mut Value, phase: &str, ready: bool, now: &str) {
        let names = self.pod["spec"]["containers"]
            .as_array()
            .into_iter()
            .flatten();
        let names: Vec<&str> = names
            .filter_map(|container| container["name"].as_str())
            .collect();
        let unready = format!("containers with unready status: [{}]", names.join(" "));
        let started = phase != "Pending";
        let ended = matches!(phase, "Succeeded" | "Failed");
        let reason = match (ready, phase) {
            (true, _) => None,
            (_, "Succeeded") => Some(("PodCompleted", "")),
            (_, "Failed") => Some(("PodFailed", "")),
            _ => Some(("ContainersNotReady", unready.as_str())),
        };
        let completed = (phase == "Succeeded").then_some(("PodCompleted", ""));
        let generation = self.pod["metadata"]["generation"].clone();
        let all = [
            ("PodReadyToStartContainers", started && !ended, None),
            ("Initialized", true, completed),
            ("Ready", ready, reason),
            ("ContainersReady", ready, reason),
        ];
        for (kind, holds, why) in all {
            let (reason, message) = why.unwrap_or_default();
            let mut new = condition::new(kind, holds, reason, message, now);
            new["lastProbeTime"] = Value::Null;
            new["observedGeneration"] = generation.clone();
            replace(status, new);
        }
    }

    fn address(&self, started: bool) -> Option<String> {
        if self.pod["spec"]["hostNetwork"] == true {
            return Some(self.host.to_owned());
        }
        let known = self.pod["status"]["podIP"]
            .as_str()
            .filter(|address| !address.is_empty());
        match known {
            Some(address) => Some(address.to_owned()),
            None => started.then(|| self.agenda.next_address(self.desk)),
        }
    }
}

/// Puts a condition in the place of the one of its type; an unchanged one keeps its time.
fn replace(status: &mut Value, mut new: Value) {
    if !status["conditions"].is_array() {
        status["conditions"] = json!([]);
    }
    let Some(conditions) = status["conditions"].as_array_mut() else {
        return;
    };
    match conditions
        .iter_mut()
        .find(|known| known["type"] == new["type"])
    {
        Some(known) => {
            if known["status"] == new["status"] {
                new["lastTransitionTime"] = known["lastTransitionTime"].clone();
            }
            *known = new;
        }
        None => conditions.push(new),
    }
}
