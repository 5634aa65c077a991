//! Desired state beside the world: what to do about every key, decided without touching anything.
//!
//! [`compare`] is pure, total and linear: one walk over desired state, snapshot and record, a
//! decision for each key that depends on nothing but that key and the policy, and then the one
//! question that needs the whole: does the brake hold?

use jiff::Timestamp;

use crate::desired::{Desired, Key, Matches};
use crate::join::{Row, rows};
use crate::judge::Judge;
use crate::plan::{Action, Plan, RecordPlan, Step};
use crate::policy::Policy;
use crate::reason::{WhyKeep, WhyRefuse};
use crate::snapshot::{Guard, Observed, Snapshot};

/// Decides what to do so that the world becomes as desired, as far as `policy` lets it.
///
/// Never deletes on a partial view, nor for an empty desired state that nobody asked for, nor what
/// is not provably ours, nor past the brake without approval; says why for all that it leaves
/// alone.
pub fn compare<'a, K, I, L, V>(
    desired: &'a Desired<K, I, V>,
    snapshot: &'a Snapshot<K, L, V>,
    policy: &Policy<K>,
    now: Timestamp,
) -> Plan<'a, K, I, L, V>
where
    K: Key,
    I: Matches<L>,
    V: PartialEq,
{
    let judge = Judge::new(desired, snapshot, policy, now);
    let mut draft = Draft::new(desired.len() + snapshot.len(), snapshot.record.is_some());
    for row in rows(desired, snapshot) {
        draft.add(&judge, &row);
    }
    draft.brake(policy);
    draft.into_plan()
}

/// A plan in the making, in the order of the keys.
struct Draft<'a, K, I, L, V> {
    steps: Vec<Step<'a, K, I, L, V>>,
    record: Option<RecordPlan<'a, K>>,
    /// How many things are ours, the measure of the brake.
    ours: usize,
}

impl<'a, K: Key, I: Matches<L>, L, V: PartialEq> Draft<'a, K, I, L, V> {
    fn new(most: usize, keeps_record: bool) -> Self {
        let record = keeps_record.then(RecordPlan::default);
        Self {
            steps: Vec::with_capacity(most),
            record,
            ours: 0,
        }
    }

    fn add(&mut self, judge: &Judge<'_, K>, row: &Row<'a, K, I, L, V>) {
        let things = row.observed.into_iter().chain(row.extra);
        self.ours += things.filter(|thing| judge.is_ours(thing)).count();
        let action = judge.decide(row);
        self.note_record(judge, row, action.as_ref());
        let (key, rank) = (row.key, row.rank());
        self.steps
            .extend(action.map(|action| Step { key, rank, action }));
        self.steps.extend(row.extra.iter().map(|extra| {
            let (rank, action) = (extra.rank, judge.extra(row, extra));
            Step { key, rank, action }
        }));
    }

    /// What is ours, or may become ours, has to be on record; what is not must not.
    fn note_record(
        &mut self,
        judge: &Judge<'_, K>,
        row: &Row<'a, K, I, L, V>,
        action: Option<&Action<'a, I, L, V>>,
    ) {
        let Some(record) = &mut self.record else {
            return;
        };
        let mine = row.observed.is_some_and(|seen| seen.ownership.is_mine());
        match (action, row.recorded) {
            (None, Some(recorded)) if judge.is_gone(recorded) => record.forget.push(row.key),
            (
                Some(Action::Keep(WhyKeep::OfOther(_) | WhyKeep::OfNobody | WhyKeep::Left)),
                Some(_),
            ) => record.forget.push(row.key),
            (Some(Action::Keep(WhyKeep::Left) | Action::Release { .. }), None) => {}
            // A create is written down anew even if the record knows the key: what was made once
            // and is gone will come back under another id.
            (Some(Action::Create { .. }), _) | (Some(Action::Adopt { .. }), None) => {
                record.remember.push(row.key);
            }
            (Some(_), None) if mine => record.remember.push(row.key),
            _ => {}
        }
    }

    /// Holds back the deletes that nobody approved: those whose guard asks for it, and all of
    /// them when they are too many.
    fn brake(&mut self, policy: &Policy<K>) {
        if policy.approval.covers(self.deletes()) {
            return;
        }
        self.refuse_deletes(|observed| match &observed.guard {
            Guard::Confirm { why } => Some(WhyRefuse::NeedsApproval(why.clone())),
            Guard::Open | Guard::KeepOnDelete | Guard::LeaveAlone | Guard::Protected => None,
        });
        let (deletes, ours) = (self.deletes(), self.ours);
        if policy.brake.holds(deletes, ours) {
            self.refuse_deletes(|_| Some(WhyRefuse::Braked { deletes, ours }));
        }
    }

    fn deletes(&self) -> usize {
        self.steps
            .iter()
            .filter(|step| step.action.is_delete())
            .count()
    }

    fn refuse_deletes(&mut self, why: impl Fn(&Observed<L, V>) -> Option<WhyRefuse>) {
        for step in &mut self.steps {
            if let Action::Delete { observed, .. } = step.action
                && let Some(why) = why(observed)
            {
                step.action = Action::Refuse(why);
            }
        }
    }

    /// Puts the steps into the order of work; within a stage they stay in the order of the keys.
    fn into_plan(mut self) -> Plan<'a, K, I, L, V> {
        self.steps.sort_by_key(|step| step.stage().place());
        Plan {
            steps: self.steps,
            record: self.record,
        }
    }
}
