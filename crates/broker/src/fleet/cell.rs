//! One agent in memory: its assignments, what it is served, and who waits for that to change.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evenkeel_model::{Agent, AgentId, Assignment, Heartbeat, StackId};
use jiff::Timestamp;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::watch;

use super::TargetState;

/// One agent in memory.
#[derive(Debug)]
pub(crate) struct AgentCell {
    pub(crate) id: AgentId,
    inner: Mutex<Inner>,
    state: watch::Sender<Arc<TargetState>>,
}

#[derive(Debug)]
struct Inner {
    agent: Agent,
    assignments: BTreeMap<StackId, Assignment>,
    /// The newest sign of life that came to this broker.
    beat: Option<Heartbeat>,
    /// How many polls wait, and since when there is one.
    waiting: usize,
    waiting_since: Option<Timestamp>,
}

impl AgentCell {
    pub(super) fn new(agent: Agent, assignments: Vec<Assignment>) -> Self {
        let state = TargetState::of(agent.status, &assignments);
        let id = agent.id;
        let assignments = assignments
            .into_iter()
            .map(|one| (one.stack_id, one))
            .collect();
        let inner = Inner {
            agent,
            assignments,
            beat: None,
            waiting: 0,
            waiting_since: None,
        };
        Self {
            id,
            inner: Mutex::new(inner),
            state: watch::channel(Arc::new(state)).0,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the agent is served now.
    pub(crate) fn state(&self) -> Arc<TargetState> {
        self.state.borrow().clone()
    }

    /// Wakes up when what the agent is served changes.
    pub(crate) fn watch(&self) -> watch::Receiver<Arc<TargetState>> {
        self.state.subscribe()
    }

    /// All that it is to do.
    pub(crate) fn assignments(&self) -> Vec<Assignment> {
        self.lock().assignments.values().cloned().collect()
    }

    /// What it is to do with one stack.
    pub(crate) fn assignment(&self, stack: StackId) -> Option<Assignment> {
        self.lock().assignments.get(&stack).cloned()
    }

    /// The newest sign of life that came to this broker.
    pub(crate) fn beat(&self) -> Option<Heartbeat> {
        self.lock().beat.clone()
    }

    /// Takes note of a sign of life.
    pub(crate) fn take_beat(&self, beat: Heartbeat) {
        self.lock().beat = Some(beat);
    }

    /// Since when the agent waits here for changes, if it does.
    pub(crate) fn waiting_since(&self) -> Option<Timestamp> {
        self.lock().waiting_since
    }

    /// Counts a poll that waits, here and in the gauge, until what is returned is dropped.
    pub(crate) fn wait_from(self: &Arc<Self>, now: Timestamp, gauge: &Gauge) -> WaitingPoll {
        let mut inner = self.lock();
        inner.waiting += 1;
        inner.waiting_since.get_or_insert(now);
        gauge.inc();
        WaitingPoll {
            cell: Arc::clone(self),
            gauge: gauge.clone(),
        }
    }

    pub(super) fn set_agent(&self, agent: Agent) {
        self.change(|inner| inner.agent = agent);
    }

    pub(super) fn set_assignments(&self, assignments: Vec<Assignment>) {
        let assignments = assignments
            .into_iter()
            .map(|one| (one.stack_id, one))
            .collect();
        self.change(|inner| inner.assignments = assignments);
    }

    pub(super) fn update_assignments(&self, changes: Vec<(StackId, Option<Assignment>)>) {
        self.change(|inner| {
            for (stack, assignment) in changes {
                match assignment {
                    Some(assignment) => inner.assignments.insert(stack, assignment),
                    None => inner.assignments.remove(&stack),
                };
            }
        });
    }

    /// Changes what is known and wakes those who wait if that changes what is served.
    fn change(&self, change: impl FnOnce(&mut Inner)) {
        let mut inner = self.lock();
        change(&mut inner);
        let state = TargetState::of(inner.agent.status, inner.assignments.values());
        self.state.send_if_modified(|old| {
            let differs = old.version != state.version;
            if differs {
                *old = Arc::new(state);
            }
            differs
        });
    }
}

/// A poll that waits.
#[derive(Debug)]
pub(crate) struct WaitingPoll {
    cell: Arc<AgentCell>,
    gauge: Gauge,
}

impl Drop for WaitingPoll {
    fn drop(&mut self) {
        self.gauge.dec();
        let mut inner = self.cell.lock();
        inner.waiting -= 1;
        if inner.waiting == 0 {
            inner.waiting_since = None;
        }
    }
}
