//! The decision about one key, which depends on nothing but that key and the policy.

use std::sync::Arc;

use jiff::Timestamp;

use crate::desired::{Desired, Key, Matches, Wanted};
use crate::join::Row;
use crate::ownership::Ownership;
use crate::plan::Action;
use crate::policy::{Adopt, Drift, Naming, Policy, Prune, Tenancy};
use crate::reason::{WhyCreate, WhyDelete, WhyKeep, WhyRefuse, WhyUpdate};
use crate::snapshot::{Guard, Observed, Recorded, Snapshot};

/// Decides about one key at a time.
pub(crate) struct Judge<'p, K> {
    policy: &'p Policy<K>,
    now: Timestamp,
    gaps: Option<Arc<str>>,
    empty_by_accident: bool,
}

impl<'p, K: Key> Judge<'p, K> {
    pub(crate) fn new<I, L, V>(
        desired: &Desired<K, I, V>,
        snapshot: &Snapshot<K, L, V>,
        policy: &'p Policy<K>,
        now: Timestamp,
    ) -> Self {
        let gaps = snapshot.gaps().map(|gaps| gaps.to_string().into());
        Self {
            policy,
            now,
            gaps,
            empty_by_accident: desired.is_empty_by_accident(),
        }
    }

    /// What to do about a key; `None` when only the record knows it.
    pub(crate) fn decide<'a, I: Matches<L>, L, V: PartialEq>(
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
                Err(why) => self.change(wanted, observed, why),
            },
        }
    }

    /// Has to change, unless it would only be changed back.
    fn change<'a, I, L, V>(
        &self,
        wanted: &'a Wanted<I, V>,
        observed: &'a Observed<L, V>,
        why: WhyUpdate,
    ) -> Action<'a, I, L, V> {
        match (&why, &observed.contention) {
            (WhyUpdate::Drifted(_), Some(fight)) if self.now < fight.until => {
                Action::Refuse(WhyRefuse::Contended(fight.clone()))
            }
            _ => Action::Update {
                wanted,
                observed,
                why,
            },
        }
    }

    /// Whether a thing is ours: by its mark, or because the world is ours alone.
    pub(crate) fn is_ours<L, V>(&self, thing: &Observed<L, V>) -> bool {
        match thing.ownership {
            Ownership::Mine { .. } => true,
            Ownership::Nobody => self.policy.tenancy == Tenancy::Exclusive,
            Ownership::Other { .. } => false,
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
        observed: &'a Observed<L, V>,
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
            (Prune::Release | Prune::Delete, Guard::LeaveAlone) => {
                Some(Action::Keep(WhyKeep::Left))
            }
            (Prune::Release, _) | (Prune::Delete, Guard::KeepOnDelete) => {
                // What is nobody's need not be let go of.
                Some(match observed.ownership.is_mine() {
                    true => Action::Release { observed },
                    false => Action::Keep(WhyKeep::Left),
                })
            }
            (Prune::Off, _) => Some(Action::Keep(WhyKeep::PruneOff)),
            (Prune::Delete, Guard::Confirm { .. } | Guard::Open) => None,
        }
    }

    /// A further claimant of a key: never deleted beside the one that is wanted, since nobody can
    /// tell which of them holds what people care for; deleted like any other when neither is.
    pub(crate) fn extra<'a, I, L, V>(
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
    pub(crate) fn is_gone<V>(&self, recorded: &Recorded<V>) -> bool {
        let settling = matches!(recorded, Recorded::Settling { until } if self.now < *until);
        self.gaps.is_none() && !settling
    }
}
