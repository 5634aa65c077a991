//! What is said of an agent: pure functions from what is known to conditions.

use evenkeel_controller::{ReasonWord, Status, Verdict};
use k8s_openapi::api::apps::v1::Deployment;

use crate::api::Agent;
use crate::translate::{HASH_ANNOTATION, TranslateError};

pub(super) const ACCEPTED: &str = "Accepted";
const READY: &str = "Ready";
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
    let reason = ReasonWord::parse(error.reason());
    let reason = reason.unwrap_or(ReasonWord::of("InvalidSpec"));
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
    ready: i32,
    /// Whether the Deployment's controller has seen and rolled out the newest text.
    current: bool,
}

fn pods(deployment: &Deployment, hash: Option<&str>) -> Pods {
    let spec = deployment.spec.as_ref();
    let wanted = spec.and_then(|spec| spec.replicas).unwrap_or(1);
    let template = spec.and_then(|spec| spec.template.metadata.as_ref());
    let live = template.and_then(|meta| meta.annotations.as_ref()?.get(HASH_ANNOTATION));
    let status = deployment.status.clone().unwrap_or_default();
    let seen = status.observed_generation >= deployment.metadata.generation;
    let updated = status.updated_replicas.unwrap_or_default() >= wanted;
    let old = status.replicas.unwrap_or_default() > status.updated_replicas.unwrap_or_default();
    Pods {
        wanted,
        ready: status.available_replicas.unwrap_or_default().min(wanted),
        current: hash.is_none_or(|hash| live.is_some_and(|live| live == hash))
            && seen
            && updated
            && !old,
    }
}

/// Whether the agent serves: only when all wanted pods run the newest text.
pub(super) fn ready(deployment: Option<&Deployment>, hash: &str) -> Verdict {
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
    } = pods(deployment, Some(hash));
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
