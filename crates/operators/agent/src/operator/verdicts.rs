//! What is said of an agent: pure functions from what is known to conditions.

use std::fmt;

use evenkeel_controller::{ReasonWord, Status, Verdict};
use k8s_openapi::api::apps::v1::Deployment;

use super::children::inputs_of;
use crate::api::Agent;
use crate::api::status::AgentStatus;
use crate::translate::{HASH_ANNOTATION, Inputs, TranslateError};

pub(super) const ACCEPTED: &str = "Accepted";
pub(super) const READY: &str = "Ready";
const PROGRESSING: &str = "Progressing";
const RESOLVED: &str = "ResolvedRefs";
pub(super) const UNSUPPORTED: &str = "UnsupportedFeatures";

fn verdict(
    kind: &'static str,
    status: Status,
    reason: ReasonWord,
    message: impl Into<String>,
) -> Verdict {
    Verdict {
        kind: kind.into(),
        status,
        reason,
        message: message.into(),
    }
}

/// The agent's text makes sense, and everything that it refers to is there.
pub(super) fn resolved() -> Verdict {
    let reason = ReasonWord::of("ResolvedRefs");
    verdict(
        RESOLVED,
        Status::True,
        reason,
        "everything that the agent refers to is there",
    )
}

/// The agent's objects are as they should be.
pub(super) fn accepted() -> Verdict {
    let reason = ReasonWord::of("Reconciled");
    verdict(
        ACCEPTED,
        Status::True,
        reason,
        "Agent configuration accepted",
    )
}

/// The agent's objects could not be brought about.
pub(super) fn failed(why: &str) -> Verdict {
    verdict(
        ACCEPTED,
        Status::False,
        ReasonWord::of("ReconcileFailed"),
        why,
    )
}

/// The agent's text cannot be carried out: kagent's condition, and one for machines.
pub(super) fn refused(error: &TranslateError) -> [Verdict; 2] {
    let text = evenkeel_ambient::chain(error);
    let reason = ReasonWord::of(error.reason());
    let resolved = match error.waits_for() {
        Some(_) => verdict(RESOLVED, Status::False, reason, text.clone()),
        None => verdict(RESOLVED, Status::Unknown, reason, text.clone()),
    };
    [failed(&text), resolved]
}

/// How many pods are wanted, and how many of them run the newest text and serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pods {
    wanted: i32,
    updated: i32,
    ready: i32,
    /// Whether the Deployment's controller has seen and rolled out the newest text.
    current: bool,
}

impl fmt::Display for Pods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            wanted,
            updated,
            ready,
            ..
        } = self;
        write!(
            f,
            "of {wanted} pods {updated} were started with the newest text and {ready} are ready"
        )
    }
}

fn pods(deployment: &Deployment, inputs: Option<&Inputs>) -> Pods {
    let spec = deployment.spec.as_ref();
    let wanted = spec.and_then(|spec| spec.replicas).unwrap_or(1);
    let status = deployment.status.clone().unwrap_or_default();
    let seen = status.observed_generation >= deployment.metadata.generation;
    let updated = status.updated_replicas.unwrap_or_default();
    let old = status.replicas.unwrap_or_default() > updated;
    Pods {
        wanted,
        updated: updated.min(wanted),
        ready: status.available_replicas.unwrap_or_default().min(wanted),
        current: inputs.is_none_or(|wanted| inputs_of(deployment).as_ref() == Some(wanted))
            && seen
            && updated >= wanted
            && !old,
    }
}

/// The hash of what the pods of a live Deployment are started with.
fn live_hash(deployment: &Deployment) -> Option<&str> {
    let template = &deployment.spec.as_ref()?.template;
    let annotations = template.metadata.as_ref()?.annotations.as_ref()?;
    annotations.get(HASH_ANNOTATION).map(String::as_str)
}

/// How far the newest text of the agent has got.
pub(super) fn progressing(deployment: Option<&Deployment>, inputs: &Inputs) -> Verdict {
    let found = deployment.map(|deployment| (deployment, pods(deployment, Some(inputs))));
    let (status, reason, message) = match found {
        None => (
            Status::True,
            ReasonWord::of("RolloutUnderWay"),
            "the Deployment is being made".to_owned(),
        ),
        Some((_, pods)) if pods.current && pods.ready == pods.wanted => (
            Status::False,
            ReasonWord::of("RolloutComplete"),
            format!("all {} pods run the newest text", pods.wanted),
        ),
        Some((deployment, pods)) if is_stuck(deployment) => (
            Status::False,
            ReasonWord::of("ProgressDeadlineExceeded"),
            format!("{pods}, and it has been so for too long"),
        ),
        Some((_, pods)) => (
            Status::True,
            ReasonWord::of("RolloutUnderWay"),
            pods.to_string(),
        ),
    };
    verdict(PROGRESSING, status, reason, message)
}

/// Whether the Deployment's controller has given up waiting for pods.
fn is_stuck(deployment: &Deployment) -> bool {
    let status = deployment.status.as_ref();
    let mut conditions = status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten());
    conditions.any(|it| it.type_ == PROGRESSING && it.status == "False")
}

/// Nothing of an agent's newest text is under way.
pub(super) fn not_progressing() -> Verdict {
    verdict(
        PROGRESSING,
        Status::False,
        ReasonWord::of("NotAccepted"),
        "the newest text of the agent is not accepted, so no pods are started with it",
    )
}

/// Writes down how many pods there are, and what they were started with.
pub(super) fn count(deployment: Option<&Deployment>, status: &mut AgentStatus) {
    let counted = deployment.map(|deployment| pods(deployment, None));
    status.config_hash = deployment.and_then(live_hash).map(str::to_owned);
    status.replicas = counted.map(|pods| pods.wanted);
    status.updated_replicas = counted.map(|pods| pods.updated);
    status.ready_replicas = counted.map(|pods| pods.ready);
}

/// Whether the agent serves: only when all wanted pods run the newest text.
pub(super) fn ready(deployment: Option<&Deployment>, inputs: &Inputs) -> Verdict {
    let Some(deployment) = deployment else {
        let reason = ReasonWord::of("DeploymentNotFound");
        return verdict(
            READY,
            Status::Unknown,
            reason,
            "the Deployment is being made",
        );
    };
    let Pods {
        wanted,
        ready,
        current,
        ..
    } = pods(deployment, Some(inputs));
    let counted = format!("{ready}/{wanted} pods are ready");
    match (ready == wanted, current) {
        (true, true) => verdict(
            READY,
            Status::True,
            ReasonWord::of("DeploymentReady"),
            counted,
        ),
        (_, false) => {
            let message = format!("Deployment is not ready, {counted}, the rollout is under way");
            verdict(
                READY,
                Status::False,
                ReasonWord::of("DeploymentNotReady"),
                message,
            )
        }
        (false, true) => {
            let message = format!("Deployment is not ready, {counted}");
            verdict(
                READY,
                Status::False,
                ReasonWord::of("DeploymentNotReady"),
                message,
            )
        }
    }
}

/// What still serves of an agent whose newest text is not accepted.
pub(super) fn not_ready(deployment: Option<&Deployment>) -> Verdict {
    let message = match deployment.map(|deployment| pods(deployment, None)) {
        None => "the agent is not accepted, so nothing runs".to_owned(),
        Some(Pods { wanted, ready, .. }) => format!(
            "the newest text of the agent is not accepted; {ready}/{wanted} pods of the one before are ready"
        ),
    };
    verdict(READY, Status::False, ReasonWord::of("NotAccepted"), message)
}

/// What the agent asks for and its runtime does not do.
pub(super) fn unsupported(agent: &Agent) -> Option<Verdict> {
    let declarative = agent.spec.declarative.as_ref()?;
    if declarative.runtime.as_deref() != Some("go") {
        return None;
    }
    let executes = declarative.execute_code_blocks == Some(true);
    let compacts = declarative
        .context
        .as_ref()
        .is_some_and(|it| it.compaction.is_some());
    let features = [
        (executes, "executeCodeBlocks"),
        (compacts, "context.compaction"),
    ];
    let asked: Vec<_> = features
        .iter()
        .filter(|(set, _)| *set)
        .map(|(_, name)| *name)
        .collect();
    let message = format!("the go runtime does not support {}", asked.join(" and "));
    let reason = ReasonWord::of("UnsupportedFeatures");
    (!asked.is_empty()).then(|| verdict(UNSUPPORTED, Status::True, reason, message))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::children::INPUTS_ANNOTATION;
    use super::*;

    /// A Deployment that wants three pods of the newest text.
    fn deployment(status: &Value) -> Deployment {
        let annotations = json!({INPUTS_ANNOTATION: "{}"});
        serde_json::from_value(json!({
            "metadata": {"generation": 4, "annotations": annotations},
            "spec": {"replicas": 3, "selector": {}, "template": {}}, "status": status,
        }))
        .expect("a deployment")
    }

    fn said(verdict: &Verdict) -> String {
        format!(
            "{:?} {}: {}",
            verdict.status, verdict.reason, verdict.message
        )
    }

    #[test]
    fn ready_is_true_only_when_all_wanted_pods_run_the_newest_text() {
        let ready = |status: Value| said(&ready(Some(&deployment(&status)), &Inputs::default()));
        let all = json!({"observedGeneration": 4, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3});
        assert_eq!(
            ready(all.clone()),
            "True DeploymentReady: 3/3 pods are ready"
        );
        let with = |field: &str, value: i32| {
            let mut status = all.clone();
            status[field] = value.into();
            ready(status)
        };
        let partly = "False DeploymentNotReady: Deployment is not ready, 2/3 pods are ready";
        assert_eq!(with("availableReplicas", 2), partly);
        let rolling = "False DeploymentNotReady: Deployment is not ready, 3/3 pods are ready, the rollout is under way";
        assert_eq!(with("updatedReplicas", 2), rolling);
        assert_eq!(with("replicas", 4), rolling, "an old pod is left");
        assert_eq!(with("observedGeneration", 3), rolling, "nobody looked yet");
    }

    #[test]
    fn a_rollout_that_is_stuck_is_told() {
        let stuck = json!({"observedGeneration": 4, "replicas": 4, "updatedReplicas": 1, "availableReplicas": 3,
            "conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]});
        let told =
            |status: Value| said(&progressing(Some(&deployment(&status)), &Inputs::default()));
        assert_eq!(
            told(stuck.clone()),
            "False ProgressDeadlineExceeded: of 3 pods 1 were started with the newest text and 3 are ready, and it has been so for too long"
        );
        let mut going = stuck;
        going["conditions"] = json!([]);
        assert_eq!(
            told(going),
            "True RolloutUnderWay: of 3 pods 1 were started with the newest text and 3 are ready"
        );
    }
}
