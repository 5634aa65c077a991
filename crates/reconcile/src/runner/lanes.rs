//! The two lanes of keys that are ready to run.

use std::collections::BTreeSet;

use super::request::Priority;
use super::slots::Slot;

/// How many changes may run in a row while routine work waits. Routine work is thus sure of
/// every third run, and no key of a full queue runs more than twice as often as another.
const CHANGES_IN_A_ROW: u32 = 2;

/// A place in a lane, in order of arrival.
pub(super) type Ticket = u64;

/// Two first-in-first-out lanes that cannot starve each other. A key can leave from the middle.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    change: BTreeSet<(Ticket, Slot)>,
    routine: BTreeSet<(Ticket, Slot)>,
    next_ticket: Ticket,
    changes_in_a_row: u32,
}

impl Lanes {
    pub(super) fn push(&mut self, priority: Priority, slot: Slot) -> Ticket {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.lane_mut(priority).insert((ticket, slot));
        ticket
    }

    pub(super) fn remove(&mut self, priority: Priority, ticket: Ticket, slot: Slot) {
        self.lane_mut(priority).remove(&(ticket, slot));
    }

    pub(super) fn pop(&mut self) -> Option<Slot> {
        let priority = self.turn();
        self.changes_in_a_row = match priority {
            Priority::Change => self.changes_in_a_row.saturating_add(1),
            Priority::Routine => 0,
        };
        self.lane_mut(priority).pop_first().map(|(_, slot)| slot)
    }

    fn turn(&self) -> Priority {
        let routine_is_due = self.changes_in_a_row >= CHANGES_IN_A_ROW;
        match (self.change.is_empty(), self.routine.is_empty()) {
            (_, true) => Priority::Change,
            (true, false) => Priority::Routine,
            (false, false) if routine_is_due => Priority::Routine,
            (false, false) => Priority::Change,
        }
    }

    pub(super) fn len(&self, priority: Priority) -> usize {
        self.lane(priority).len()
    }

    /// Who waits longest in a lane.
    pub(super) fn oldest(&self, priority: Priority) -> Option<Slot> {
        self.lane(priority).first().map(|&(_, slot)| slot)
    }

    fn lane(&self, priority: Priority) -> &BTreeSet<(Ticket, Slot)> {
        match priority {
            Priority::Change => &self.change,
            Priority::Routine => &self.routine,
        }
    }

    fn lane_mut(&mut self, priority: Priority) -> &mut BTreeSet<(Ticket, Slot)> {
        match priority {
            Priority::Change => &mut self.change,
            Priority::Routine => &mut self.routine,
        }
    }
}
