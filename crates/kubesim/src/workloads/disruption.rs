//! Disruption budgets: how many of the pods that they select may go.

use serde_json::{Value, json};

use super::desk::{BUDGETS, Desk, Noun, PODS};
use super::{Again, condition, controlled, deployment, desk, pod};
use crate::meta;
use crate::selectors::LabelSelector;
use crate::store::{Key, Object};

pub(super) fn reconcile(desk: &Desk<'_>, key: &Key) -> Again {
    let Some(budget) = desk.get(BUDGETS, key) else {
        return Ok(None);
    };
    let selector = LabelSelector::of(&budget["spec"]["selector"]);
    let mut pods = desk.list(PODS, key.namespace());
    pods.retain(|pod| selector.matches(&pod["metadata"]["labels"]) && !pod::has_ended(pod));
    let healthy = pods
        .iter()
        .filter(|pod| !meta::is_deleting(pod) && pod::is_ready(pod));
    let healthy = i64::try_from(healthy.count()).unwrap_or(i64::MAX);
    let (expected, needed) = expectation(desk, &budget["spec"], &pods);
    let allowed = if expected > 0 {
        (healthy - needed).max(0)
    } else {
        0
    };
    let now = desk.timestamp();
    desk.update_status(BUDGETS, key, |budget| {
        let generation = budget["metadata"]["generation"].clone();
        let mut status = json!({
            "currentHealthy": healthy,
            "desiredHealthy": needed,
            "expectedPods": expected,
            "disruptionsAllowed": allowed,
            "observedGeneration": generation,
            "conditions": budget["status"]["conditions"],
        });
        let reason = if allowed > 0 {
            "SufficientPods"
        } else {
            "InsufficientPods"
        };
        let mut condition = condition::new("DisruptionAllowed", allowed > 0, reason, "", &now);
        condition["observedGeneration"] = generation;
        condition::set(&mut status, condition);
        budget["status"] = status;
    })?;
    Ok(None)
}

/// How many pods there should be, and how many of them must be well.
fn expectation(desk: &Desk<'_>, spec: &Value, pods: &[Object]) -> (i64, i64) {
    let there = i64::try_from(pods.len()).unwrap_or(i64::MAX);
    if let Some(most) = spec.get("maxUnavailable") {
        let expected = scale(desk, pods);
        return (
            expected,
            (expected - deployment::share(most, expected, true)).max(0),
        );
    }
    match &spec["minAvailable"] {
        Value::Number(least) => (there, least.as_i64().unwrap_or(0)),
        percent => {
            let expected = scale(desk, pods);
            (expected, deployment::share(percent, expected, true))
        }
    }
}

/// What the controllers of these pods were asked for.
fn scale(desk: &Desk<'_>, pods: &[Object]) -> i64 {
    let mut owners: Vec<(Noun, Key)> = Vec::new();
    for pod in pods {
        if let Some(owner) = top_owner(desk, pod).filter(|owner| !owners.contains(owner)) {
            owners.push(owner);
        }
    }
    let sizes = owners.iter().filter_map(|(noun, key)| {
        let owner = desk.get(*noun, key)?;
        owner["spec"]["replicas"].as_i64()
    });
    sizes.sum()
}

fn top_owner(desk: &Desk<'_>, pod: &Value) -> Option<(Noun, Key)> {
    let (noun, key) = owner(pod)?;
    let above = desk.get(noun, &key).and_then(|owner| self::owner(&owner));
    Some(above.unwrap_or((noun, key)))
}

fn owner(object: &Value) -> Option<(Noun, Key)> {
    let reference = controlled::controller_of(object)?;
    let known = [
        desk::REPLICA_SETS,
        desk::DEPLOYMENTS,
        desk::STATEFUL_SETS,
        desk::REPLICATION_CONTROLLERS,
    ];
    let noun = known
        .into_iter()
        .find(|noun| reference["kind"] == noun.kind)?;
    let name = reference["name"].as_str()?;
    Some((noun, Key::namespaced(meta::namespace(object), name)))
}
