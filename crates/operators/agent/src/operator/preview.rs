//! What the operator would change, without changing it.

use std::sync::Arc;

use evenkeel_ambient::{SharedClock, SharedRandom};
use evenkeel_controller::Error;
use evenkeel_kubeset::diff::{Diff, Fate, ObjectDiff};
use evenkeel_kubeset::{Cluster, Manifests, ObjectKey, Parent, SetPolicy};
use kube::{Api, Client};

use super::children;
use super::error::OperatorError;
use crate::api::Agent;
use crate::offline::AgentName;
use crate::translate::Translation;

/// A cluster that is looked at and not changed.
pub struct Preview {
    client: Client,
    cluster: Cluster,
}

impl Preview {
    /// The cluster of `client`, which must not repeat requests of its own accord.
    pub fn new(client: Client, clock: SharedClock, dice: SharedRandom) -> Self {
        let cluster = Cluster::new(client.clone(), children::settings(), clock, dice);
        Self { client, cluster }
    }

    /// What the operator would do if the agent were as it was translated.
    ///
    /// # Errors
    /// When the cluster cannot be asked.
    pub async fn diff(
        &self,
        agent: &AgentName,
        translation: &Translation,
    ) -> Result<Vec<ObjectDiff>, OperatorError> {
        let wanted = Manifests::of(children::wanted(translation))?;
        let agents: Api<Agent> = Api::namespaced(self.client.clone(), &agent.namespace);
        let live = agents.get_opt(&agent.name).await;
        let live = live.map_err(Error::kube(format!("read Agent {agent}")))?;
        let Some(parent) = live.as_ref().and_then(Parent::of) else {
            return Ok(wanted.objects.iter().map(made).collect());
        };
        let set = Arc::new(self.cluster.children(parent));
        let Diff { objects, .. } = set
            .diff(&wanted, &SetPolicy::default())
            .await
            .map_err(OperatorError::from)?;
        Ok(objects)
    }
}

/// An agent that is not there yet has nothing.
fn made(manifest: &evenkeel_kubeset::Manifest) -> ObjectDiff {
    ObjectDiff {
        key: ObjectKey::new(
            manifest.kind(),
            manifest.id.namespace.as_deref(),
            &manifest.id.name,
        ),
        fate: Fate::Create,
        why: "the agent does not exist yet".to_owned(),
        before: None,
        after: Some((**manifest.object()).clone()),
    }
}

impl std::fmt::Debug for Preview {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Preview").finish_non_exhaustive()
    }
}
