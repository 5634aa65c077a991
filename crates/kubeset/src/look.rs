//! What exists of a set, and what stands between it and its deletion, read from the view.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use evenkeel_reconcile::world::{ObservedOf, SnapshotOf};
use evenkeel_reconcile::{Guard, Observed, Ownership, Recorded};
use futures::future::join_all;

use crate::drift::{Drift, DriftRecord, Fight};
use crate::error::Error;
use crate::inventory::Inventory;
use crate::item::Sighting;
use crate::key::{GroupKind, ObjectKey};
use crate::live::Live;
use crate::owner::Claim;
use crate::rank::rank;
use crate::shelf::Shelf;
use crate::sweep::{foreign, foreign_in_namespace};
use crate::world::SetWorld;

impl SetWorld<'_> {
    /// The objects of every kind that we have or want.
    pub(crate) async fn shelves(
        &self,
        inventory: &Inventory,
        snapshot: &mut SnapshotOf<Self>,
    ) -> Result<Vec<Arc<Shelf>>, Error> {
        let wanted = self.desired.iter().map(|(key, _)| &key.kind);
        let mut kinds: BTreeSet<&GroupKind> = inventory.kinds().chain(wanted).collect();
        if self.whose.parent().is_some() {
            kinds.extend(&self.cluster.settings.child_kinds);
        }
        let shelves = join_all(
            kinds
                .into_iter()
                .map(|kind| async move { (kind, self.shelf(kind).await) }),
        )
        .await;
        let mut seen = Vec::new();
        for (kind, shelf) in shelves {
            match shelf {
                Ok(shelf) => seen.extend(shelf),
                Err(why) => snapshot.missed(format!("list of {kind}"), why),
            }
        }
        Ok(seen)
    }

    async fn shelf(&self, kind: &GroupKind) -> Result<Vec<Arc<Shelf>>, String> {
        let known = self.cluster.kinds().await;
        let known = known.map_err(|error| error.to_string())?;
        match known.find(kind, None) {
            None if self.is_defined_here(kind) => Ok(Vec::new()),
            Some(_) | None if self.policy.anew => self.cluster.shelf_anew(kind).await,
            Some(_) | None => self.cluster.shelf(kind).await,
        }
    }

    /// Forgets what others removed and nobody wants any more.
    pub(crate) fn tidy(&self) {
        let (mark, wanted) = (self.whose.mark().as_str(), self.wanted());
        self.cluster.view.tidy(mark, &wanted);
    }

    /// What is wanted, by kind.
    pub(crate) fn wanted(&self) -> BTreeMap<&GroupKind, Vec<&ObjectKey>> {
        let mut wanted: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (key, _) in self.desired.iter() {
            wanted.entry(&key.kind).or_default().push(key);
        }
        wanted
    }

    /// Whether the kind waits for a definition of this set, so that asking for it is idle.
    pub(crate) fn is_defined_here(&self, kind: &GroupKind) -> bool {
        self.desired
            .iter()
            .any(|(key, wanted)| key.kind == *kind && wanted.item.defined_by.is_some())
    }

    /// Objects that exist without our label, as they are now.
    pub(crate) async fn strangers(&self) -> Result<Vec<(ObjectKey, Live)>, Error> {
        let keys: Vec<_> = self.attempt().strangers.iter().cloned().collect();
        let mut found = Vec::new();
        for key in &keys {
            let Some(wanted) = self.desired.get(key) else {
                continue;
            };
            if let Some(seen) = self.cluster.calls.look(&wanted.item.resource, key).await? {
                found.push((key.clone(), self.cluster.view.read(seen)));
            }
        }
        self.attempt().looked = keys.len();
        Ok(found)
    }

    pub(crate) async fn observed(
        &self,
        inventory: &Inventory,
        key: &ObjectKey,
        live: Live,
    ) -> ObservedOf<Self> {
        let (ownership, moved_from) = self.ownership(key, &live);
        let guard = match ownership {
            Ownership::Mine { .. } if self.desired.get(key).is_none() => {
                self.guard(inventory, key, &live).await
            }
            _ => Guard::Open,
        };
        let leaving = live.leaving;
        let (sighting, fight) = self.sighting(key, live, moved_from);
        let observed = Observed::new(sighting, ownership)
            .ranked(rank(&key.kind))
            .guarded(guard)
            .contended(fight.as_ref().map(Fight::contention));
        if leaving {
            observed.leaving()
        } else {
            observed
        }
    }

    fn ownership(&self, key: &ObjectKey, live: &Live) -> (Ownership<u64>, Option<String>) {
        let other = match self.whose.claim(live) {
            Claim::Ours => {
                let version = self.version(key, live);
                return (Ownership::Mine { version }, None);
            }
            Claim::Nobodys => return (Ownership::Nobody, None),
            Claim::Of(other) => other,
        };
        let mut givers = self.policy.take_from.iter();
        if givers.any(|from| from.as_str() == other) {
            return (Ownership::Mine { version: None }, Some(other));
        }
        let owner = format!("{other}, not to {}", self.whose);
        (Ownership::Other { owner }, None)
    }

    /// What was applied to an object of ours; of one that is made once, whatever is wanted.
    fn version(&self, key: &ObjectKey, live: &Live) -> Option<u64> {
        let wanted = self.desired.get(key);
        let once = wanted.filter(|wanted| wanted.item.once);
        once.map(|wanted| wanted.version)
            .or_else(|| live.seal.map(|seal| seal.content))
    }

    /// What stands between an object that is no longer wanted and its deletion.
    pub(crate) async fn guard(&self, inventory: &Inventory, key: &ObjectKey, live: &Live) -> Guard {
        let moves = || self.cluster.is_leaving_for_another(self.whose.mark(), key);
        if self.whose.is_shared(live) || moves() {
            return Guard::LeaveAlone;
        }
        if live.kept {
            return Guard::KeepOnDelete;
        }
        let anew = inventory.uid(key).is_some_and(|made| *made != *live.uid);
        if anew && self.whose.parent().is_none() {
            let why = "somebody else made it anew under the same name".to_owned();
            return Guard::Confirm { why };
        }
        let foreign = match key {
            key if key.kind.is_namespace() => {
                foreign_in_namespace(self.cluster, self.whose.mark(), &key.name).await
            }
            key if key.kind.is_definition() => self.foreign_of_definition(key).await,
            _ => return Guard::Open,
        };
        match foreign {
            Ok(0) => Guard::Open,
            Ok(count) => Guard::Confirm {
                why: format!("it holds {count} objects of others"),
            },
            Err(error) => Guard::Confirm {
                why: format!("whether it holds objects of others is unknown: {error}"),
            },
        }
    }

    pub(crate) async fn foreign_of_definition(
        &self,
        definition: &ObjectKey,
    ) -> Result<usize, Error> {
        let kinds = self.cluster.kinds().await?;
        // A definition is called after what it defines: plural.group.
        let (plural, group) = definition
            .name
            .split_once('.')
            .unwrap_or((&definition.name, ""));
        let defined = kinds
            .manageable()
            .find(|resource| resource.plural == plural && resource.kind.group == group);
        match defined {
            Some(resource) => foreign(self.cluster, self.whose.mark(), resource, None).await,
            None => Ok(0),
        }
    }

    pub(crate) fn sighting(
        &self,
        key: &ObjectKey,
        live: Live,
        moved_from: Option<String>,
    ) -> (Sighting, Option<Fight>) {
        let drift = match self.desired.get(key) {
            Some(wanted) if !wanted.item.once => Drift::of(
                || self.object(key, &wanted.item),
                &live,
                &self.cluster.calls.manager,
                &self.policy.ignore,
            ),
            Some(_) | None => Drift::default(),
        };
        let ours = self.whose.claim(&live) == Claim::Ours;
        let mut fight = None;
        // A change that comes with a new version of the set is no drift.
        let current = self
            .desired
            .get(key)
            .is_some_and(|wanted| live.seal.is_some_and(|seal| seal.content == wanted.version));
        if ours && current && drift.counts() {
            let now = self.now();
            let mut attempt = self.attempt();
            let record = DriftRecord {
                key: key.clone(),
                seen_at: now,
                fields: drift.fields.clone(),
            };
            attempt.drift.entry(key.clone()).or_insert(record);
            fight = attempt.fights.over(key, &drift.fields, now);
            attempt.contended.extend(fight.clone());
        }
        let sighting = Sighting {
            live,
            drift,
            moved_from,
        };
        (sighting, fight)
    }

    /// What somebody else removed, and what had been applied to it.
    pub(crate) fn gone(&self, shelves: &[Arc<Shelf>]) -> BTreeMap<ObjectKey, u64> {
        let mark = self.whose.mark().as_str();
        let gone = shelves.iter().flat_map(|shelf| shelf.gone(mark));
        gone.filter(|(key, _)| self.desired.get(key).is_some())
            .collect()
    }

    pub(crate) fn recorded(&self, gone: Option<&u64>, key: &ObjectKey) -> Recorded<u64> {
        let Some(version) = gone.copied() else {
            return Recorded::Intended;
        };
        let wanted = self.desired.get(key);
        if wanted.is_some_and(|wanted| wanted.version == version) {
            let record = DriftRecord {
                key: key.clone(),
                seen_at: self.now(),
                fields: Vec::new(),
            };
            self.attempt().drift.entry(key.clone()).or_insert(record);
        }
        Recorded::Made { version }
    }
}
