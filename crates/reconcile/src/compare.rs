//! Desired state beside the world: what to do about every key, decided without touching anything.
//!
//! [`compare`] is pure, total and linear: one walk over desired state, snapshot and record, a
//! decision for each key that depends on nothing but that key and the policy, and then the one
//! question that needs the whole: does the brake hold?

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::desired::{Desired, Key, Matches, Rank, Wanted};
use crate::join::{Row, rows};
use crate::ownership::Ownership;
use crate::plan::{Action, Plan, RecordPlan, Step};
use crate::policy::{Adopt, Drift, Naming, Policy, Prune, Tenancy};
use crate::reason::{WhyCreate, WhyDelete, WhyKeep, WhyRefuse, WhyUpdate};
use crate::snapshot::{Guard, Observed, Recorded, Snapshot};
use crate::world::Stage;

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
    let judge = Judge {
        policy,
        now,
        gaps: snapshot.gaps().map(|gaps| gaps.to_string().into()),
        empty_by_accident: desired.is_empty_by_accident(),
    };
    let mut draft = Draft::new(snapshot.record.is_some());
    for row in rows(desired, snapshot) {
        draft.add(&judge, &row);
    }
    draft.brake(policy);
    draft.into_plan()
}

/// Decides about one key at a time.
struct Judge<'p, K> {
    policy: &'p Policy<K>,
    now: Timestamp,
    gaps: Option<Arc<str>>,
    empty_by_accident: bool,
}

impl<K: Key> Judge<'_, K> {
    /// What to do about a key; `None` when only the record knows it.
    fn decide<'a, I: Matches<L>, L, V: PartialEq>(
        &self,
        row: &Row<'a, K, I, L, V>,
    ) -> Option<Action<'a, I, L, V>> {
        match (row.wanted, row.observed) {
            (Some(wanted), None) => Some(self.absent(wanted, row.recorded)),
            (Some(wanted), Some(observed)) => Some(self.present(wanted, observed)),
            (None, Some(observed)) => Some(self.unwanted(row.key, observed)),
            (None, None) => None,
        }
    }

    /// Wanted, and not to be seen.
    fn absent<'a, I, L, V: PartialEq>(
        &self,
        wanted: &'a Wanted<I, V>,
        recorded: Option<&Recorded<V>>,
    ) -> Action<'a, I, L, V> {
        let was_made =
            matches!(recorded, Some(Recorded::Made { version }) if *version == wanted.version);
        match (recorded, &self.gaps) {
            (Some(Recorded::Settling { until }), _) if self.now < *until => {
                Action::Refuse(WhyRefuse::Settling { until: *until })
            }
            (_, Some(gaps)) if was_made || self.policy.naming == Naming::ByServer => {
                Action::Refuse(WhyRefuse::PartialView(gaps.clone()))
            }
            _ if was_made => self.vanished(wanted),
            _ => Action::Create {
                wanted,
                why: WhyCreate::Missing,
            },
        }
    }

    /// Wanted, made, and removed by somebody else.
    fn vanished<'a, I, L, V>(&self, wanted: &'a Wanted<I, V>) -> Action<'a, I, L, V> {
        match self.policy.drift {
            Drift::Off => Action::Keep(WhyKeep::DriftUnchecked),
            Drift::Warn => Action::Keep(WhyKeep::DriftTolerated("it is gone".to_owned())),
            Drift::Enforce => Action::Create {
                wanted,
                why: WhyCreate::Vanished,
            },
        }
    }

    /// Wanted, and there.
    fn present<'a, I: Matches<L>, L, V: PartialEq>(
        &self,
        wanted: &'a Wanted<I, V>,
        observed: &'a Observed<L, V>,
    ) -> Action<'a, I, L, V> {
        match &observed.ownership {
            Ownership::Other { owner } => Action::Refuse(WhyRefuse::OwnedByOther(owner.clone())),
            Ownership::Mine { .. } | Ownership::Nobody if observed.leaving => {
                Action::Refuse(WhyRefuse::Leaving)
            }
            Ownership::Nobody if self.may_adopt() => Action::Adopt { wanted, observed },
            Ownership::Nobody => Action::Refuse(WhyRefuse::NotAdopted),
            Ownership::Mine { version } => match self.misfit(wanted, observed, version.as_ref()) {
                Ok(why) => Action::Keep(why),
                Err(why) => Action::Update {
                    wanted,
                    observed,
                    why,
                },
            },
        }
    }

    fn may_adopt(&self) -> bool {
        self.policy.adopt == Adopt::On || self.policy.tenancy == Tenancy::Exclusive
    }

    /// Why a thing of ours may stay as it is, or else has to change.
    fn misfit<I: Matches<L>, L, V: PartialEq>(
        &self,
        wanted: &Wanted<I, V>,
        observed: &Observed<L, V>,
        version: Option<&V>,
    ) -> Result<WhyKeep, WhyUpdate> {
        let difference = || wanted.item.difference(&observed.live);
        match version {
            None => difference().map_or(Ok(WhyKeep::Current), |by| Err(WhyUpdate::Differs(by))),
            Some(version) if *version != wanted.version => Err(WhyUpdate::Outdated),
            Some(_) => match self.policy.drift {
                Drift::Off => Ok(WhyKeep::DriftUnchecked),
                Drift::Warn => Ok(difference().map_or(WhyKeep::Current, WhyKeep::DriftTolerated)),
                Drift::Enforce => {
                    difference().map_or(Ok(WhyKeep::Current), |by| Err(WhyUpdate::Drifted(by)))
                }
            },
        }
    }

    /// There, and not wanted.
    fn unwanted<'a, I, L, V>(&self, key: &K, observed: &'a Observed<L, V>) -> Action<'a, I, L, V> {
        let why = match (&observed.ownership, self.policy.tenancy) {
            (Ownership::Other { owner }, _) => {
                return Action::Keep(WhyKeep::OfOther(owner.clone()));
            }
            (Ownership::Nobody, Tenancy::Shared) => return Action::Keep(WhyKeep::OfNobody),
            (Ownership::Nobody, Tenancy::Exclusive) => WhyDelete::Stray,
            (Ownership::Mine { .. }, _) => WhyDelete::Unwanted,
        };
        self.spared(key, observed)
            .unwrap_or(Action::Delete { observed, why })
    }

    /// What spares a thing that could be deleted.
    fn spared<'a, I, L, V>(
        &self,
        key: &K,
        observed: &Observed<L, V>,
    ) -> Option<Action<'a, I, L, V>> {
        if observed.leaving {
            return Some(Action::Refuse(WhyRefuse::Leaving));
        }
        if let Some(gaps) = &self.gaps {
            return Some(Action::Refuse(WhyRefuse::PartialView(gaps.clone())));
        }
        if self.empty_by_accident {
            return Some(Action::Refuse(WhyRefuse::EmptyDesired));
        }
        if self.policy.protected.contains(key) {
            return Some(Action::Refuse(WhyRefuse::Protected));
        }
        match (self.policy.prune, &observed.guard) {
            (_, Guard::Protected) => Some(Action::Refuse(WhyRefuse::Protected)),
            (Prune::Release, _) | (Prune::Delete, Guard::KeepOnDelete) => {
                Some(Action::Keep(WhyKeep::Released))
            }
            (Prune::Off, _) => Some(Action::Keep(WhyKeep::PruneOff)),
            (Prune::Delete, Guard::Confirm { .. } | Guard::Open) => None,
        }
    }

    /// A further claimant of a key: never deleted beside the one that is wanted, since nobody can
    /// tell which of them holds what people care for; deleted like any other when neither is.
    fn extra<'a, I, L, V>(
        &self,
        row: &Row<'a, K, I, L, V>,
        extra: &'a Observed<L, V>,
    ) -> Action<'a, I, L, V> {
        match row.wanted {
            Some(_) if extra.ownership.is_mine() => Action::Refuse(WhyRefuse::Duplicate),
            _ => self.unwanted(row.key, extra),
        }
    }

    /// Whether the record may forget a key that it alone knows.
    fn is_gone<V>(&self, recorded: &Recorded<V>) -> bool {
        let settling = matches!(recorded, Recorded::Settling { until } if self.now < *until);
        self.gaps.is_none() && !settling
    }
}

/// A plan in the making, in the order of the keys.
struct Draft<'a, K, I, L, V> {
    steps: Vec<Step<'a, K, I, L, V>>,
    record: Option<RecordPlan<'a, K>>,
    /// How many things are ours to delete, the measure of the brake.
    ours: usize,
}

impl<'a, K: Key, I: Matches<L>, L, V: PartialEq> Draft<'a, K, I, L, V> {
    fn new(keeps_record: bool) -> Self {
        Self {
            steps: Vec::new(),
            record: keeps_record.then(RecordPlan::default),
            ours: 0,
        }
    }

    fn add(&mut self, judge: &Judge<'_, K>, row: &Row<'a, K, I, L, V>) {
        let action = judge.decide(row);
        self.note_record(judge, row, action.as_ref());
        if let Some(action) = action {
            let rank = row.wanted.map(|wanted| wanted.rank);
            let rank = rank
                .or(row.observed.map(|seen| seen.rank))
                .unwrap_or_default();
            self.push(row, rank, row.observed, action);
        }
        for extra in row.extra {
            self.push(row, extra.rank, Some(extra), judge.extra(row, extra));
        }
    }

    fn push(
        &mut self,
        row: &Row<'a, K, I, L, V>,
        rank: Rank,
        observed: Option<&Observed<L, V>>,
        action: Action<'a, I, L, V>,
    ) {
        let ours = observed.is_some_and(|seen| seen.ownership.is_mine()) || action.is_delete();
        self.ours += usize::from(ours);
        self.steps.push(Step {
            key: row.key,
            rank,
            action,
        });
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
            (Some(Action::Keep(WhyKeep::Released)), Some(_)) => record.forget.push(row.key),
            (Some(Action::Keep(WhyKeep::Released)), None) => {}
            (Some(Action::Keep(WhyKeep::OfOther(_) | WhyKeep::OfNobody)), Some(_)) => {
                record.forget.push(row.key);
            }
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
            Guard::Open | Guard::KeepOnDelete | Guard::Protected => None,
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

    fn into_plan(self) -> Plan<'a, K, I, L, V> {
        Plan {
            steps: in_order(self.steps),
            record: self.record,
        }
    }
}

/// Puts steps that are in the order of the keys into the order of work.
fn in_order<K, I, L, V>(steps: Vec<Step<'_, K, I, L, V>>) -> Vec<Step<'_, K, I, L, V>> {
    let mut apply: BTreeMap<Rank, Vec<_>> = BTreeMap::new();
    let mut prune: BTreeMap<Rank, Vec<_>> = BTreeMap::new();
    let all = steps.len();
    for step in steps {
        match step.stage() {
            Stage::Apply(rank) => apply.entry(rank).or_default().push(step),
            Stage::Prune(rank) => prune.entry(rank).or_default().push(step),
        }
    }
    let mut ordered = Vec::with_capacity(all);
    ordered.extend(apply.into_values().flatten());
    ordered.extend(
        prune
            .into_values()
            .rev()
            .flat_map(|steps| steps.into_iter().rev()),
    );
    ordered
}
