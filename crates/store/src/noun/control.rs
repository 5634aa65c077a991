//! Control of stacks: what people ask for beyond revisions. Also of a deleted stack, as long as
//! agents are busy removing it.

use async_trait::async_trait;
use evenkeel_model::{Action, Actor, Control, ControlRequest, SequenceId, Stack, StackId};
use futures::FutureExt;
use jiff::Timestamp;

use super::stacks;
use crate::database::Database;
use crate::sql::{Row, sql};
use crate::transaction::Transaction;
use crate::{Error, Result};

/// What people ask for of stacks.
#[async_trait]
pub trait Controls {
    /// Does what is asked. Asking for what holds already changes nothing.
    async fn stack_control(
        &self,
        by: &Actor,
        id: StackId,
        request: ControlRequest,
    ) -> Result<Stack>;
}

#[async_trait]
impl Controls for Database {
    async fn stack_control(
        &self,
        by: &Actor,
        id: StackId,
        request: ControlRequest,
    ) -> Result<Stack> {
        let by = by.clone();
        self.write(move |tx| async move { take(tx, &by, id, request).await }.boxed())
            .await
    }
}

async fn take(
    tx: &mut Transaction,
    by: &Actor,
    id: StackId,
    request: ControlRequest,
) -> Result<Stack> {
    let old = stacks::recall(tx, id).await?;
    let now = tx.now();
    let held = old.control.clone();
    let (action, control) = match request {
        ControlRequest::Suspend => (Action::StackSuspended, held.suspend(by, now)),
        ControlRequest::Resume => (Action::StackResumed, held.resume()),
        ControlRequest::Reconcile => (Action::StackReconciled, held.reconcile()),
        ControlRequest::Approve(sequence) => {
            let sequence = waited_for(tx, id, sequence).await?;
            (Action::StackApproved, held.approve(sequence))
        }
        ControlRequest::Drift(mode) => (Action::StackDriftSet, held.about_drift(mode)),
    };
    if control == old.control {
        return Ok(old);
    }
    write(tx, id, &control).await?;
    let stack = Stack { control, ..old };
    stacks::note(tx, by, action, &stack).await?;
    Ok(stack)
}

/// What an approval can be of: the object that is named, if an agent is to have it, or else the
/// newest on which an agent waits.
async fn waited_for(
    tx: &mut Transaction,
    stack: StackId,
    named: Option<SequenceId>,
) -> Result<SequenceId> {
    let query = sql("SELECT MAX(sequence_id) AS newest FROM assignments_wanted \
         WHERE stack_id = $1 AND (sequence_id = $2 OR ($2 IS NULL AND waiting IS NOT NULL))")
    .bind(&stack)
    .bind(&named);
    let newest = tx.one(query).await?.map(|row| row.get("newest"));
    newest
        .transpose()?
        .flatten()
        .ok_or(Error::NothingWaits(stack))
}

async fn write(tx: &mut Transaction, id: StackId, control: &Control) -> Result<()> {
    let query = sql("UPDATE stacks SET suspended_by = $2, suspended_at = $3, \
             reconcile_token = $4, approved_sequence = $5, drift_mode = $6 WHERE id = $1")
    .bind(&id)
    .bind(&control.suspended_by)
    .bind(&control.suspended_at)
    .bind(&control.reconcile_token)
    .bind(&control.approved_sequence)
    .bind(&control.drift);
    tx.run(query).await.map(drop)
}

/// The control of the stack that a row is about.
pub(super) fn read(row: &Row) -> Result<Control> {
    let suspended_at: Option<Timestamp> = row.get("suspended_at")?;
    Ok(Control {
        suspended: suspended_at.is_some(),
        suspended_by: row.get("suspended_by")?,
        suspended_at,
        reconcile_token: row.get("reconcile_token")?,
        approved_sequence: row.get("approved_sequence")?,
        drift: row.get("drift_mode")?,
    })
}
