//! A set as the engine sees it: what exists, and how to change it.
//!
//! ```text
//! observe (no requests: the view)  enter: dry-runs, waits  create, update: sealed apply  delete
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use evenkeel_reconcile::world::{ObservedOf, SnapshotOf, StepOf, WantedOf, World};
use evenkeel_reconcile::{Deletion, Recorded, Snapshot, Stage};
use jiff::Timestamp;
use serde_json::Value;

use crate::cluster::Shared;
use crate::drift::{DriftRecord, Fight, Fights};
use crate::error::Error;
use crate::inventory::{Inventory, Storage};
use crate::item::{DesiredSet, Item, Sighting};
use crate::key::ObjectKey;
use crate::marks::Marks;
use crate::owner::Whose;
use crate::set::SetPolicy;
use crate::validate::Verdict;

/// One set during one attempt to converge it.
pub(crate) struct SetWorld<'s> {
    pub(crate) cluster: &'s Shared,
    pub(crate) whose: &'s Whose,
    pub(crate) desired: &'s DesiredSet,
    pub(crate) policy: &'s SetPolicy,
    storage: Option<Storage<'s>>,
    gaps: &'s [(String, String)],
    pub(crate) inventory: tokio::sync::Mutex<Kept>,
    pub(crate) attempt: Mutex<AttemptState>,
}

/// The inventory, and whether it is what the cluster holds.
pub(crate) struct Kept {
    pub(crate) inventory: Inventory,
    outdated: bool,
}

/// What this attempt learned and did.
#[derive(Default)]
pub(crate) struct AttemptState {
    /// What the server would say to each write.
    pub(crate) verdicts: BTreeMap<ObjectKey, Verdict>,
    /// Objects that exist without our label.
    pub(crate) strangers: BTreeSet<ObjectKey>,
    pub(crate) looked: usize,
    /// Namespaces that certainly did not exist before.
    pub(crate) made: Vec<(ObjectKey, String)>,
    pub(crate) drift: BTreeMap<ObjectKey, DriftRecord>,
    pub(crate) contended: Vec<Fight>,
    pub(crate) fights: Fights,
}

impl<'s> SetWorld<'s> {
    #[expect(clippy::too_many_arguments, reason = "called once, by the set")]
    pub(crate) fn new(
        cluster: &'s Shared,
        whose: &'s Whose,
        desired: &'s DesiredSet,
        policy: &'s SetPolicy,
        storage: Option<Storage<'s>>,
        inventory: Inventory,
        fights: Fights,
        gaps: &'s [(String, String)],
    ) -> Self {
        let outdated = false;
        Self {
            cluster,
            whose,
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

    /// A wanted object as it is applied.
    pub(crate) fn object(&self, key: &ObjectKey, item: &Item) -> Value {
        item.object(key, &Marks::new(self.cluster, self.whose, self.policy))
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
        let Some(storage) = &self.storage else {
            return Ok(());
        };
        let written = kept.inventory.write(storage).await;
        kept.outdated = written.is_err();
        written
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
        let (mark, wanted) = (self.whose.mark().as_str(), self.wanted());
        let seen = shelves.iter().flat_map(|shelf| {
            let wanted = wanted.get(&shelf.resource.kind);
            shelf.select(mark, wanted.map_or(&[], Vec::as_slice))
        });
        let seen: Vec<_> = seen.collect();
        let mut known: BTreeSet<ObjectKey> = BTreeSet::new();
        for (key, live) in seen.into_iter().chain(strangers) {
            if known.insert(key.clone()) {
                let observed = self.observed(&kept.inventory, &key, live).await;
                snapshot.saw(key, observed);
            }
        }
        let gone = self.gone(&shelves);
        let record: BTreeSet<_> = kept.inventory.keys().chain(gone.keys()).cloned().collect();
        let record = record.into_iter().map(|key| {
            let recorded = match known.contains(&key) {
                true => Recorded::Intended,
                false => self.recorded(gone.get(&key), &key),
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
        self.await_establishment(key).await?;
        // Nobody but us has touched it: it is certain that it did not exist.
        if key.kind.is_namespace() && is_new && written.only_ours {
            let made = (key.clone(), written.uid.into());
            self.attempt().made.push(made);
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
        self.await_establishment(key).await?;
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

    async fn release(&self, key: &ObjectKey, seen: &ObservedOf<Self>) -> Result<bool, Error> {
        self.unmark(key, &seen.live.live).await
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
