//! The objects of agents in the cluster.

use std::sync::Arc;

use evenkeel_children::Children as Owned;
use evenkeel_controller::{Key, Leading};
use evenkeel_kubeset::{Converged, GroupKind, Manifests, SetPolicy, Settings};
use kube::Resource;
use serde_json::Value;

use super::error::OperatorError;
use crate::api::Agent;
use crate::translate::{Inputs, Translation};

/// On a Deployment: what its pods were started with, so that people can be told what changed.
pub(super) const INPUTS_ANNOTATION: &str = "evenkeel.io/inputs";
/// On everything that the operator makes: the agent's uid.
const OWNER_KEY: &str = "evenkeel.io/agent";
/// The one name under which fields are owned.
pub(super) const MANAGER: &str = "evenkeel-agent-operator";

/// The kinds of objects that agents have.
pub(super) const KINDS: [(&str, &str); 6] = [
    ("", "Secret"),
    ("", "ServiceAccount"),
    ("", "ConfigMap"),
    ("apps", "Deployment"),
    ("", "Service"),
    ("policy", "PodDisruptionBudget"),
];

/// How the objects of agents are kept.
pub(super) fn settings() -> Settings {
    Settings {
        manager: MANAGER.to_owned(),
        owner_key: OWNER_KEY.to_owned(),
        child_kinds: KINDS
            .map(|(group, kind)| GroupKind::new(group, kind))
            .into(),
        ..Settings::default()
    }
}

/// The objects of all agents; usable while the process leads.
pub(super) struct Children(Arc<Owned>);

impl Children {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(Owned::new(settings())))
    }

    /// Wakes agents whose objects somebody else touched, for as long as the process leads.
    pub(super) async fn follow(self: Arc<Self>, leading: Leading<Agent>) {
        Arc::clone(&self.0).lead(leading).await;
    }

    /// Forgets an agent that is gone; the cluster cleans up after it.
    pub(super) fn forget(&self, key: &Key) {
        self.0.forget(key);
    }

    /// Makes the objects of an agent those that were translated.
    pub(super) async fn converge(
        &self,
        agent: &Agent,
        translation: &Translation,
    ) -> Result<Option<Converged>, OperatorError> {
        let wanted = Manifests::of(wanted(translation))?;
        let Some(set) = self.0.of(agent).await else {
            return Ok(None);
        };
        Ok(Some(set.converge(&wanted, &SetPolicy::default()).await))
    }
}

/// The objects as they are applied. Whose they are is for the set to say.
pub(super) fn wanted(translation: &Translation) -> Vec<Value> {
    let inputs = serde_json::to_string(&translation.inputs()).unwrap_or_default();
    let objects = translation.to_apply().into_iter();
    objects
        .map(|mut object| {
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.remove("ownerReferences");
            }
            if object["kind"] == "Deployment" {
                object["metadata"]["annotations"][INPUTS_ANNOTATION] = inputs.clone().into();
            }
            object
        })
        .collect()
}

/// What the pods of a live Deployment were started with, if it says so.
pub(super) fn inputs_of(deployment: &impl Resource) -> Option<Inputs> {
    let annotations = deployment.meta().annotations.as_ref()?;
    serde_json::from_str(annotations.get(INPUTS_ANNOTATION)?).ok()
}
