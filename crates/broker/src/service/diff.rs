//! Diffs: what a revision would change in the live clusters.

use evenkeel_api::DiffTicket;
use evenkeel_model::{AgentId, Diff, DiffAnswer, DiffId, PendingDiff, StackId};
use evenkeel_store::NewDiff;
use jiff::SignedDuration;

use crate::app::Core;
use crate::auth::Caller;
use crate::error::{ApiError, Result};

/// How long answers are waited for.
const LASTING: SignedDuration = SignedDuration::from_mins(10);

impl Core {
    /// Asks every agent that serves the stack.
    pub(crate) async fn diff_create(
        &self,
        caller: &Caller,
        stack: StackId,
        yaml_content: String,
    ) -> Result<DiffTicket> {
        self.stack_owned(caller, stack).await?;
        evenkeel_manifest::parse(&yaml_content, self.config.limits.manifest())?;
        let new = NewDiff {
            stack_id: stack,
            yaml_content,
            lasting: LASTING,
        };
        let asked = self.store.diff_create(&caller.actor, new).await?;
        Ok(DiffTicket {
            id: asked.id,
            agents: asked.missing,
            expires_at: asked.expires_at,
        })
    }

    /// What is known of the answer.
    pub(crate) async fn diff_get(
        &self,
        caller: &Caller,
        stack: StackId,
        id: DiffId,
    ) -> Result<Diff> {
        self.stack_owned(caller, stack).await?;
        let found = self.store.diff_get(stack, id, self.clock.now()).await?;
        found.ok_or_else(|| ApiError::not_found("diff", id))
    }

    /// What the agent is asked.
    pub(crate) async fn agent_diffs(
        &self,
        caller: &Caller,
        agent: AgentId,
    ) -> Result<Vec<PendingDiff>> {
        caller.agent(agent)?;
        Ok(self.store.diffs_of_agent(agent, self.clock.now()).await?)
    }

    /// Takes the agent's answer.
    pub(crate) async fn diff_answer(
        &self,
        caller: &Caller,
        agent: AgentId,
        id: DiffId,
        answer: DiffAnswer,
    ) -> Result<()> {
        caller.agent_itself(agent)?;
        Ok(self.store.diff_answer(agent, id, answer).await?)
    }
}
