//! Pretended nodes: always ready, whoever created them.

use serde_json::{Value, json};

use super::desk::{Desk, NODES};
use super::{Again, condition};
use crate::meta;
use crate::store::Key;

const VERSION: &str = "v1.36.4";
const NOT_READY: &str = "node.kubernetes.io/not-ready";
const CORDONED: &str = "node.kubernetes.io/unschedulable";

/// What a node is well supplied with, and what it says of that.
const SUPPLIES: [(&str, &str, &str); 3] = [
    (
        "MemoryPressure",
        "KubeletHasSufficientMemory",
        "kubelet has sufficient memory available",
    ),
    (
        "DiskPressure",
        "KubeletHasNoDiskPressure",
        "kubelet has no disk pressure",
    ),
    (
        "PIDPressure",
        "KubeletHasSufficientPID",
        "kubelet has sufficient PID available",
    ),
];

/// Makes sure that there are as many nodes as there shall be.
pub(super) fn found(desk: &Desk<'_>) {
    let wanted = desk.agenda().map_or(0, |agenda| agenda.settings.nodes);
    for number in 0..wanted {
        let name = format!("node-{number}");
        if desk.get(NODES, &Key::cluster(&name)).is_some() {
            continue;
        }
        let labels = json!({
            "beta.kubernetes.io/arch": "amd64",
            "beta.kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
        });
        let node = json!({"metadata": {"name": name, "labels": labels}});
        if let Err(error) = desk.create(NODES, node) {
            tracing::debug!(name, %error, "a node could not be created");
        }
    }
}

/// Keeps a node ready, and its taints in step with that.
pub(super) fn reconcile(desk: &Desk<'_>, key: &Key) -> Again {
    let Some(node) = desk.get(NODES, key) else {
        return Ok(None);
    };
    if !condition::holds(&node["status"], "Ready") {
        let now = desk.timestamp();
        desk.update_status(NODES, key, |node| report(node, &now))?;
    }
    desk.update(NODES, key, |node| {
        set_taint(node, NOT_READY, false);
        let cordoned = node["spec"]["unschedulable"] == true;
        set_taint(node, CORDONED, cordoned);
    })?;
    Ok(None)
}

fn set_taint(node: &mut Value, key: &str, wanted: bool) {
    let mut taints = node["spec"]["taints"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let known = taints.iter().any(|taint| taint["key"] == key);
    if known == wanted {
        return;
    }
    taints.retain(|taint| taint["key"] != key);
    if wanted {
        taints.push(json!({"key": key, "effect": "NoSchedule"}));
    }
    match taints.is_empty() {
        true => drop(
            node["spec"]
                .as_object_mut()
                .map(|spec| spec.remove("taints")),
        ),
        false => node["spec"]["taints"] = taints.into(),
    }
}

fn report(node: &mut Value, now: &str) {
    let name = meta::name(node).to_owned();
    let status = &mut node["status"];
    for field in ["capacity", "allocatable"] {
        if status[field]
            .as_object()
            .is_none_or(|found| found.is_empty())
        {
            status[field] = json!({"cpu": "1k", "memory": "1Ti", "pods": "1M"});
        }
    }
    let addressed = status["addresses"]
        .as_array()
        .is_some_and(|list| !list.is_empty());
    if !addressed {
        let [.., a, b] = name
            .bytes()
            .fold(0u32, |sum, byte| {
                sum.wrapping_mul(31).wrapping_add(u32::from(byte))
            })
            .to_be_bytes();
        status["addresses"] = json!([
            {"type": "InternalIP", "address": format!("172.18.{a}.{b}")},
            {"type": "Hostname", "address": name},
        ]);
    }
    let info = json!({
        "architecture": "amd64",
        "bootID": "",
        "containerRuntimeVersion": "kubesim://1.0",
        "kernelVersion": "kubesim",
        "kubeProxyVersion": "",
        "kubeletVersion": VERSION,
        "machineID": "",
        "operatingSystem": "linux",
        "osImage": "kubesim",
        "systemUUID": "",
    });
    status["nodeInfo"] = info;
    for (kind, reason, message) in SUPPLIES {
        condition::set(status, heartbeat(kind, false, reason, message, now));
    }
    let message = "kubelet is posting ready status";
    condition::set(
        status,
        heartbeat("Ready", true, "KubeletReady", message, now),
    );
}

fn heartbeat(kind: &str, holds: bool, reason: &str, message: &str, now: &str) -> Value {
    let mut condition = condition::new(kind, holds, reason, message, now);
    condition["lastHeartbeatTime"] = now.into();
    condition
}
