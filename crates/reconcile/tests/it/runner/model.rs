//! A model of the queue: one list, searched from end to end for every question.

use evenkeel_reconcile::runner::{Ended, Moment, Priority, Reason, State};

use super::*;

/// Everything that the model believes.
#[derive(Debug, Default)]
pub(super) struct Model {
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
pub(super) struct Plan {
    pub(super) due: Moment,
    pub(super) reason: Reason,
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

    pub(super) fn add(&mut self, key: u32, plan: Plan, generation: u64, now: Moment) {
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

    pub(super) fn next(&mut self, now: Moment) -> Option<u32> {
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

    pub(super) fn finish(&mut self, key: u32, ended: &Ended, now: Moment) {
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

    pub(super) fn forget(&mut self, key: u32) {
        match self.keys.get_mut(&key).map(|known| &mut known.place) {
            Some(Place::Running {
                again, forgotten, ..
            }) => (*again, *forgotten) = (None, true),
            _ => drop(self.keys.remove(&key)),
        }
    }

    /// The model's answer to [`Queue::list`], in words that both sides can speak.
    pub(super) fn view(&self, now: Moment) -> BTreeMap<u32, String> {
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
