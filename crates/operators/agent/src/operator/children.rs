//! The objects of agents in the cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evenkeel_controller::{Key, Leading};
use evenkeel_kubeset::{
    Cluster, Converged, GroupKind, Manifests, Parent, Set, SetPolicy, Settings,
};
use evenkeel_reconcile::runner::Request;
use kube::Resource;
use serde_json::Value;
use tokio::sync::watch;

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
pub(super) const KINDS: [(&str, &str); 5] = [
    ("", "Secret"),
    ("", "ServiceAccount"),
    ("", "ConfigMap"),
    ("apps", "Deployment"),
    ("", "Service"),
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
pub(super) struct Children {
    cluster: watch::Sender<Option<Cluster>>,
    families: Mutex<BTreeMap<String, Family>>,
}

struct Family {
    parent: Key,
    set: Arc<Set>,
}

impl Children {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            cluster: watch::Sender::new(None),
            families: Mutex::default(),
        })
    }

    /// Wakes agents whose objects somebody else touched, for as long as the process leads.
    pub(super) async fn follow(self: Arc<Self>, leading: Leading<Agent>) {
        let (clock, dice) = (leading.clock().clone(), leading.dice().clone());
        let cluster = Cluster::new(leading.client().clone(), settings(), clock, dice);
        let mut touched = cluster.touched();
        self.cluster.send_replace(Some(cluster));
        loop {
            for key in self.parents(&touched.next().await) {
                leading.wake(key, Request::owned());
            }
        }
    }

    fn parents(&self, uids: &BTreeSet<Arc<str>>) -> Vec<Key> {
        let families = self.families();
        let known = uids.iter().filter_map(|uid| families.get(&**uid));
        known.map(|family| family.parent.clone()).collect()
    }

    fn families(&self) -> MutexGuard<'_, BTreeMap<String, Family>> {
        self.families.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn cluster(&self) -> Option<Cluster> {
        let mut cluster = self.cluster.subscribe();
        let ready = cluster.wait_for(Option::is_some).await.ok()?;
        ready.clone()
    }

    /// Forgets an agent that is gone; the cluster cleans up after it.
    pub(super) fn forget(&self, key: &Key) {
        self.families().retain(|_, family| family.parent != *key);
    }

    async fn set(&self, agent: &Agent) -> Option<Arc<Set>> {
        let parent = Parent::of(agent)?;
        let cluster = self.cluster().await?;
        let mut families = self.families();
        let uid = parent.uid().to_owned();
        let family = families.entry(uid).or_insert_with(|| Family {
            parent: Key::of(agent),
            set: Arc::new(cluster.children(parent)),
        });
        Some(Arc::clone(&family.set))
    }

    /// Makes the objects of an agent those that were translated.
    pub(super) async fn converge(
        &self,
        agent: &Agent,
        translation: &Translation,
    ) -> Result<Option<Converged>, OperatorError> {
        let wanted = Manifests::of(wanted(translation))?;
        let Some(set) = self.set(agent).await else {
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
