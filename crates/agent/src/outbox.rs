//! What the agent has to say, kept until the broker has heard it.
//!
//! Every event has an id of its own, so that one that is sent twice counts once. Of health only
//! the last word counts. What the broker refuses for good is dropped, loudly.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use evenkeel_api::{HealthReport, NewEvent, ReportedHealth};
use evenkeel_client::{Client, ClientError};
use evenkeel_model::{AgentId, StackId};
use tokio::sync::Notify;

/// The most events that wait while the broker is away; then the oldest go.
const ROOM: usize = 2000;

/// What waits to be said.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: Mutex<Waiting>,
    bell: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    events: VecDeque<NewEvent>,
    health: BTreeMap<StackId, ReportedHealth>,
}

impl Outbox {
    /// Something happened.
    pub(crate) fn event(&self, event: NewEvent) {
        let mut waiting = self.waiting();
        waiting.make_room_for(&event);
        waiting.events.push_back(event);
        self.bell.notify_one();
    }

    /// This is how a stack is doing. What others changed is kept until it was heard.
    pub(crate) fn health(&self, stack: StackId, mut report: ReportedHealth) {
        let mut waiting = self.waiting();
        if let Some(unsaid) = waiting.health.remove(&stack) {
            let newer = std::mem::take(&mut report.drift_records);
            report.drift_records = unsaid.drift_records.into_iter().chain(newer).collect();
        }
        waiting.health.insert(stack, report);
        self.bell.notify_one();
    }

    /// How much waits.
    pub(crate) fn len(&self) -> usize {
        let waiting = self.waiting();
        waiting.events.len() + waiting.health.len()
    }

    /// Returns when there is something to say.
    pub(crate) async fn filled(&self) {
        while self.len() == 0 {
            self.bell.notified().await;
        }
    }

    /// Says all that waits, in order.
    pub(crate) async fn send(&self, broker: &Client, agent: AgentId) -> Result<(), ClientError> {
        while let Some(event) = self.first() {
            heard(broker.event_record(agent, &event).await.map(drop), "event")?;
            self.drop_first(&event);
        }
        let health = self.waiting().health.clone();
        if health.is_empty() {
            return Ok(());
        }
        let all = HealthReport {
            deployment_objects: health.values().cloned().collect(),
        };
        match broker.health_report(agent, &all).await {
            Err(error) if is_final(&error) => one_by_one(broker, agent, all).await?,
            sent => sent?,
        }
        self.waiting()
            .health
            .retain(|stack, report| health.get(stack) != Some(report));
        Ok(())
    }

    fn first(&self) -> Option<NewEvent> {
        self.waiting().events.front().cloned()
    }

    fn drop_first(&self, sent: &NewEvent) {
        let mut waiting = self.waiting();
        // Room may have been made for others meanwhile.
        if waiting.events.front() == Some(sent) {
            waiting.events.pop_front();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// The same failure again and again is said once, with the time of the last try.
    fn make_room_for(&mut self, event: &NewEvent) {
        let about = |event: &NewEvent| {
            (
                event.deployment_object_id,
                event.status,
                event.message.clone(),
            )
        };
        let last = self
            .events
            .iter()
            .rposition(|known| known.deployment_object_id == event.deployment_object_id);
        // The first may be under way.
        if let Some(last) = last.filter(|last| *last > 0)
            && about(&self.events[last]) == about(event)
            && event.change_counts == self.events[last].change_counts
        {
            self.events.remove(last);
        }
        if self.events.len() >= ROOM {
            tracing::warn!("the broker has been away for long: the oldest event is dropped");
            self.events.pop_front();
        }
    }
}

/// One report that the broker refuses must not keep the others from being heard.
async fn one_by_one(broker: &Client, agent: AgentId, all: HealthReport) -> Result<(), ClientError> {
    for report in all.deployment_objects {
        let one = HealthReport {
            deployment_objects: vec![report],
        };
        heard(broker.health_report(agent, &one).await, "health report")?;
    }
    Ok(())
}

/// A refusal that no repetition can change counts as heard.
fn heard(sent: Result<(), ClientError>, what: &str) -> Result<(), ClientError> {
    match sent {
        Err(error) if is_final(&error) => {
            tracing::warn!(%error, "the broker refuses an {what}, which is dropped");
            Ok(())
        }
        sent => sent,
    }
}

/// Whether the broker will never take it. A key can be exchanged, so a refused key is not final.
fn is_final(error: &ClientError) -> bool {
    let status = error.status();
    status.is_some_and(|status| (400..500).contains(&status))
        && !matches!(status, Some(401 | 403 | 408 | 429))
}

#[cfg(test)]
mod tests {
    use evenkeel_model::{DeploymentId, EventId, EventStatus};
    use uuid::Uuid;

    use super::*;

    fn event(id: u128, object: u128, message: &str) -> NewEvent {
        NewEvent {
            id: Some(EventId(Uuid::from_u128(id))),
            agent_id: None,
            deployment_object_id: DeploymentId(Uuid::from_u128(object)),
            event_type: "DEPLOY".into(),
            status: EventStatus::Failure,
            message: Some(message.into()),
            attempted_at: None,
            changes: Vec::new(),
            change_counts: Default::default(),
        }
    }

    fn ids(outbox: &Outbox) -> Vec<u128> {
        let waiting = outbox.waiting();
        let ids = waiting.events.iter().filter_map(|event| event.id);
        ids.map(|id| id.0.as_u128()).collect()
    }

    #[test]
    fn the_same_failure_is_said_once_while_the_broker_is_away() {
        let outbox = Outbox::default();
        for (id, object, message) in [
            (1, 1, "x"),
            (2, 2, "y"),
            (3, 2, "y"),
            (4, 1, "z"),
            (5, 2, "y"),
        ] {
            outbox.event(event(id, object, message));
        }
        assert_eq!(ids(&outbox), [1, 4, 5]);
    }

    #[test]
    fn room_is_bounded_and_the_oldest_go() {
        let outbox = Outbox::default();
        for id in 0..ROOM as u128 + 5 {
            outbox.event(event(id, id, "x"));
        }
        assert_eq!(outbox.len(), ROOM);
        assert_eq!(ids(&outbox)[0], 5);
    }
}
