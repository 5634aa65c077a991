//! What exists of a set, and what stands between it and its deletion, read from the view.

use std::collections::BTreeSet;
use std::sync::Arc;

use evenkeel_reconcile::world::{ObservedOf, SnapshotOf};
use evenkeel_reconcile::{Guard, Observed, Ownership, Recorded};
use futures::future::join_all;

use crate::drift::{Drift, DriftRecord};
use crate::error::Error;
use crate::inventory::Inventory;
use crate::item::Sighting;
use crate::key::{GroupKind, ObjectKey};
use crate::live::Live;
use crate::rank::rank;
use crate::sweep::{foreign, foreign_in_namespace};
use crate::view::Shelf;
use crate::world::SetWorld;

impl SetWorld<'_> {
    /// The objects of every kind that we have or want.
    pub(crate) async fn shelves(
        &self,
        inventory: &Inventory,
        snapshot: &mut SnapshotOf<Self>,
    ) -> Result<Vec<Arc<Shelf>>, Error> {
        let wanted = self.desired.iter().map(|(key, _)| &key.kind);
        let kinds: BTreeSet<&GroupKind> = inventory.kinds().chain(wanted).collect();
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

    /// The objects of a kind; `None` when nobody serves it, so that none can exist.
    pub(crate) async fn shelf(&self, kind: &GroupKind) -> Result<Option<Arc<Shelf>>, String> {
        let known = self
            .cluster
            .kinds()
            .await
            .map_err(|error| error.to_string())?;
        let found = match known.find(kind, None) {
            Some(resource) => Some(resource.clone()),
            None if self.is_defined_here(kind) => None,
            None => self
                .cluster
                .find(kind, None)
                .await
                .map_err(|error| error.to_string())?,
        };
        match found {
            Some(resource) => self
                .cluster
                .view
                .of(&resource, self.cluster.settings.patience)
                .await
                .map(Some),
            None => Ok(None),
        }
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
        let (ownership, moved_from) = self.ownership(&live);
        let guard = match ownership {
            Ownership::Mine { .. } if self.desired.get(key).is_none() => {
                self.guard(inventory, key, &live).await
            }
            _ => Guard::Open,
        };
        let (leaving, sighting) = (live.leaving, self.sighting(key, live, moved_from));
        let observed = Observed::new(sighting, ownership)
            .ranked(rank(&key.kind))
            .guarded(guard);
        if leaving {
            observed.leaving()
        } else {
            observed
        }
    }

    pub(crate) fn ownership(&self, live: &Live) -> (Ownership<u64>, Option<String>) {
        let Some(owner) = live.owner.as_deref() else {
            return (Ownership::Nobody, None);
        };
        if owner == self.owner.as_str() {
            let version = live.seal.map(|seal| seal.content);
            return (Ownership::Mine { version }, None);
        }
        let from = self
            .policy
            .take_from
            .iter()
            .any(|from| from.as_str() == owner);
        match from {
            true => (Ownership::Mine { version: None }, Some(owner.to_owned())),
            false => (
                Ownership::Other {
                    owner: owner.to_owned(),
                },
                None,
            ),
        }
    }

    /// What stands between an object that is no longer wanted and its deletion.
    pub(crate) async fn guard(&self, inventory: &Inventory, key: &ObjectKey, live: &Live) -> Guard {
        if live.kept || live.controlled || self.cluster.is_leaving_for_another(self.owner, key) {
            return Guard::KeepOnDelete;
        }
        if inventory.uid(key).is_some_and(|made| made != live.uid) {
            let why = "somebody else made it anew under the same name".to_owned();
            return Guard::Confirm { why };
        }
        let foreign = match key {
            key if key.kind.is_namespace() => {
                foreign_in_namespace(self.cluster, self.owner, &key.name).await
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
            Some(resource) => foreign(self.cluster, self.owner, resource, None).await,
            None => Ok(0),
        }
    }

    pub(crate) fn sighting(
        &self,
        key: &ObjectKey,
        live: Live,
        moved_from: Option<String>,
    ) -> Sighting {
        let drift = match self.desired.get(key) {
            Some(wanted) => Drift::of(
                &wanted.item.object,
                &live,
                &self.cluster.calls.manager,
                &self.policy.ignore,
            ),
            None => Drift::default(),
        };
        let ours = live.owner.as_deref() == Some(self.owner.as_str());
        let mut contended = false;
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
            if let Some(fight) = attempt.fights.over(key, &drift.fields, now) {
                contended = true;
                attempt.contended.push(fight);
            }
        }
        Sighting {
            live,
            drift,
            moved_from,
            contended,
        }
    }

    pub(crate) fn recorded(&self, shelves: &[Arc<Shelf>], key: &ObjectKey) -> Recorded<u64> {
        let gone = shelves.iter().find_map(|shelf| shelf.gone_of(key));
        let Some(version) = gone else {
            return Recorded::Intended;
        };
        if self
            .desired
            .get(key)
            .is_some_and(|wanted| wanted.version == version)
        {
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
