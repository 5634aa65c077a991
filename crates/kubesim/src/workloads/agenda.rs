//! What the controllers have to look at, now and later.
//!
//! A task waits at most once, and has at most one moment at which it wants to look again: each
//! look decides anew when the next one is due.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::net::Ipv4Addr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until};

use super::desk::{self, Desk, PODS};
use super::{Again, Workloads};
use crate::cluster::{Cluster, WeakCluster};
use crate::store::Key;

/// How long a task that failed waits for its first retry, and at most.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(300);
/// Where the addresses of pods begin: 10.244.0.0.
const PODS_NETWORK: u32 = 0x0af4_0000;

/// One object that one controller has to look at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Task {
    pub(super) controller: Controller,
    pub(super) key: Key,
}

/// Who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Controller {
    Deployment,
    ReplicaSet,
    Replication,
    StatefulSet,
    DaemonSet,
    Job,
    CronJob,
    Endpoints,
    Disruption,
    Quota,
    Claim,
    Volume,
    Scheduler,
    Kubelet,
    Node,
}

impl Controller {
    /// The name under which it writes.
    pub(super) fn manager(self) -> &'static str {
        match self {
            Self::Scheduler => "kube-scheduler",
            Self::Kubelet | Self::Node => "kubelet",
            _ => desk::MANAGER,
        }
    }
}

/// The tasks of one cluster.
#[derive(Debug)]
pub(crate) struct Agenda {
    pub(super) settings: Workloads,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Task>,
    queued: HashSet<Task>,
    times: BTreeSet<(Instant, Task)>,
    time_of: HashMap<Task, Instant>,
    failures: HashMap<Task, u32>,
    /// Since when tasks have found their object in the state of this name.
    marks: HashMap<Task, (String, Instant)>,
    /// The earliest moment for which an alarm is set.
    alarm: Option<Instant>,
    /// The last address that a pod was given.
    address: Option<u32>,
}

impl Agenda {
    pub(crate) fn new(settings: Workloads) -> Self {
        Self {
            settings,
            state: Mutex::default(),
        }
    }

    /// Puts a task on the list, unless it is on it.
    pub(super) fn add(&self, controller: Controller, key: &Key) {
        let key = key.clone();
        self.state().enqueue(Task { controller, key });
    }

    /// Whether there is something to do at this moment.
    pub(crate) fn is_due(&self) -> bool {
        let state = self.state();
        let due = |(at, _): &(Instant, Task)| *at <= Instant::now();
        !state.queue.is_empty() || state.times.first().is_some_and(due)
    }

    pub(super) fn next(&self) -> Option<Task> {
        let mut state = self.state();
        state.enqueue_due();
        let task = state.queue.pop_front()?;
        state.queued.remove(&task);
        Some(task)
    }

    /// Takes note of how a task went, and when it is due again.
    pub(super) fn done(&self, task: &Task, again: &Again) {
        let mut state = self.state();
        let delay = match again {
            Ok(delay) => {
                state.failures.remove(task);
                *delay
            }
            Err(_) => {
                let failures = state.failures.entry(task.clone()).or_default();
                *failures = failures.saturating_add(1);
                let delay = FIRST_RETRY * 2u32.saturating_pow((*failures - 1).min(16));
                Some(delay.min(LAST_RETRY))
            }
        };
        state.set_time(task, delay.map(|delay| Instant::now() + delay));
    }

    /// How long this task has found its object in the state that `mark` names.
    pub(super) fn time_in(&self, task: &Task, mark: &str) -> Duration {
        let mut state = self.state();
        match state.marks.get(task) {
            Some((known, since)) if known == mark => since.elapsed(),
            _ => {
                let now = (mark.to_owned(), Instant::now());
                state.marks.insert(task.clone(), now);
                Duration::ZERO
            }
        }
    }

    /// An address that no pod has had since the cluster was opened.
    pub(super) fn next_address(&self, desk: &Desk<'_>) -> String {
        let mut state = self.state();
        let last = state.address.unwrap_or_else(|| highest_address(desk));
        state.address = Some(last + 1);
        Ipv4Addr::from(last + 1).to_string()
    }

    /// Forgets what was remembered about an object that has gone.
    pub(super) fn forget(&self, controller: Controller, key: &Key) {
        let key = key.clone();
        let task = Task { controller, key };
        let mut state = self.state();
        state.marks.remove(&task);
        state.failures.remove(&task);
        state.set_time(&task, None);
    }

    /// Wakes the cluster at the next moment that somebody waits for.
    pub(crate) fn set_alarm(&self, cluster: &Cluster) {
        let mut state = self.state();
        let Some((next, _)) = state.times.first() else {
            return;
        };
        let next = *next;
        // Without a runtime there is nobody to wake the cluster; it looks at the next request.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        if state.alarm.is_none_or(|alarm| next < alarm) {
            state.alarm = Some(next);
            runtime.spawn(ring(cluster.downgrade(), next));
        }
    }

    fn rang(&self, at: Instant) {
        let mut state = self.state();
        if state.alarm.is_some_and(|alarm| alarm <= at) {
            state.alarm = None;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn enqueue(&mut self, task: Task) {
        if self.queued.insert(task.clone()) {
            self.queue.push_back(task);
        }
    }

    fn enqueue_due(&mut self) {
        let now = Instant::now();
        while let Some((at, _)) = self.times.first()
            && *at <= now
            && let Some((_, task)) = self.times.pop_first()
        {
            self.time_of.remove(&task);
            self.enqueue(task);
        }
    }

    fn set_time(&mut self, task: &Task, at: Option<Instant>) {
        if let Some(before) = self.time_of.remove(task) {
            self.times.remove(&(before, task.clone()));
        }
        if let Some(at) = at {
            self.time_of.insert(task.clone(), at);
            self.times.insert((at, task.clone()));
        }
    }
}

/// The highest address of any pod, or the one before the first.
fn highest_address(desk: &Desk<'_>) -> u32 {
    let pods = desk.list(PODS, None);
    let addresses = pods.iter().filter_map(|pod| {
        let address: Ipv4Addr = pod["status"]["podIP"].as_str()?.parse().ok()?;
        Some(u32::from(address)).filter(|address| address & PODS_NETWORK == PODS_NETWORK)
    });
    addresses.max().unwrap_or(PODS_NETWORK + 1)
}

/// One alarm. It holds nothing: a cluster that nobody has any more is not woken.
async fn ring(cluster: WeakCluster, at: Instant) {
    sleep_until(at).await;
    let Some(cluster) = cluster.upgrade() else {
        return;
    };
    if let Some(agenda) = cluster.agenda() {
        agenda.rang(at);
    }
    cluster.settle_at_its_pace();
}
