//! Asking the broker what the cluster is to hold.
//!
//! A question waits at the broker until there is news, so news arrives at once; where a broker or
//! a proxy does not let it wait, it is asked again after the polling interval.

use std::time::Duration;

use evenkeel_api::NewEvent;
use evenkeel_client::{ClientError, Poll, TargetState};
use evenkeel_model::{AgentId, ChangeCounts, Checksum, EventId, EventStatus};
use evenkeel_reconcile::RetryPolicy;
use futures::{StreamExt, stream};
use tokio::time::{Instant, sleep};
use tracing::{Instrument, debug_span};

use crate::memory::{Texts, texts_of};
use crate::shift::Shift;
use crate::target::{Refused, Target};

/// The longest that a question waits: proxies like to cut what is silent for longer.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How many manifests are fetched at once.
const AT_ONCE: usize = 4;

/// What a question brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    News,
    Nothing,
}

/// Asks for ever.
pub(crate) async fn pull(shift: &Shift, agent: AgentId) {
    let settings = &shift.agent.settings;
    let mut failures = 0;
    loop {
        let (asked, wait) = (Instant::now(), wait(shift));
        let question = debug_span!("poll", %agent, wait = ?wait);
        match ask(shift, agent, wait).instrument(question).await {
            Ok(heard) => {
                failures = 0;
                shift.agent.broker_answered(heard, asked.elapsed());
                sleep(pause(
                    heard,
                    asked.elapsed(),
                    wait,
                    settings.polling_interval,
                ))
                .await;
            }
            Err(error) => {
                failures += 1;
                shift.agent.broker_failed(&error);
                let own = settings
                    .retry_of_broker()
                    .delay(failures, &*shift.agent.dice);
                sleep(own.max(retry_after(&error))).await;
            }
        }
    }
}

/// A fifth is left to chance, so that agents do not all ask at once.
fn wait(shift: &Shift) -> Duration {
    let longest = shift.agent.settings.polling_interval.min(LONGEST_WAIT);
    RetryPolicy::every(longest).delay(1, &*shift.agent.dice)
}

/// How long to wait before the next question: not at all if this one could wait.
fn pause(heard: Heard, took: Duration, wait: Duration, interval: Duration) -> Duration {
    match heard {
        Heard::News => Duration::ZERO,
        Heard::Nothing if took >= wait / 2 => Duration::ZERO,
        Heard::Nothing => interval.saturating_sub(took),
    }
}

fn retry_after(error: &ClientError) -> Duration {
    match error {
        ClientError::Refused { retry_after, .. } => {
            Duration::from_secs(retry_after.unwrap_or_default().min(300))
        }
        _ => Duration::ZERO,
    }
}

/// Asks once, and takes up what is said.
async fn ask(shift: &Shift, agent: AgentId, wait: Duration) -> Result<Heard, ClientError> {
    let known = shift.target();
    let poll = Poll {
        known: known.version.clone().filter(|_| known.agent == Some(agent)),
        wait: Some(wait),
        without_bodies: true,
    };
    let Some(answer) = shift.agent.broker.target_state(agent, &poll).await? else {
        shift.remember_if_forgotten().await;
        return Ok(Heard::Nothing);
    };
    shift.questions.send_replace(answer.inbox);
    take_up(shift, agent, &known, answer).await
}

async fn take_up(
    shift: &Shift,
    agent: AgentId,
    known: &Target,
    answer: TargetState,
) -> Result<Heard, ClientError> {
    let (mut target, refused) = known.after(agent, answer);
    refused.iter().for_each(|refused| refuse(shift, refused));
    announce(known, &target);
    let (texts, fetched) = fetch(shift, agent, &target).await;
    if fetched.is_err() {
        // The rest goes on; all of it is asked for again.
        target.version = None;
    }
    let same = Target {
        version: known.version.clone(),
        ..target.clone()
    };
    let heard = if same == *known {
        Heard::Nothing
    } else {
        Heard::News
    };
    shift.hold(target, texts).await;
    fetched.map(|()| heard)
}

fn announce(known: &Target, target: &Target) {
    if known.active != target.active || known.agent.is_none() {
        match target.active {
            true => tracing::info!("the agent is ACTIVE"),
            false => {
                tracing::warn!("the agent is INACTIVE: nothing is applied, deleted or repaired");
            }
        }
    }
    for (stack, sequence) in &target.absent {
        if !known.absent.contains_key(stack) {
            tracing::warn!(%stack, %sequence, "nothing is said of the stack any more; its objects stay as they are");
        }
    }
}

/// Says that a revision is older than what the cluster holds.
fn refuse(shift: &Shift, Refused { object, held }: &Refused) {
    let (stack, sequence) = (object.stack_id, object.sequence_id);
    let why = format!("refused: revision {sequence} is older than {held}, which the cluster holds");
    tracing::warn!(%stack, "{why}");
    shift.agent.metrics.refused.inc();
    shift.outbox.event(NewEvent {
        id: Some(EventId(shift.agent.dice.uuid())),
        agent_id: None,
        deployment_object_id: object.id,
        event_type: "DEPLOY".to_owned(),
        status: EventStatus::Failure,
        message: Some(why),
        attempted_at: Some(shift.agent.clock.now()),
        changes: Vec::new(),
        change_counts: ChangeCounts::new(),
    });
}

/// The texts of a target: those that are there, and those that can be fetched.
async fn fetch(shift: &Shift, agent: AgentId, target: &Target) -> (Texts, Result<(), ClientError>) {
    let there = shift.texts();
    let (mut texts, mut fetched) = (Texts::new(), Ok(()));
    let wanted = texts_of(target);
    let missing: Vec<Checksum> = wanted
        .iter()
        .filter(|sum| !there.contains_key(*sum))
        .cloned()
        .collect();
    texts.extend(
        wanted
            .into_iter()
            .filter_map(|sum| there.get(&sum).cloned().map(|text| (sum, text))),
    );
    let broker = &shift.agent.broker;
    let mut answers = stream::iter(missing)
        .map(|sum| async move { (broker.agent_manifest(agent, &sum).await, sum) })
        .buffer_unordered(AT_ONCE);
    while let Some((answer, sum)) = answers.next().await {
        match answer {
            Ok(text) if Checksum::of(&text) == sum => {
                texts.insert(sum, text.into());
            }
            Ok(_) => {
                let what = format!("a manifest is not what its checksum {sum} says");
                fetched = Err(ClientError::Unreadable(what));
            }
            Err(error) => fetched = Err(error),
        }
    }
    (texts, fetched)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_broker_that_lets_questions_wait_is_asked_again_at_once() {
        let pause = |heard, took| pause(heard, took, 30 * SECOND, 30 * SECOND);
        assert_eq!(pause(Heard::Nothing, 30 * SECOND), Duration::ZERO);
        assert_eq!(pause(Heard::News, Duration::ZERO), Duration::ZERO);
    }

    #[test]
    fn one_that_does_not_is_asked_once_in_every_interval() {
        let pause = pause(Heard::Nothing, SECOND, 30 * SECOND, 30 * SECOND);
        assert_eq!(pause, 29 * SECOND);
    }
}
