//! Control of stacks: suspend, resume, look anew, approve, what becomes of drift; and drift.

use evenkeel_api::{Approval, DriftChoice, DriftQuery, FoundDrift, Stack};
use evenkeel_model::{DriftMode, Page, SequenceId, StackId};
use reqwest::Method;

use crate::client::read_page;
use crate::{Client, Result};

impl Client {
    /// Tells every agent to leave the stack alone.
    pub async fn stack_suspend(&self, id: StackId) -> Result<Stack> {
        self.post(&["stacks", &id.to_string(), "suspend"], &())
            .await
    }

    /// Tells every agent to go on with the stack.
    pub async fn stack_resume(&self, id: StackId) -> Result<Stack> {
        self.post(&["stacks", &id.to_string(), "resume"], &()).await
    }

    /// Tells every agent to look at the whole stack anew.
    pub async fn stack_reconcile(&self, id: StackId) -> Result<Stack> {
        self.post(&["stacks", &id.to_string(), "reconcile"], &())
            .await
    }

    /// Lets removals go on that wait for somebody's word: those of the named object, or of the
    /// newest on which an agent waits.
    pub async fn stack_approve(&self, id: StackId, sequence: Option<SequenceId>) -> Result<Stack> {
        let approval = Approval {
            sequence_id: sequence,
        };
        self.post(&["stacks", &id.to_string(), "approve"], &approval)
            .await
    }

    /// Tells every agent what to do about drift of the stack; each what its own settings say, if
    /// no mode is named.
    pub async fn stack_drift_mode(&self, id: StackId, mode: Option<DriftMode>) -> Result<Stack> {
        let path = ["stacks", &id.to_string(), "drift-mode"];
        self.put(&path, &DriftChoice { mode }).await
    }

    /// What others changed in the clusters, newest first.
    pub async fn drift_list(&self, query: &DriftQuery) -> Result<Page<FoundDrift>> {
        read_page(self.request(Method::GET, &["drift"]).query(query)).await
    }
}
