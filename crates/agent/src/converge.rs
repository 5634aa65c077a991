//! One attempt at one stack.

use std::sync::Arc;

use evenkeel_api::NewEvent;
use evenkeel_kubeset::{Converged, Manifests, ObjectKey as ClusterKey};
use evenkeel_model::{DriftMode, DriftRecord, EventId, EventStatus, StackId};
use evenkeel_reconcile::runner::{Failure, FailureKind, Request};
use evenkeel_reconcile::{Outcome, Word, report};
use jiff::Timestamp;

use crate::account::{Deeds, Trouble, Verdict};
use crate::policy;
use crate::shift::Shift;
use crate::stacks::{Order, Stack};
use crate::words;

/// Makes a stack what it is to be, and says how that went.
pub(crate) async fn converge(shift: Arc<Shift>, id: StackId) -> Outcome<Trouble> {
    let Some(stack) = shift.stacks.get(id) else {
        shift.runs.forget(&id);
        return Outcome::Done;
    };
    let order = stack.order();
    if let Some(why) = held_back(&shift, &order) {
        stack.state().waiting = Some(why.to_owned());
        shift.looks.add(id, Request::asked());
        return Outcome::wait(why);
    }
    let began = shift.agent.clock.now();
    let verdict = match attempt(&shift, &stack, &order).await {
        Ok(converged) => account(&shift, &stack, &order, converged, began),
        Err(trouble) => Verdict::Failed(trouble),
    };
    conclude(&shift, id, &stack, &order, verdict, began)
}

/// Reports an attempt that could not do so itself, because it took too long or panicked.
pub(crate) fn cut_short(shift: &Shift, id: StackId, failure: &Failure) {
    let Some(stack) = shift.stacks.get(id).filter(|_| match failure.kind {
        FailureKind::Timeout | FailureKind::Panic => true,
        FailureKind::Error(_) => false,
    }) else {
        return;
    };
    let (order, now) = (stack.order(), shift.agent.clock.now());
    stack.state().settled = None;
    let message = format!("the attempt was cut short: {}", failure.text);
    let event = event(
        shift,
        &order,
        EventStatus::Failure,
        message,
        Deeds::default(),
        now,
    );
    shift.outbox.event(event);
}

/// Why nothing may be done about a stack.
fn held_back(shift: &Shift, order: &Order) -> Option<&'static str> {
    if !shift.stacks.is_active() {
        Some("the agent to be made ACTIVE")
    } else if order.object.control.suspended {
        Some("somebody to resume the stack, which is suspended")
    } else {
        None
    }
}

async fn attempt(shift: &Shift, stack: &Stack, order: &Order) -> Result<Converged, Trouble> {
    if order.object.kind.removes() {
        let because = format!("{} {}", order.object.kind, order.object.sequence_id);
        let policy = policy::to_remove(order);
        return Ok(stack.set.remove(&because, &policy).await);
    }
    let text = order.text.as_deref().ok_or(Trouble::NoText)?;
    let manifests = Manifests::parse(text)?;
    let asked_anew = stack.state().answered != Some(order.call());
    let policy = policy::to_apply(&shift.agent.settings, order, asked_anew);
    Ok(stack.set.converge(&manifests, &policy).await)
}

/// Writes down what an attempt did and found.
fn account(
    shift: &Shift,
    stack: &Stack,
    order: &Order,
    converged: Converged,
    now: Timestamp,
) -> Verdict {
    let told = report(&converged.result);
    told.log();
    let mode = policy::drift_mode(&shift.agent.settings, order);
    let findings = findings(&converged, mode, now);
    shift.agent.metrics.attempted(&told.counts, findings.len());
    let deeds = Deeds::of(&converged);
    let mut state = stack.state();
    let [_, drifted] = told.verdicts;
    let drifts = told.counts.get(Word::Drifted) > 0;
    state.drifted = drifts.then_some(drifted.message);
    state.found(findings);
    let untold = std::mem::take(&mut state.untold);
    state.untold = deeds.after(untold).0;
    let verdict = Verdict::of(converged.result);
    if matches!(verdict, Verdict::Settled) {
        state.answered = Some(order.call());
        shift.answered(order.object.stack_id, order.call());
    }
    verdict
}

/// What others changed. Where the mode is off nobody looks, so what is left as it is is not told.
fn findings(converged: &Converged, mode: DriftMode, now: Timestamp) -> Vec<DriftRecord> {
    let repaired = |key: &ClusterKey| {
        let changes = converged.changes();
        changes
            .iter()
            .any(|change| change.key == *key && change.word.is_write())
    };
    let found = converged.drift.iter().map(|drift| {
        let repaired = repaired(&drift.key);
        DriftRecord {
            object: words::object(&drift.key),
            fields: drift
                .fields
                .iter()
                .map(|field| field.pointer.clone())
                .collect(),
            manager: drift.fields.iter().find_map(|field| field.manager.clone()),
            at: now,
            mode: if repaired { DriftMode::Enforce } else { mode },
            repaired,
        }
    });
    found
        .filter(|found| found.repaired || mode != DriftMode::Off)
        .collect()
}

/// Reports the verdict, and says when to run again.
fn conclude(
    shift: &Shift,
    id: StackId,
    stack: &Stack,
    order: &Order,
    verdict: Verdict,
    began: Timestamp,
) -> Outcome<Trouble> {
    let mut state = stack.state();
    let deeds = Deeds(std::mem::take(&mut state.untold));
    state.waiting = None;
    let outcome = match verdict {
        Verdict::Settled => {
            let news = state.settled != Some(order.object.id) || !deeds.writes().is_empty();
            state.settled = Some(order.object.id);
            if news {
                let message = deeds.sentence();
                shift.outbox.event(event(
                    shift,
                    order,
                    EventStatus::Success,
                    message,
                    deeds,
                    began,
                ));
            }
            Outcome::Done
        }
        Verdict::Waiting(what) => {
            state.untold = deeds.writes();
            state.settled = None;
            state.waiting = Some(what.clone());
            Outcome::wait(what)
        }
        Verdict::Failed(trouble) => {
            state.settled = None;
            let message = trouble.text();
            shift.outbox.event(event(
                shift,
                order,
                EventStatus::Failure,
                message,
                deeds,
                began,
            ));
            Outcome::failed(trouble)
        }
    };
    drop(state);
    shift.looks.add(id, Request::changed());
    outcome
}

fn event(
    shift: &Shift,
    order: &Order,
    status: EventStatus,
    message: String,
    deeds: Deeds,
    began: Timestamp,
) -> NewEvent {
    let removes = order.object.kind.removes();
    NewEvent {
        id: Some(EventId(shift.agent.dice.uuid())),
        agent_id: None,
        deployment_object_id: order.object.id,
        event_type: if removes { "DELETE" } else { "DEPLOY" }.to_owned(),
        status,
        message: Some(message),
        attempted_at: Some(began),
        change_counts: deeds.counts(),
        changes: deeds.named(),
    }
}
