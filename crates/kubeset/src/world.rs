//! A set as the engine sees it: what exists, and how to change it.
//!
//! ```text
//! observe (no requests: the view)  enter: dry-runs, waits  create, update: sealed apply  delete
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evenkeel_reconcile::world::{ObservedOf, SnapshotOf, StepOf, WantedOf, World};
use evenkeel_reconcile::{Deletion, Guard, Observed, Ownership, Recorded, Snapshot, Stage};
use futures::future::join_all;
use jiff::Timestamp;
use kube::api::Preconditions;
use tokio::time::{Duration, Instant, sleep};

use crate::calls::Seen;
use crate::cluster::Shared;
use crate::drift::{Drift, DriftRecord, Fight, Fights, without};
use crate::error::Error;
use crate::inventory::{Inventory, Storage};
use crate::item::{DesiredSet, Item, Sighting};
use crate::key::{GroupKind, ObjectKey};
use crate::live::Live;
use crate::marks::{Owner, Seal};
use crate::rank::rank;
use crate::resource::Resource;
use crate::set::SetPolicy;
use crate::sweep::{foreign, foreign_in_namespace};
use crate::validate::Verdict;
use crate::view::Shelf;

/// One set during one attempt to converge it.
pub(crate) struct SetWorld<'s> {
    pub(crate) cluster: &'s Shared,
    pub(crate) owner: &'s Owner,
    pub(crate) desired: &'s DesiredSet,
    pub(crate) policy: &'s SetPolicy,
    storage: Storage<'s>,
    gaps: &'s [(String, String)],
    inventory: tokio::sync::Mutex<Kept>,
    pub(crate) attempt: Mutex<AttemptState>,
}

/// The inventory, and whether it is what the cluster holds.
struct Kept {
    inventory: Inventory,
    outdated: bool,
}

/// What this attempt learned and did.
#[derive(Default)]
pub(crate) struct AttemptState {
    /// What the server would say to each write.
    pub(crate) verdicts: BTreeMap<ObjectKey, Verdict>,
    /// Objects that exist without our label.
    strangers: BTreeSet<ObjectKey>,
    looked: usize,
    /// Namespaces that certainly did not exist before.
    made: Vec<(ObjectKey, String)>,
    drift: BTreeMap<ObjectKey, DriftRecord>,
    contended: Vec<Fight>,
    fights: Fights,
}

impl<'s> SetWorld<'s> {
    #[expect(clippy::too_many_arguments, reason = "called once, by the set")]
    pub(crate) fn new(
        cluster: &'s Shared,
        owner: &'s Owner,
        desired: &'s DesiredSet,
        policy: &'s SetPolicy,
        storage: Storage<'s>,
        inventory: Inventory,
        fights: Fights,
        gaps: &'s [(String, String)],
    ) -> Self {
        let outdated = false;
        Self {
            cluster,
            owner,
            desired,
            policy,
            storage,
            gaps,
            inventory: tokio::sync::Mutex::new(Kept {
                inventory,
                outdated,
            }),
            attempt: Mutex::new(AttemptState {
                fights,
                ..AttemptState::default()
            }),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.cluster.clock.now()
    }

    pub(crate) fn parallel(&self) -> NonZeroUsize {
        self.cluster.settings.parallel
    }

    pub(crate) fn attempt(&self) -> MutexGuard<'_, AttemptState> {
        self.attempt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether objects turned up that the last look did not show.
    pub(crate) fn met_strangers(&self) -> bool {
        let attempt = self.attempt();
        attempt.strangers.len() > attempt.looked
    }

    pub(crate) fn reports(&self) -> (Vec<DriftRecord>, Vec<Fight>) {
        let mut attempt = self.attempt();
        let drift = std::mem::take(&mut attempt.drift);
        (
            drift.into_values().collect(),
            std::mem::take(&mut attempt.contended),
        )
    }

    /// What the set remembers; no inventory when it could not be written.
    pub(crate) fn into_memory(self) -> (Option<Inventory>, Fights) {
        let kept = self.inventory.into_inner();
        let attempt = self
            .attempt
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        ((!kept.outdated).then_some(kept.inventory), attempt.fights)
    }

    /// Writes down what was made.
    pub(crate) async fn finish(&self) -> Result<(), Error> {
        self.record(|_| ()).await
    }

    async fn record(&self, change: impl FnOnce(&mut Inventory)) -> Result<(), Error> {
        let mut kept = self.inventory.lock().await;
        if kept.outdated {
            return Ok(());
        }
        change(&mut kept.inventory);
        let written = kept.inventory.write(&self.storage).await;
        kept.outdated = written.is_err();
        written
    }

    /// Removes the namespaces that this attempt made, unless somebody uses them already.
    pub(crate) async fn undo_namespaces(&self) -> Vec<String> {
        let made = std::mem::take(&mut self.attempt().made);
        let mut undone = Vec::new();
        for (key, uid) in made {
            let unused = foreign_in_namespace(self.cluster, self.owner, &key.name).await;
            if !matches!(unused, Ok(0)) {
                continue;
            }
            let Ok(Some(resource)) = self.cluster.find(&key.kind, None).await else {
                continue;
            };
            let is = Preconditions {
                uid: Some(uid),
                resource_version: None,
            };
            if self.cluster.calls.delete(&resource, &key, is).await.is_ok() {
                undone.push(key.name);
            }
        }
        undone
    }
}

impl SetWorld<'_> {
    /// The objects of every kind that we have or want.
    async fn shelves(
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
    async fn shelf(&self, kind: &GroupKind) -> Result<Option<Arc<Shelf>>, String> {
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
    fn is_defined_here(&self, kind: &GroupKind) -> bool {
        self.desired
            .iter()
            .any(|(key, wanted)| key.kind == *kind && wanted.item.defined_by.is_some())
    }

    /// Objects that exist without our label, as they are now.
    async fn strangers(&self) -> Result<Vec<(ObjectKey, Live)>, Error> {
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

    async fn observed(
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

    fn ownership(&self, live: &Live) -> (Ownership<u64>, Option<String>) {
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
    async fn guard(&self, inventory: &Inventory, key: &ObjectKey, live: &Live) -> Guard {
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

    async fn foreign_of_definition(&self, definition: &ObjectKey) -> Result<usize, Error> {
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

    fn sighting(&self, key: &ObjectKey, live: Live, moved_from: Option<String>) -> Sighting {
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

    fn recorded(&self, shelves: &[Arc<Shelf>], key: &ObjectKey) -> Recorded<u64> {
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

    /// Applies a wanted object with its seal. `seen` is the one to change; without it, one is made.
    async fn write(
        &self,
        key: &ObjectKey,
        wanted: &WantedOf<Self>,
        seen: Option<&Sighting>,
    ) -> Result<Seen, Error> {
        let verdict = self.attempt().verdicts.remove(key);
        let verdict = match verdict {
            Some(verdict) => verdict,
            None => self.judge(key, &wanted.item, seen).await?,
        };
        let (verdict, seen) = match verdict {
            Verdict::Replace => {
                self.clear(key, &wanted.item.resource, seen).await?;
                (self.judge(key, &wanted.item, None).await?, None)
            }
            verdict => (verdict, seen),
        };
        let uid = match (&verdict, seen) {
            (Verdict::Exists { uid, .. }, None) => Some(self.same_as_recorded(key, uid).await?),
            (_, seen) => seen.map(|seen| seen.live.uid.clone()),
        };
        let mut body = without(
            &wanted.item.object,
            seen.map_or(&[], |seen| &seen.drift.ignored),
        );
        Seal {
            content: wanted.version,
            fields: verdict.fields(),
        }
        .put(&mut body);
        if let Some(uid) = uid {
            body["metadata"]["uid"] = uid.into();
        }
        let written = self
            .cluster
            .calls
            .apply(&wanted.item.resource, key, &body)
            .await?;
        let live = self.cluster.view.wrote(key, written.clone());
        self.inventory.lock().await.inventory.made(key, &live.uid);
        Ok(written)
    }

    /// An object that we made and cannot see has lost its label; any other is a stranger.
    async fn same_as_recorded(&self, key: &ObjectKey, uid: &str) -> Result<String, Error> {
        let kept = self.inventory.lock().await;
        if kept.inventory.uid(key) == Some(uid) {
            return Ok(uid.to_owned());
        }
        drop(kept);
        self.attempt().strangers.insert(key.clone());
        Err(Error::Exists { key: key.clone() })
    }

    /// Deletes what is to be replaced and waits until it is gone.
    async fn clear(
        &self,
        key: &ObjectKey,
        resource: &Resource,
        seen: Option<&Sighting>,
    ) -> Result<(), Error> {
        let Some(seen) = seen else { return Ok(()) };
        let is = Preconditions {
            uid: Some(seen.live.uid.clone()),
            resource_version: None,
        };
        self.cluster.calls.delete(resource, key, is).await?;
        let deadline = Instant::now() + self.cluster.settings.patience;
        while self.cluster.calls.look(resource, key).await?.is_some() {
            if Instant::now() > deadline {
                let why = "it is being replaced and still on its way out".to_owned();
                return Err(Error::Changed {
                    key: key.clone(),
                    why,
                });
            }
            sleep(Duration::from_millis(100)).await;
        }
        self.cluster.view.removed(key);
        Ok(())
    }

    /// Deletes an object if it is, at this moment, still the one that was seen and still ours.
    async fn delete_once(
        &self,
        resource: &Resource,
        key: &ObjectKey,
        seen: &Live,
    ) -> Result<Deletion, Error> {
        let Some(now) = self.cluster.calls.look(resource, key).await? else {
            return Ok(Deletion::Gone);
        };
        let now = self.cluster.view.read(now);
        let why = match () {
            () if now.uid != seen.uid => "it was made anew",
            () if now.owner != seen.owner => "it has another owner",
            () if now.kept || now.controlled => "it is to be kept",
            () => "",
        };
        if !why.is_empty() {
            return Err(Error::Changed {
                key: key.clone(),
                why: why.to_owned(),
            });
        }
        let is = Preconditions {
            uid: Some(now.uid),
            resource_version: Some(now.revision),
        };
        self.cluster.calls.delete(resource, key, is).await
    }
}

impl World for SetWorld<'_> {
    type Key = ObjectKey;
    type Item = Item;
    type Live = Sighting;
    type Version = u64;
    type Error = Error;

    async fn observe(&self) -> Result<SnapshotOf<Self>, Error> {
        let strangers = self.strangers().await?;
        let kept = self.inventory.lock().await;
        let mut snapshot = Snapshot::new();
        for (what, why) in self.gaps {
            snapshot.missed(what, why);
        }
        let shelves = self.shelves(&kept.inventory, &mut snapshot).await?;
        let seen = shelves.iter().flat_map(|shelf| {
            shelf.select(self.owner.as_str(), |key| self.desired.get(key).is_some())
        });
        let seen: Vec<_> = seen.collect();
        let mut known: BTreeSet<ObjectKey> = BTreeSet::new();
        for (key, live) in seen.into_iter().chain(strangers) {
            if known.insert(key.clone()) {
                let observed = self.observed(&kept.inventory, &key, live).await;
                snapshot.saw(key, observed);
            }
        }
        let record: Vec<_> = kept.inventory.keys().cloned().collect();
        let record = record.into_iter().map(|key| {
            let recorded = match known.contains(&key) {
                true => Recorded::Intended,
                false => self.recorded(&shelves, &key),
            };
            (key, recorded)
        });
        Ok(snapshot.with_record(record))
    }

    async fn enter(&self, stage: Stage, ahead: &[StepOf<'_, Self>]) -> Result<(), Error> {
        match stage {
            Stage::Apply(_) => self.validate(ahead).await,
            Stage::Prune(_) => Ok(()),
        }
    }

    async fn create(&self, key: &ObjectKey, wanted: &WantedOf<Self>) -> Result<(), Error> {
        let is_new = matches!(self.attempt().verdicts.get(key), Some(Verdict::New { .. }));
        let written = self.write(key, wanted, None).await?;
        // Nobody but us has touched it: it is certain that it did not exist.
        let only_ours = written
            .metadata
            .managed_fields
            .is_some_and(|entries| entries.len() == 1);
        if key.kind.is_namespace() && is_new && only_ours {
            self.attempt()
                .made
                .push((key.clone(), written.metadata.uid.unwrap_or_default()));
        }
        Ok(())
    }

    async fn update(
        &self,
        key: &ObjectKey,
        wanted: &WantedOf<Self>,
        seen: &ObservedOf<Self>,
    ) -> Result<(), Error> {
        self.write(key, wanted, Some(&seen.live)).await?;
        let current = seen
            .live
            .live
            .seal
            .is_some_and(|seal| seal.content == wanted.version);
        if current {
            let now = self.now();
            self.attempt()
                .fights
                .took_back(key, &seen.live.drift.fields, now);
        }
        Ok(())
    }

    async fn delete(&self, key: &ObjectKey, seen: &ObservedOf<Self>) -> Result<Deletion, Error> {
        let Some(resource) = self.cluster.find(&key.kind, None).await? else {
            return Ok(Deletion::Gone);
        };
        let mut tries = 0;
        let deletion = loop {
            tries += 1;
            match self.delete_once(&resource, key, &seen.live.live).await {
                Err(error) if error.code() == Some(409) && tries < 5 => {}
                done => break done?,
            }
        };
        if deletion == Deletion::Gone {
            self.cluster.view.removed(key);
        }
        Ok(deletion)
    }

    async fn remember(&self, keys: &[&ObjectKey]) -> Result<(), Error> {
        self.record(|inventory| keys.iter().for_each(|key| inventory.add(key)))
            .await
    }

    async fn forget(&self, keys: &[&ObjectKey]) -> Result<(), Error> {
        self.record(|inventory| keys.iter().for_each(|key| inventory.remove(key)))
            .await
    }
}
