//! The queue itself: plain data, no clock, no tasks. Time is a parameter of every call.
//!
//! ```text
//!            add                 due             next              finish
//! (unknown) ─────▶ delayed ───────────▶ ready ─────────▶ running ─────────▶ delayed | ready | idle | (unknown)
//! ```

use std::collections::BTreeSet;
use std::fmt::Display;
use std::hash::Hash;
use std::time::Duration;

use evenkeel_ambient::SharedRandom;

use super::ended::Ended;
use super::entry::{Entry, Phase, Running};
use super::item::{Item, Load};
use super::lanes::Lanes;
use super::moment::Moment;
use super::request::{Debounce, Priority, Reason, Request, Wanted, Window};
use super::slots::{Slot, Slots};
use crate::outcome::{Delays, OutcomeClass};

/// What can name a piece of work. Cheap to clone, readable by people: `Arc<str>`, an id, a
/// reference to an object.
pub trait Key: Clone + Eq + Hash + Display + Send + Sync + 'static {}

impl<K: Clone + Eq + Hash + Display + Send + Sync + 'static> Key for K {}

/// Keys that want to run, each at most once at a time.
#[derive(Debug)]
pub struct Queue<K> {
    slots: Slots<K, Entry>,
    lanes: Lanes,
    timers: BTreeSet<(Moment, Slot)>,
    running: usize,
    delays: Delays,
    debounce: Option<Debounce>,
    dice: SharedRandom,
}

/// A run that must be [finished](Queue::finish).
#[derive(Debug)]
pub struct Started<K> {
    /// What to run.
    pub key: K,
    /// The number by which the queue knows the run.
    pub slot: Slot,
    /// Why; for the trace only.
    pub reason: Reason,
    /// 1, or one more than the failures in a row before it.
    pub attempt: u32,
    /// How long the key was ready before a worker took it.
    pub waited: Duration,
}

impl<K: Key> Queue<K> {
    /// An empty queue.
    pub fn new(delays: Delays, debounce: Option<Debounce>, dice: SharedRandom) -> Self {
        Self {
            slots: Slots::new(),
            lanes: Lanes::default(),
            timers: BTreeSet::new(),
            running: 0,
            delays,
            debounce,
            dice,
        }
    }

    /// Asks for a run of `key`.
    pub fn add(&mut self, key: K, request: Request, now: Moment) {
        self.wake_due(now);
        let slot = self.slots.get_or_insert_with(key, Entry::new);
        let entry = &mut self.slots[slot];
        let wanted = request.wanted(entry.generation, self.debounce, now);
        entry.generation = request.generation_over(entry.generation);
        match &mut entry.phase {
            Phase::Running(running) => {
                running.again = Some(running.again.map_or(wanted, |again| again.merged(wanted)));
            }
            Phase::Ready { reason, .. } => {
                let reason = *reason;
                self.promote(slot, reason, wanted);
            }
            Phase::Idle | Phase::Delayed(_) => self.bring_forward(slot, wanted, now),
        }
    }

    /// Moves a ready key to the lane of changes, if that is where `wanted` belongs.
    fn promote(&mut self, slot: Slot, reason: Reason, wanted: Wanted) {
        if wanted.afresh {
            self.slots[slot].note = None;
        }
        let Phase::Ready { ticket, since, .. } = self.slots[slot].phase else {
            return;
        };
        let rises = (reason.priority(), wanted.reason.priority());
        if rises == (Priority::Routine, Priority::Change) {
            self.lanes.remove(Priority::Routine, ticket, slot);
            self.make_ready(slot, wanted.reason, since);
        }
    }

    /// Runs a resting key sooner, unless it failed and nothing is new.
    fn bring_forward(&mut self, slot: Slot, wanted: Wanted, now: Moment) {
        let entry = &mut self.slots[slot];
        if wanted.afresh {
            entry.note = None;
        }
        if entry.holds() {
            return;
        }
        let wanted = match entry.phase {
            Phase::Delayed(planned) => {
                self.timers.remove(&(planned.window.due, slot));
                planned.merged(wanted)
            }
            Phase::Idle | Phase::Ready { .. } | Phase::Running(_) => wanted,
        };
        self.schedule(slot, wanted, now);
    }

    fn schedule(&mut self, slot: Slot, wanted: Wanted, now: Moment) {
        let due = wanted.window.due;
        if due <= now {
            self.make_ready(slot, wanted.reason, due);
        } else {
            self.timers.insert((due, slot));
            self.slots[slot].phase = Phase::Delayed(wanted);
        }
    }

    fn make_ready(&mut self, slot: Slot, reason: Reason, since: Moment) {
        let ticket = self.lanes.push(reason.priority(), slot);
        self.slots[slot].phase = Phase::Ready {
            ticket,
            since,
            reason,
        };
    }

    /// Puts every key whose time has come into its lane.
    fn wake_due(&mut self, now: Moment) {
        while let Some(&(due, slot)) = self.timers.first().filter(|(due, _)| *due <= now) {
            self.timers.pop_first();
            if let Phase::Delayed(planned) = self.slots[slot].phase {
                self.make_ready(slot, planned.reason, due);
            }
        }
    }

    /// The next key to run, if any is ready.
    pub fn next(&mut self, now: Moment) -> Option<Started<K>> {
        self.wake_due(now);
        let slot = self.lanes.pop()?;
        let entry = &mut self.slots[slot];
        let Phase::Ready { since, reason, .. } = entry.phase else {
            return None;
        };
        let running = Running {
            since: now,
            reason,
            again: None,
            forgotten: false,
        };
        entry.phase = Phase::Running(running);
        let attempt = entry.failures().saturating_add(1);
        self.running += 1;
        let key = self.slots.key(slot).clone();
        Some(Started {
            key,
            slot,
            reason,
            attempt,
            waited: now.since(since),
        })
    }

    /// Takes a run back, and answers how long until the key runs again: nothing if it rests
    /// until somebody asks.
    pub fn finish(&mut self, slot: Slot, ended: Ended, now: Moment) -> Option<Duration> {
        let entry = &mut self.slots[slot];
        let Phase::Running(running) = entry.phase else {
            return None;
        };
        self.running -= 1;
        entry.phase = Phase::Idle;
        let class = ended.class();
        entry.take_note(ended, now);
        let next = match running.again {
            None if running.forgotten => None,
            None => self.planned(slot, class, now),
            Some(again) => self.planned_with(slot, class, again, now),
        };
        match next {
            Some(wanted) => self.schedule(slot, wanted, now),
            None if running.forgotten || self.slots[slot].note.is_none() => self.slots.remove(slot),
            None => {}
        }
        next.map(|wanted| wanted.window.due.since(now))
    }

    /// When the class of the outcome alone would run the key again.
    fn planned(&self, slot: Slot, class: OutcomeClass, now: Moment) -> Option<Wanted> {
        let (attempts, spent) = self.slots[slot].streak(now);
        let delay = self.delays.of(class)?.next(attempts, spent, &*self.dice)?;
        let reason = match class {
            OutcomeClass::Done => Reason::Resync,
            OutcomeClass::Wait => Reason::Recheck,
            OutcomeClass::Failed(_) => Reason::Retry,
        };
        Some(Wanted {
            window: Window::at(now + delay),
            reason,
            afresh: false,
        })
    }

    /// The same, when `again` was asked for during the run.
    fn planned_with(
        &mut self,
        slot: Slot,
        class: OutcomeClass,
        again: Wanted,
        now: Moment,
    ) -> Option<Wanted> {
        let planned = self.planned(slot, class, now);
        let entry = &mut self.slots[slot];
        if entry.holds() && !again.afresh {
            return planned;
        }
        if again.afresh {
            entry.note = None;
        }
        Some(planned.map_or(again, |planned| planned.merged(again)))
    }

    /// Drops everything known about `key`; a run of it that is under way ends in peace.
    pub fn forget(&mut self, key: &K) {
        let Some(slot) = self.slots.slot_of(key) else {
            return;
        };
        match &mut self.slots[slot].phase {
            Phase::Running(running) => {
                running.forgotten = true;
                running.again = None;
                return;
            }
            Phase::Ready { ticket, reason, .. } => {
                self.lanes.remove(reason.priority(), *ticket, slot);
            }
            Phase::Delayed(planned) => {
                self.timers.remove(&(planned.window.due, slot));
            }
            Phase::Idle => {}
        }
        self.slots.remove(slot);
    }

    /// When the next delayed key is due.
    pub fn next_due(&self) -> Option<Moment> {
        self.timers.first().map(|&(due, _)| due)
    }

    /// How much there is to do.
    pub fn load(&self, now: Moment) -> Load {
        let queued = |priority| self.lanes.len(priority);
        let ready = queued(Priority::Change) + queued(Priority::Routine);
        Load {
            changes: queued(Priority::Change),
            routine: queued(Priority::Routine),
            oldest_change: self.oldest(Priority::Change, now),
            oldest_routine: self.oldest(Priority::Routine, now),
            delayed: self.timers.len(),
            running: self.running,
            idle: self.slots.len() - ready - self.timers.len() - self.running,
        }
    }

    fn oldest(&self, priority: Priority, now: Moment) -> Duration {
        match self
            .lanes
            .oldest(priority)
            .map(|slot| self.slots[slot].phase)
        {
            Some(Phase::Ready { since, .. }) => now.since(since),
            _ => Duration::ZERO,
        }
    }

    /// What is known about one key, and why it waits.
    pub fn find(&self, key: &K, now: Moment) -> Option<Item<K>> {
        let slot = self.slots.slot_of(key)?;
        Some(Item::of(key, &self.slots[slot], now))
    }

    /// The same for every key. Copies them all.
    pub fn list(&self, now: Moment) -> Vec<Item<K>> {
        self.slots
            .iter()
            .map(|(key, entry)| Item::of(key, entry, now))
            .collect()
    }
}
