//! The queue against a model of it: one list, searched from end to end for every question.

use evenkeel_reconcile::runner::{
    Ended, Failure, FailureKind, Item, Moment, Priority, Queue, Reason, Request, Slot, State,
    Trouble as ItemTrouble,
};
use evenkeel_reconcile::{Delays, RetryPolicy};
use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Add {
        key: u32,
        reason: Reason,
        after: u64,
        generation: u64,
    },
    Forget(u32),
    Pass(u64),
    Next,
    Finish {
        which: usize,
        ended: Ended,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    use Reason::{Asked, Changed, Listed, Owned, Related, Resync};
    let reason = prop::sample::select(vec![Changed, Owned, Related, Asked, Listed, Resync]);
    let add = (
        0_u32..6,
        reason,
        prop_oneof![Just(0_u64), 1..100_u64],
        0_u64..3,
    )
        .prop_map(|(key, reason, after, generation)| Step::Add {
            key,
            reason,
            after,
            generation,
        });
    let finish = (0_usize..4, ended()).prop_map(|(which, ended)| Step::Finish { which, ended });
    let step = prop_oneof![
        4 => add,
        3 => Just(Step::Next),
        3 => finish,
        2 => (1_u64..120).prop_map(Step::Pass),
        1 => (0_u32..6).prop_map(Step::Forget),
    ];
    prop::collection::vec(step, 1..120)
}

fn ended() -> impl Strategy<Value = Ended> {
    let failed = |kind| {
        Ended::Failed(Failure {
            kind,
            text: "no".into(),
        })
    };
    prop::sample::select(vec![
        Ended::Done,
        Ended::Wait("it".into()),
        failed(FailureKind::Error(ErrorClass::Transient)),
        failed(FailureKind::Timeout),
        failed(FailureKind::Panic),
        failed(FailureKind::Error(ErrorClass::Permanent)),
    ])
}

/// Everything that the model believes.
#[derive(Debug, Default)]
struct Model {
    keys: BTreeMap<u32, Known>,
    arrivals: u64,
    changes_in_a_row: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Known {
    generation: u64,
    failures: u32,
    waiting: bool,
    place: Place,
}

#[derive(Debug, Clone, Copy, Default)]
enum Place {
    #[default]
    Idle,
    Delayed(Plan),
    Ready {
        arrival: u64,
        since: Moment,
        reason: Reason,
    },
    Running {
        since: Moment,
        reason: Reason,
        again: Option<(Plan, bool)>,
        forgotten: bool,
    },
}

#[derive(Debug, Clone, Copy)]
struct Plan {
    due: Moment,
    reason: Reason,
}

fn is_routine(reason: Reason) -> bool {
    reason.priority() == Priority::Routine
}

fn sooner(old: Plan, new: Plan) -> Plan {
    let keep = !is_routine(old.reason) || is_routine(new.reason);
    Plan {
        due: old.due.min(new.due),
        reason: if keep { old.reason } else { new.reason },
    }
}

impl Model {
    fn wake(&mut self, now: Moment) {
        loop {
            let due = self
                .keys
                .iter()
                .filter_map(|(&key, known)| match known.place {
                    Place::Delayed(plan) if plan.due <= now => Some((plan.due, key, plan.reason)),
                    _ => None,
                });
            let Some((due, key, reason)) = due.min_by_key(|&(due, key, _)| (due, key)) else {
                return;
            };
            self.ready(key, Plan { due, reason });
        }
    }

    fn ready(&mut self, key: u32, plan: Plan) {
        self.arrivals += 1;
        let (arrival, Plan { due: since, reason }) = (self.arrivals, plan);
        self.keys.entry(key).or_default().place = Place::Ready {
            arrival,
            since,
            reason,
        };
    }

    fn plan(&mut self, key: u32, plan: Plan, now: Moment) {
        if plan.due <= now {
            self.ready(key, plan);
        } else {
            self.keys.entry(key).or_default().place = Place::Delayed(plan);
        }
    }

    fn add(&mut self, key: u32, plan: Plan, generation: u64, now: Moment) {
        self.wake(now);
        let known = self.keys.entry(key).or_default();
        let is_new = match (plan.reason, generation) {
            (Reason::Asked, _) | (Reason::Changed, 0) => true,
            (_, 0) => false,
            (_, generation) => generation != known.generation,
        };
        if generation != 0 {
            known.generation = generation;
        }
        if let Place::Running { again, .. } = &mut known.place {
            *again = Some(again.map_or((plan, is_new), |(old, was)| {
                (sooner(old, plan), was || is_new)
            }));
            return;
        }
        if is_new {
            (known.failures, known.waiting) = (0, false);
        }
        match known.place {
            Place::Ready { since, reason, .. }
                if is_routine(reason) && !is_routine(plan.reason) =>
            {
                self.ready(
                    key,
                    Plan {
                        due: since,
                        reason: plan.reason,
                    },
                );
            }
            Place::Ready { .. } => {}
            _ if known.failures > 0 => {}
            Place::Delayed(old) => self.plan(key, sooner(old, plan), now),
            _ => self.plan(key, plan, now),
        }
    }

    fn next(&mut self, now: Moment) -> Option<u32> {
        self.wake(now);
        let lane = |routine| {
            let ready = self
                .keys
                .iter()
                .filter_map(move |(&key, known)| match known.place {
                    Place::Ready {
                        arrival, reason, ..
                    } if is_routine(reason) == routine => Some((arrival, key)),
                    _ => None,
                });
            ready.min().map(|(_, key)| key)
        };
        let (change, routine) = (lane(false), lane(true));
        let routine_is_due = self.changes_in_a_row >= 2 || change.is_none();
        let key = if routine_is_due {
            routine.or(change)
        } else {
            change
        };
        self.changes_in_a_row = if key == routine && key.is_some() {
            0
        } else {
            self.changes_in_a_row + 1
        };
        let known = self.keys.get_mut(&key?)?;
        if let Place::Ready { reason, .. } = known.place {
            known.place = Place::Running {
                since: now,
                reason,
                again: None,
                forgotten: false,
            };
        }
        key
    }

    fn finish(&mut self, key: u32, ended: &Ended, now: Moment) {
        let known = self.keys.get_mut(&key).unwrap();
        let Place::Running {
            again, forgotten, ..
        } = known.place
        else {
            panic!("not running")
        };
        known.failures = if matches!(ended, Ended::Failed(_)) {
            known.failures + 1
        } else {
            0
        };
        known.waiting = matches!(ended, Ended::Wait(_));
        let doubled = |first: u64| (first << (known.failures - 1).min(10)).min(300);
        let own = match ended.as_str() {
            "done" => None,
            "wait" => Some((30, Reason::Recheck)),
            "transient" | "timeout" => Some((doubled(10), Reason::Retry)),
            "panic" => Some((doubled(5), Reason::Retry)),
            _ => None,
        };
        let own = own.map(|(delay, reason)| Plan {
            due: now + secs(delay),
            reason,
        });
        known.place = Place::Idle;
        if again.is_some_and(|(_, is_new)| is_new) {
            (known.failures, known.waiting) = (0, false);
        }
        let next = match again {
            None if forgotten => None,
            Some((plan, _)) if known.failures == 0 => {
                Some(own.map_or(plan, |own| sooner(own, plan)))
            }
            _ => own,
        };
        let rests = known.waiting || known.failures > 0;
        match next {
            Some(plan) => self.plan(key, plan, now),
            None if rests && !forgotten => {}
            None => drop(self.keys.remove(&key)),
        }
    }

    fn forget(&mut self, key: u32) {
        match self.keys.get_mut(&key).map(|known| &mut known.place) {
            Some(Place::Running {
                again, forgotten, ..
            }) => (*again, *forgotten) = (None, true),
            _ => drop(self.keys.remove(&key)),
        }
    }

    /// The model's answer to [`Queue::list`], in words that both sides can speak.
    fn view(&self, now: Moment) -> BTreeMap<u32, String> {
        let state = |place| match place {
            Place::Idle => State::Idle,
            Place::Delayed(plan) => State::Delayed {
                remaining: plan.due.since(now),
                reason: plan.reason,
            },
            Place::Ready { since, reason, .. } => State::Queued {
                waited: now.since(since),
                reason,
            },
            Place::Running {
                since,
                reason,
                again,
                ..
            } => State::Running {
                ran: now.since(since),
                reason,
                again: again.is_some(),
            },
        };
        let line = |known: &Known| {
            format!(
                "{:?} {} {}",
                state(known.place),
                known.failures,
                known.waiting
            )
        };
        self.keys
            .iter()
            .map(|(&key, known)| (key, line(known)))
            .collect()
    }
}

fn view(items: &[Item<u32>]) -> BTreeMap<u32, String> {
    let line = |item: &Item<u32>| {
        let (failures, waiting) = match &item.trouble {
            None => (0, false),
            Some(ItemTrouble::Waiting(_)) => (0, true),
            Some(ItemTrouble::Failed { attempts, .. }) => (*attempts, false),
        };
        format!("{:?} {failures} {waiting}", item.state)
    };
    items.iter().map(|item| (item.key, line(item))).collect()
}

fn request(reason: Reason) -> Request {
    match reason {
        Reason::Changed => Request::changed(),
        Reason::Owned => Request::owned(),
        Reason::Related => Request::related(),
        Reason::Asked => Request::asked(),
        Reason::Listed => Request::listed(),
        Reason::Retry | Reason::Recheck | Reason::Resync => Request::resync(),
    }
}

fn without_jitter() -> Delays {
    let calm = |policy: Option<RetryPolicy>| {
        policy.map(|policy| RetryPolicy {
            jitter: 0.0,
            ..policy
        })
    };
    let Delays {
        done,
        wait,
        transient,
        permanent,
        unknown,
    } = Delays::default();
    Delays {
        done: calm(done),
        wait: calm(wait),
        transient: calm(transient),
        permanent: calm(permanent),
        unknown: calm(unknown),
    }
}

/// The queue and the model, side by side.
struct Pair {
    queue: Queue<u32>,
    model: Model,
    running: Vec<(u32, Slot)>,
    now: Moment,
}

impl Pair {
    fn new() -> Self {
        let queue = Queue::new(without_jitter(), None, Arc::new(SeededRandom::new(1)));
        Self {
            queue,
            model: Model::default(),
            running: Vec::new(),
            now: Moment::START,
        }
    }

    fn take(&mut self, step: Step) {
        // A nanosecond for each step, so that no two timers are due at the same moment.
        self.now = self.now + Duration::from_nanos(1);
        let now = self.now;
        match step {
            Step::Add {
                key,
                reason,
                after,
                generation,
            } => {
                let request = request(reason).after(secs(after)).generation(generation);
                self.queue.add(key, request, now);
                self.model.add(
                    key,
                    Plan {
                        due: now + secs(after),
                        reason,
                    },
                    generation,
                    now,
                );
            }
            Step::Forget(key) => {
                self.queue.forget(&key);
                self.model.forget(key);
            }
            Step::Pass(seconds) => self.now = now + secs(seconds),
            Step::Next => self.next(),
            Step::Finish { which, ended } if which < self.running.len() => {
                let (key, slot) = self.running.remove(which);
                self.model.finish(key, &ended, now);
                self.queue.finish(slot, ended, now);
            }
            Step::Finish { .. } => {}
        }
    }

    fn next(&mut self) {
        let started = self.queue.next(self.now);
        assert_eq!(
            started.as_ref().map(|run| run.key),
            self.model.next(self.now)
        );
        if let Some(run) = started {
            assert!(
                self.running.iter().all(|(key, _)| *key != run.key),
                "twice at once"
            );
            self.running.push((run.key, run.slot));
        }
    }

    fn agree(&self) {
        assert_eq!(view(&self.queue.list(self.now)), self.model.view(self.now));
        assert_eq!(self.queue.load(self.now).running, self.running.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn the_queue_does_what_the_model_does(steps in steps()) {
        let mut pair = Pair::new();
        for step in steps {
            pair.take(step);
            pair.agree();
        }
    }
}
