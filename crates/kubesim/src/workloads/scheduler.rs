//! A scheduler: gives every pod that waits the emptiest node that takes it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::desk::{CLAIMS, CLASSES, Desk, NODES, PODS};
use super::{Again, condition, pod};
use crate::meta;
use crate::quantity::Quantity;
use crate::status::ApiError;
use crate::store::{CommitError, Key, Object};

const AFFINITY: &str = "node(s) didn't match Pod's node affinity/selector";
const UNSCHEDULABLE: &str = "node(s) were unschedulable";
const CLAIMS_UNBOUND: &str = "pod has unbound immediate PersistentVolumeClaims";

pub(super) fn reconcile(desk: &Desk<'_>, key: &Key) -> Again {
    let Some(pod) = desk.get(PODS, key) else {
        return Ok(None);
    };
    let gated = pod["spec"]["schedulingGates"]
        .as_array()
        .is_some_and(|gates| !gates.is_empty());
    let mine = pod["spec"]["schedulerName"]
        .as_str()
        .unwrap_or("default-scheduler");
    let mine = mine == "default-scheduler";
    if pod::node(&pod).is_some() || !pod::is_active(&pod) || gated || !mine {
        return Ok(None);
    }
    let nodes = desk.list(NODES, None);
    match choose(desk, &pod, &nodes) {
        Ok(node) => {
            let name = meta::name(node).to_owned();
            bind(desk, key, &name)?;
            let pod_name = format!("{}/{}", meta::namespace(&pod), meta::name(&pod));
            let message = format!("Successfully assigned {pod_name} to {name}");
            desk.event(PODS, &pod, "Scheduled", &message);
        }
        Err(message) => refuse(desk, &pod, &message)?,
    }
    Ok(None)
}

/// The node for a pod, or why there is none.
fn choose<'n>(desk: &Desk<'_>, pod: &Value, nodes: &'n [Object]) -> Result<&'n Object, String> {
    let total = nodes.len();
    if nodes.is_empty() {
        return Err("no nodes available to schedule pods".into());
    }
    if waits_for_claims(desk, pod) {
        return Err(format!(
            "0/{total} nodes are available: {CLAIMS_UNBOUND}. not found"
        ));
    }
    let pods = desk.list(PODS, None);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut best: Option<(usize, &Object)> = None;
    for node in nodes {
        let there: Vec<&Object> = pods
            .iter()
            .filter(|other| pod::node(other) == Some(meta::name(node)) && !pod::has_ended(other))
            .collect();
        let refused = refusal(node, &pod["spec"]).or_else(|| shortage(node, &there, pod));
        match refused {
            Some(reason) => *reasons.entry(reason).or_default() += 1,
            None if best.is_none_or(|(least, _)| there.len() < least) => {
                best = Some((there.len(), node));
            }
            None => {}
        }
    }
    best.map(|(_, node)| node)
        .ok_or_else(|| explain(total, &reasons))
}

fn explain(total: usize, reasons: &BTreeMap<String, usize>) -> String {
    let reasons: Vec<String> = reasons
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    let reasons = reasons.join(", ");
    format!(
        "0/{total} nodes are available: {reasons}. no new claims to deallocate, preemption: \
         0/{total} nodes are available: {total} Preemption is not helpful for scheduling."
    )
}

/// Whether a node takes such a pod at all, however full it is.
pub(super) fn takes(node: &Value, spec: &Value) -> bool {
    refusal(node, spec).is_none()
}

fn refusal(node: &Value, spec: &Value) -> Option<String> {
    let named = spec["nodeName"].as_str().unwrap_or_default();
    if !named.is_empty() && named != meta::name(node) {
        return Some("node(s) didn't match the requested node name".into());
    }
    if node["spec"]["unschedulable"] == true && !tolerates_cordon(spec) {
        return Some(UNSCHEDULABLE.into());
    }
    let taints = node["spec"]["taints"].as_array().into_iter().flatten();
    for taint in taints {
        let hard = matches!(taint["effect"].as_str(), Some("NoSchedule" | "NoExecute"));
        if hard && !is_tolerated(taint, spec) {
            let key = taint["key"].as_str().unwrap_or_default();
            let value = taint["value"].as_str().unwrap_or_default();
            return Some(format!("node(s) had untolerated taint {{{key}: {value}}}"));
        }
    }
    (!fits_selectors(node, spec)).then(|| AFFINITY.into())
}

fn tolerates_cordon(spec: &Value) -> bool {
    let taint = json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
    is_tolerated(&taint, spec)
}

pub(super) fn is_tolerated(taint: &Value, spec: &Value) -> bool {
    let tolerations = spec["tolerations"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    tolerations.into_iter().any(|toleration| {
        let effect = text(&toleration["effect"]);
        let key = text(&toleration["key"]);
        let exists = toleration["operator"] == "Exists";
        let same_value = text(&toleration["value"]) == text(&taint["value"]);
        (effect.is_empty() || effect == text(&taint["effect"]))
            && (key == text(&taint["key"]) || (key.is_empty() && exists))
            && (exists || same_value)
    })
}

fn fits_selectors(node: &Value, spec: &Value) -> bool {
    let labels = &node["metadata"]["labels"];
    let wanted = spec["nodeSelector"].as_object();
    let plain = wanted
        .into_iter()
        .flatten()
        .all(|(key, value)| labels.get(key) == Some(value));
    let required =
        &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    let terms = required["nodeSelectorTerms"].as_array();
    plain && terms.is_none_or(|terms| terms.iter().any(|term| fits_term(node, term)))
}

fn fits_term(node: &Value, term: &Value) -> bool {
    let requirements = |list: &str| term[list].as_array().cloned().unwrap_or_default();
    let (labels, fields) = (
        requirements("matchExpressions"),
        requirements("matchFields"),
    );
    let label = |key: &str| node["metadata"]["labels"][key].as_str();
    let field = |key: &str| (key == "metadata.name").then(|| meta::name(node));
    !(labels.is_empty() && fields.is_empty())
        && labels.iter().all(|one| fits_requirement(one, label))
        && fields.iter().all(|one| fits_requirement(one, field))
}

fn fits_requirement<'v>(requirement: &Value, value_of: impl Fn(&str) -> Option<&'v str>) -> bool {
    let value = value_of(requirement["key"].as_str().unwrap_or_default());
    let values = meta::strings(requirement.get("values"));
    let number = |text: &str| text.parse::<i64>().ok();
    let limit = values.first().and_then(|text| number(text));
    let compare = |test: fn(&i64, &i64) -> bool| {
        value
            .and_then(number)
            .zip(limit)
            .is_some_and(|(value, limit)| test(&value, &limit))
    };
    match requirement["operator"].as_str().unwrap_or_default() {
        "In" => value.is_some_and(|value| values.contains(&value)),
        "NotIn" => value.is_none_or(|value| !values.contains(&value)),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => compare(i64::gt),
        "Lt" => compare(i64::lt),
        _ => false,
    }
}

/// What a node has too little of, beside the pods that are there.
fn shortage(node: &Value, there: &[&Object], pod: &Value) -> Option<String> {
    let room = &node["status"]["allocatable"];
    let most = Quantity::of(&room["pods"]);
    let count = Quantity::parse(&(there.len() + 1).to_string());
    if most.zip(count).is_some_and(|(most, count)| count > most) {
        return Some("Too many pods".into());
    }
    for resource in ["cpu", "memory"] {
        let Some(room) = Quantity::of(&room[resource]) else {
            continue;
        };
        let wanted = requests(pod, resource);
        let used = there
            .iter()
            .map(|pod| requests(pod, resource))
            .sum::<i128>();
        if wanted > 0 && used + wanted > room.nanos() {
            return Some(format!("Insufficient {resource}"));
        }
    }
    None
}

/// What a pod's containers ask for, in thousand-millionths.
fn requests(pod: &Value, resource: &str) -> i128 {
    let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
    let asked = containers.filter_map(|one| Quantity::of(&one["resources"]["requests"][resource]));
    asked.map(Quantity::nanos).sum()
}

/// Whether a pod names a claim that must be bound first.
fn waits_for_claims(desk: &Desk<'_>, pod: &Value) -> bool {
    let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
    let mut names = volumes.filter_map(|one| one["persistentVolumeClaim"]["claimName"].as_str());
    names.any(|name| {
        let key = Key::namespaced(meta::namespace(pod), name);
        let Some(claim) = desk.get(CLAIMS, &key) else {
            return true;
        };
        let class = claim["spec"]["storageClassName"]
            .as_str()
            .unwrap_or_default();
        let class = desk.get(CLASSES, &Key::cluster(class));
        let later = class.is_some_and(|class| class["volumeBindingMode"] == "WaitForFirstConsumer");
        claim["status"]["phase"] != "Bound" && !later
    })
}

/// Gives the pod to the node. This is no update: no rule of pods is asked.
fn bind(desk: &Desk<'_>, key: &Key, node: &str) -> Result<(), ApiError> {
    let (store, pods) = (desk.cluster.store(), PODS.id());
    while let Some(live) = store.get(&pods, key) {
        let mut bound = Value::clone(&live);
        bound["spec"]["nodeName"] = node.into();
        let mut scheduled =
            json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null});
        scheduled["lastTransitionTime"] = desk.timestamp().into();
        if let Some(generation) = live["metadata"].get("generation") {
            scheduled["observedGeneration"] = generation.clone();
        }
        condition::put(&mut bound["status"], scheduled);
        match store.update(&pods, key, meta::revision(&live), bound) {
            Ok(after) => {
                desk.cluster
                    .after_write(&pods, key, Some(&live), Some(&after));
                break;
            }
            Err(CommitError::Changed(_)) => {}
            Err(error) => return Err(ApiError::internal(format!("bind {key}: {error}"))),
        }
    }
    Ok(())
}

fn refuse(desk: &Desk<'_>, pod: &Value, message: &str) -> Result<(), ApiError> {
    let key = meta::key(pod);
    let known = condition::find(&pod["status"], "PodScheduled");
    if known.is_some_and(|known| known["message"] == message) {
        return Ok(());
    }
    let now = desk.timestamp();
    desk.warn(PODS, pod, "FailedScheduling", message);
    desk.update_status(PODS, &key, |pod| {
        let mut refused = condition::new("PodScheduled", false, "Unschedulable", message, &now);
        refused["lastProbeTime"] = Value::Null;
        refused["observedGeneration"] = pod["metadata"]["generation"].clone();
        condition::put(&mut pod["status"], refused);
    })
}
