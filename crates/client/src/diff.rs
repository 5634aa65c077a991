//! Diffs: asking the live clusters what a revision would change, and answering.

use evenkeel_api::{Diff, DiffAnswer, DiffTicket, NewDiff, PendingDiff};
use evenkeel_model::{AgentId, DiffId, StackId};
use reqwest::Method;

use crate::client::send;
use crate::{Client, Result};

impl Client {
    /// Asks every agent that serves the stack what these manifests would change.
    pub async fn diff_create(&self, stack: StackId, new: &NewDiff) -> Result<DiffTicket> {
        self.post(&["stacks", &stack.to_string(), "diffs"], new)
            .await
    }

    /// What is known of the answer.
    pub async fn diff_get(&self, stack: StackId, diff: DiffId) -> Result<Diff> {
        let path = ["stacks", &stack.to_string(), "diffs", &diff.to_string()];
        self.get(&path).await
    }

    /// What the agent is asked and has not answered.
    pub async fn agent_diffs(&self, agent: AgentId) -> Result<Vec<PendingDiff>> {
        self.get(&["agents", &agent.to_string(), "diffs"]).await
    }

    /// Answers for the agent.
    pub async fn diff_answer(
        &self,
        agent: AgentId,
        diff: DiffId,
        answer: &DiffAnswer,
    ) -> Result<()> {
        let path = ["agents", &agent.to_string(), "diffs", &diff.to_string()];
        send(self.request(Method::POST, &path).json(answer))
            .await
            .map(drop)
    }
}
