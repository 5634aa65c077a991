//! DaemonSets: one pod on every node that takes it.

use serde_json::{Value, json};

use super::desk::{DAEMON_SETS, Desk, NODES, PODS};
use super::revisions::{History, LABEL};
use super::{Again, controlled, deployment, pod, scheduler};
use crate::meta;
use crate::selectors::LabelSelector;
use crate::status::ApiError;
use crate::store::{Key, Object};

/// What daemons put up with, and with what effect.
const TOLERATED: [(&str, &str); 6] = [
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
];
const GENERATION: &str = "deprecated.daemonset.template.generation";

pub(super) fn reconcile(desk: &Desk<'_>, key: &Key) -> Again {
    let Some(set) = desk.get(DAEMON_SETS, key) else {
        return Ok(None);
    };
    if meta::is_deleting(&set) {
        return Ok(None);
    }
    let history = History::of(desk, DAEMON_SETS, &set)?;
    let latest = history.revisions.last();
    let hash = latest.map_or("", |latest| label(latest)).to_owned();
    let round = Round {
        desk,
        set: &set,
        hash,
        selector: LabelSelector::of(&set["spec"]["selector"]),
    };
    round.place()?;
    if set["spec"]["updateStrategy"]["type"] != "OnDelete" {
        round.roll()?;
    }
    round.write_status(key)?;
    let limit = set["spec"]["revisionHistoryLimit"].as_i64().unwrap_or(10);
    let pods = round.pods()?;
    history.trim(desk, limit, |revision| {
        label(revision) == round.hash || pods.iter().any(|pod| label(pod) == label(revision))
    })?;
    let pods = pods.iter().map(|pod| &**pod);
    Ok(pod::next_available(pods, round.min_ready(), desk.now()))
}

fn label(object: &Value) -> &str {
    object["metadata"]["labels"][LABEL]
        .as_str()
        .unwrap_or_default()
}

/// One look at a set.
struct Round<'a> {
    desk: &'a Desk<'a>,
    set: &'a Value,
    hash: String,
    selector: LabelSelector,
}

impl Round<'_> {
    fn min_ready(&self) -> i64 {
        self.set["spec"]["minReadySeconds"].as_i64().unwrap_or(0)
    }

    fn pods(&self) -> Result<Vec<Object>, ApiError> {
        controlled::claim(self.desk, PODS, DAEMON_SETS, self.set, &self.selector)
    }

    fn nodes(&self) -> Vec<Object> {
        self.desk.list(NODES, None)
    }

    /// Creates what is missing on nodes that take the pod, deletes what is where it should not be.
    fn place(&self) -> Result<(), ApiError> {
        let pods = self.pods()?;
        let nodes = self.nodes();
        for node in &nodes {
            let here: Vec<&Object> = pods
                .iter()
                .filter(|pod| target(pod) == Some(meta::name(node)))
                .collect();
            self.place_on(node, &here)?;
        }
        let gone = |name: &str| nodes.iter().all(|node| meta::name(node) != name);
        for pod in pods.iter().filter(|pod| target(pod).is_some_and(gone)) {
            self.desk.delete(PODS, pod)?;
        }
        Ok(())
    }

    fn place_on(&self, node: &Value, here: &[&Object]) -> Result<(), ApiError> {
        let wanted = self.belongs_on(node);
        for pod in here.iter().filter(|pod| !meta::is_deleting(pod)) {
            if !wanted || pod::has_ended(pod) {
                self.desk.delete(PODS, pod)?;
            }
        }
        if wanted && here.is_empty() {
            self.desk.create(PODS, self.draft(meta::name(node)))?;
        }
        Ok(())
    }

    fn belongs_on(&self, node: &Value) -> bool {
        let pod = self.draft(meta::name(node));
        scheduler::takes(node, &pod["spec"])
    }

    fn draft(&self, node: &str) -> Value {
        let template = &self.set["spec"]["template"];
        let mut pod = pod::from_template(template, DAEMON_SETS, self.set);
        pod["metadata"]["generateName"] = format!("{}-", meta::name(self.set)).into();
        pod["metadata"]["labels"][LABEL] = self.hash.as_str().into();
        if let Some(generation) = meta::annotation(self.set, GENERATION) {
            pod["metadata"]["labels"]["pod-template-generation"] = generation.into();
        }
        tolerate(&mut pod["spec"]);
        let this_node = json!({"key": "metadata.name", "operator": "In", "values": [node]});
        pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
            json!({"nodeSelectorTerms": [{"matchFields": [this_node]}]});
        pod
    }

    /// Replaces outdated pods, as many at a time as may be missing.
    fn roll(&self) -> Result<(), ApiError> {
        let pods = self.pods()?;
        let nodes = self
            .nodes()
            .iter()
            .filter(|node| self.belongs_on(node))
            .count();
        let allowed = &self.set["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"];
        let allowed = deployment::share(allowed, i64::try_from(nodes).unwrap_or(0), true);
        let mut allowed = usize::try_from(allowed).unwrap_or(1).max(1);
        let is_fine = |pod: &Value| !meta::is_deleting(pod) && self.is_available(pod);
        let missing = nodes.saturating_sub(pods.iter().filter(|pod| is_fine(pod)).count());
        allowed = allowed.saturating_sub(missing);
        let outdated = |pod: &&Object| label(pod) != self.hash && !meta::is_deleting(pod);
        for pod in pods.iter().filter(outdated) {
            if is_fine(pod) {
                if allowed == 0 {
                    continue;
                }
                allowed -= 1;
            }
            self.desk.delete(PODS, pod)?;
        }
        Ok(())
    }

    fn is_available(&self, pod: &Value) -> bool {
        pod::is_available(pod, self.min_ready(), self.desk.now())
    }

    fn write_status(&self, key: &Key) -> Result<(), ApiError> {
        let pods = self.pods()?;
        let on = |node: &Value| -> Option<&Object> {
            let here = pods
                .iter()
                .filter(|pod| target(pod) == Some(meta::name(node)));
            here.min_by_key(|pod| meta::text(pod, "creationTimestamp"))
        };
        let (wanted, others): (Vec<Object>, Vec<Object>) = self
            .nodes()
            .into_iter()
            .partition(|node| self.belongs_on(node));
        let running: Vec<&Object> = wanted.iter().filter_map(|node| on(node)).collect();
        let count = |fits: &dyn Fn(&Value) -> bool| running.iter().filter(|pod| fits(pod)).count();
        let available = count(&|pod| self.is_available(pod));
        let status = json!({
            "desiredNumberScheduled": wanted.len(),
            "currentNumberScheduled": running.len(),
            "numberMisscheduled": others.iter().filter(|node| on(node).is_some()).count(),
            "numberReady": count(&pod::is_ready),
            "updatedNumberScheduled": count(&|pod| label(pod) == self.hash),
            "numberAvailable": available,
            "numberUnavailable": wanted.len() - available.min(wanted.len()),
        });
        self.desk.update_status(DAEMON_SETS, key, |set| {
            let mut status = status.clone();
            status["observedGeneration"] = set["metadata"]["generation"].clone();
            for kept in ["collisionCount", "conditions"] {
                status[kept] = set["status"][kept].clone();
            }
            set["status"] = status;
        })
    }
}

/// The node that a daemon is on, or meant for.
fn target(pod: &Value) -> Option<&str> {
    let affinity = &pod["spec"]["affinity"]["nodeAffinity"];
    let terms = &affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
    pod::node(pod).or_else(|| terms[0]["matchFields"][0]["values"][0].as_str())
}

fn tolerate(spec: &mut Value) {
    let mut tolerations = spec["tolerations"].as_array().cloned().unwrap_or_default();
    let network = (spec["hostNetwork"] == true).then_some(("network-unavailable", "NoSchedule"));
    for (trouble, effect) in TOLERATED.into_iter().chain(network) {
        let key = format!("node.kubernetes.io/{trouble}");
        let toleration = json!({"key": key, "operator": "Exists", "effect": effect});
        if !tolerations.contains(&toleration) {
            tolerations.push(toleration);
        }
    }
    spec["tolerations"] = tolerations.into();
}
