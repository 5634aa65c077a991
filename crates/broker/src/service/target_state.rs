//! Target state: what an agent is to hold. Answered from memory; only texts that memory does not
//! hold are read from the database.

use std::sync::Arc;
use std::time::Duration;

use evenkeel_api::DeploymentObject;
use evenkeel_model::{AgentId, Checksum};
use futures::{StreamExt, TryStreamExt, stream};
use tokio::time::Instant;

use crate::app::Core;
use crate::auth::Caller;
use crate::error::{ApiError, Result};
use crate::fleet::{AgentCell, Served, TargetState};
use crate::server::{Holdable, Resumed, Wait};

/// How many texts are read at once.
const AT_ONCE: usize = 8;

/// What a poll asks for.
#[derive(Default)]
pub(crate) struct Asked {
    /// The versions that the agent has.
    pub(crate) known: Vec<String>,
    /// How long to wait for another one.
    pub(crate) wait: Option<Duration>,
    /// Whether texts are wanted.
    pub(crate) bodies: bool,
    /// Until when it may wait, if it was put aside before.
    pub(crate) resumed: Option<Resumed>,
    /// What puts it aside while it waits, if it can be.
    pub(crate) holdable: Option<Holdable>,
}

impl Asked {
    fn knows(&self, state: &TargetState) -> bool {
        self.known.contains(&state.version)
    }
}

/// What a poll is answered.
#[derive(Debug)]
pub(crate) enum Answer {
    /// What the agent has is what it is to have.
    Unchanged(Arc<TargetState>),
    /// What it is to have.
    Objects(Arc<TargetState>, Vec<DeploymentObject>),
}

impl Core {
    pub(crate) async fn target_state(
        &self,
        caller: &Caller,
        id: AgentId,
        mut asked: Asked,
    ) -> Result<Answer> {
        caller.agent(id)?;
        let cell = self
            .fleet
            .agent(id)
            .ok_or_else(|| ApiError::not_found("agent", id))?;
        if asked.knows(&cell.state()) {
            self.wait_for_change(&cell, &mut asked).await;
            self.still_open(caller)?;
        }
        let state = cell.state();
        if asked.knows(&state) {
            return Ok(Answer::Unchanged(state));
        }
        let objects = self.with_texts(&state.objects, asked.bodies).await?;
        Ok(Answer::Objects(state, objects))
    }

    /// Waits as long as the poll may; does not return at all if the poll is put aside.
    async fn wait_for_change(&self, cell: &Arc<AgentCell>, asked: &mut Asked) {
        let now = Instant::now();
        let longest = self.config.limits.longest_wait();
        let until = match (asked.resumed, asked.wait) {
            (Some(Resumed(until)), _) => until,
            (None, Some(wait)) => now + wait.min(longest),
            (None, None) => return,
        };
        if until <= now || self.stopping.is_cancelled() {
            return;
        }
        let mut wait = Wait {
            states: cell.watch(),
            known: asked.known.clone(),
            until,
            _counted: cell.wait_from(self.clock.now(), &self.metrics.waiting),
        };
        match asked.holdable.take() {
            Some(holdable) => match holdable.hold(wait).await {},
            None => wait.over(&self.stopping).await,
        }
    }

    /// A key that was revoked while its bearer waited opens nothing any more.
    fn still_open(&self, caller: &Caller) -> Result<()> {
        let now = self.clock.now();
        if self.fleet.keys.holds(caller.key, &caller.short_token, now) {
            Ok(())
        } else {
            let status = http::StatusCode::UNAUTHORIZED;
            Err(ApiError::new(
                status,
                "unauthenticated",
                "the key has been revoked",
            ))
        }
    }

    async fn with_texts(&self, objects: &[Served], bodies: bool) -> Result<Vec<DeploymentObject>> {
        let one = async |Served { object, control }: Served| {
            let text = if bodies {
                Some(self.text(&object.yaml_checksum).await?)
            } else {
                None
            };
            let text = text.map(|text| text.as_ref().to_owned());
            Ok(DeploymentObject {
                control,
                ..DeploymentObject::new(object, text)
            })
        };
        stream::iter(objects.iter().cloned())
            .map(one)
            .buffered(AT_ONCE)
            .try_collect()
            .await
    }

    /// A text that the agent is to have.
    pub(crate) async fn agent_manifest(
        &self,
        caller: &Caller,
        id: AgentId,
        checksum: &Checksum,
    ) -> Result<Arc<str>> {
        caller.agent(id)?;
        let state = self.fleet.agent(id).map(|cell| cell.state());
        let is_its = state.is_some_and(|state| {
            state
                .objects
                .iter()
                .any(|served| served.object.yaml_checksum == *checksum)
        });
        if !is_its {
            return Err(ApiError::not_found(
                "manifest for this agent with checksum",
                checksum,
            ));
        }
        self.text(checksum).await
    }

    async fn text(&self, checksum: &Checksum) -> Result<Arc<str>> {
        let found = self.texts.get(self.store.as_ref(), checksum).await?;
        found.ok_or_else(|| ApiError::not_found("manifest with checksum", checksum))
    }
}
