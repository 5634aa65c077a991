//! ReplicaSets, and ReplicationControllers: so many pods of one template.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde_json::{Value, json};

use super::desk::{Desk, Noun, PODS};
use super::{Again, condition, controlled, pod};
use crate::meta;
use crate::selectors::LabelSelector;
use crate::status::ApiError;
use crate::store::{Key, Object};

/// How many pods are created or deleted at a time.
const BURST: usize = 500;

pub(super) fn reconcile(desk: &Desk<'_>, noun: Noun, key: &Key) -> Again {
    let Some(set) = desk.get(noun, key) else {
        return Ok(None);
    };
    let selector = LabelSelector::of(&set["spec"]["selector"]);
    let pods = controlled::claim(desk, PODS, noun, &set, &selector)?;
    let active: Vec<&Object> = pods.iter().filter(|pod| pod::is_active(pod)).collect();
    let managed = match meta::is_deleting(&set) {
        true => Ok(()),
        false => manage(desk, noun, &set, &active),
    };
    write_status(desk, noun, key, &selector, managed.as_ref().err())?;
    managed?;
    let min_ready = set["spec"]["minReadySeconds"].as_i64().unwrap_or(0);
    let pods = active.iter().map(|pod| &***pod);
    Ok(pod::next_available(pods, min_ready, desk.now()))
}

fn wanted(set: &Value) -> usize {
    let replicas = set["spec"]["replicas"].as_u64().unwrap_or(1);
    usize::try_from(replicas).unwrap_or(usize::MAX)
}

/// Makes the number of pods right.
fn manage(desk: &Desk<'_>, noun: Noun, set: &Value, active: &[&Object]) -> Result<(), ApiError> {
    let wanted = wanted(set);
    for _ in active.len()..wanted.min(active.len() + BURST) {
        create_pod(desk, noun, set)?;
    }
    let surplus = active.len().saturating_sub(wanted).min(BURST);
    for pod in dispensable_first(active).into_iter().take(surplus) {
        desk.delete(PODS, pod)?;
        let message = format!("Deleted pod: {}", meta::name(pod));
        desk.event(noun, set, "SuccessfulDelete", &message);
    }
    Ok(())
}

fn create_pod(desk: &Desk<'_>, noun: Noun, set: &Value) -> Result<(), ApiError> {
    let mut pod = pod::from_template(&set["spec"]["template"], noun, set);
    pod["metadata"]["generateName"] = format!("{}-", meta::name(set)).into();
    match desk.create(PODS, pod) {
        Ok(pod) => {
            let message = format!("Created pod: {}", meta::name(&pod));
            desk.event(noun, set, "SuccessfulCreate", &message);
            Ok(())
        }
        Err(error) => {
            let message = format!("Error creating: {error}");
            desk.warn(noun, set, "FailedCreate", &message);
            Err(error)
        }
    }
}

/// The pods in the order in which a smaller set does without them.
fn dispensable_first<'p>(pods: &[&'p Object]) -> Vec<&'p Object> {
    let mut on_node: HashMap<&str, usize> = HashMap::new();
    for node in pods.iter().filter_map(|pod| pod::node(pod)) {
        *on_node.entry(node).or_default() += 1;
    }
    let mut pods = pods.to_vec();
    pods.sort_by_cached_key(|pod| {
        let neighbours = pod::node(pod).and_then(|node| on_node.get(node)).copied();
        let phase = match pod::phase(pod) {
            "Pending" => 0,
            "Unknown" => 1,
            _ => 2,
        };
        let cost = meta::annotation(pod, "controller.kubernetes.io/pod-deletion-cost");
        let ready_since = condition::find(&pod["status"], "Ready").map(|ready| {
            ready["lastTransitionTime"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        });
        (
            (pod::node(pod).is_some(), phase, pod::is_ready(pod)),
            cost.and_then(|cost| cost.parse::<i64>().ok()).unwrap_or(0),
            Reverse(neighbours.unwrap_or(0)),
            Reverse(ready_since),
            Reverse(meta::text(pod, "creationTimestamp").to_owned()),
            Reverse(meta::revision(pod)),
        )
    });
    pods
}

fn write_status(
    desk: &Desk<'_>,
    noun: Noun,
    key: &Key,
    selector: &LabelSelector,
    failure: Option<&ApiError>,
) -> Result<(), ApiError> {
    let Some(set) = desk.get(noun, key) else {
        return Ok(());
    };
    let pods = desk.list(PODS, key.namespace());
    let mine = pods.iter().filter(|pod| {
        controlled::is_controlled_by(pod, &set) && selector.matches(&pod["metadata"]["labels"])
    });
    let (active, others): (Vec<&Object>, Vec<&Object>) = mine.partition(|pod| pod::is_active(pod));
    let terminating = others
        .iter()
        .filter(|pod| meta::is_deleting(pod) && !pod::has_ended(pod))
        .count();
    desk.update_status(noun, key, |set| {
        let mut status = counts(desk, set, &active);
        if noun.kind == "ReplicaSet" {
            status["terminatingReplicas"] = terminating.into();
        }
        status["observedGeneration"] = set["metadata"]["generation"].clone();
        status["conditions"] = set["status"]["conditions"].clone();
        note_failure(desk, &mut status, failure, active.len() < wanted(set));
        set["status"] = status;
    })
}

fn counts(desk: &Desk<'_>, set: &Value, active: &[&Object]) -> Value {
    let min_ready = set["spec"]["minReadySeconds"].as_i64().unwrap_or(0);
    let labels = LabelSelector::of(&set["spec"]["template"]["metadata"]["labels"]);
    let count = |fits: &dyn Fn(&Value) -> bool| active.iter().filter(|pod| fits(pod)).count();
    json!({
        "replicas": active.len(),
        "fullyLabeledReplicas": count(&|pod| labels.matches(&pod["metadata"]["labels"])),
        "readyReplicas": count(&pod::is_ready),
        "availableReplicas": count(&|pod| pod::is_available(pod, min_ready, desk.now())),
    })
}

fn note_failure(desk: &Desk<'_>, status: &mut Value, failure: Option<&ApiError>, too_few: bool) {
    let known = condition::find(status, "ReplicaFailure").is_some();
    match failure {
        Some(error) if !known => {
            let reason = if too_few {
                "FailedCreate"
            } else {
                "FailedDelete"
            };
            let now = desk.timestamp();
            let condition = condition::new("ReplicaFailure", true, reason, &error.message, &now);
            condition::put(status, condition);
        }
        Some(_) => {}
        None => condition::remove(status, "ReplicaFailure"),
    }
}
