//! How an object of a set is written and deleted: sealed, and only if it is the one that was seen.

use std::time::Duration;

use evenkeel_reconcile::Deletion;
use evenkeel_reconcile::world::WantedOf;
use kube::api::Preconditions;
use tokio::time::{Instant, sleep};

use crate::drift::without;
use crate::error::Error;
use crate::item::Sighting;
use crate::key::ObjectKey;
use crate::leftovers::inherited;
use crate::live::Live;
use crate::marks::{Seal, unmarked};
use crate::owner::Claim;
use crate::resource::Resource;
use crate::sweep::foreign_in_namespace;
use crate::validate::Verdict;
use crate::world::SetWorld;

/// What the server made of a write.
pub(crate) struct Written {
    pub(crate) uid: Box<str>,
    /// Nobody but us has touched it.
    pub(crate) only_ours: bool,
}

impl SetWorld<'_> {
    /// Applies a wanted object with its seal. `seen` is the one to change; without it, one is made.
    pub(crate) async fn write(
        &self,
        key: &ObjectKey,
        wanted: &WantedOf<Self>,
        seen: Option<&Sighting>,
    ) -> Result<Written, Error> {
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
            (_, seen) => seen.map(|seen| seen.live.uid.to_string()),
        };
        let mut body = without(
            self.object(key, &wanted.item),
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
        if seen.is_some_and(|seen| seen.live.leftovers) {
            self.take_over(key, &wanted.item.resource).await?;
        }
        let is_new = matches!(verdict, Verdict::New { .. });
        let calls = &self.cluster.calls;
        let applied = calls.apply(&wanted.item.resource, key, &body, is_new);
        let written = applied.await?;
        let only_ours = written.metadata.managed().len() == 1;
        let live = self.cluster.view.wrote(key, written);
        self.inventory.lock().await.inventory.made(key, &live.uid);
        Ok(Written {
            uid: live.uid,
            only_ours,
        })
    }

    /// Makes ours what client-side tools left: fields that they still own would stay for ever when
    /// they leave the manifest.
    async fn take_over(&self, key: &ObjectKey, resource: &Resource) -> Result<(), Error> {
        let calls = &self.cluster.calls;
        let Some(seen) = calls.look(resource, key).await? else {
            return Ok(());
        };
        let metadata = seen.metadata;
        let entries = metadata.managed_fields.unwrap_or_default();
        if let Some(entries) = inherited(entries, &calls.manager) {
            let revision = metadata.resource_version.unwrap_or_default();
            let taken = calls.set_managers(resource, key, &entries, &revision);
            taken.await?;
        }
        Ok(())
    }

    /// An object that we made and cannot see has lost its label; any other is a stranger.
    pub(crate) async fn same_as_recorded(
        &self,
        key: &ObjectKey,
        uid: &str,
    ) -> Result<String, Error> {
        let kept = self.inventory.lock().await;
        if kept.inventory.uid(key) == Some(uid) {
            return Ok(uid.to_owned());
        }
        drop(kept);
        self.attempt().strangers.insert(key.clone());
        Err(Error::Exists { key: key.clone() })
    }

    /// Deletes what is to be replaced and waits until it is gone.
    pub(crate) async fn clear(
        &self,
        key: &ObjectKey,
        resource: &Resource,
        seen: Option<&Sighting>,
    ) -> Result<(), Error> {
        let Some(seen) = seen else { return Ok(()) };
        let is = Preconditions {
            uid: Some(seen.live.uid.to_string()),
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
    pub(crate) async fn delete_once(
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
            () if self.whose.claim(&now) != Claim::Ours => "it has another owner",
            () if now.kept || self.whose.is_shared(&now) => "it is to be kept",
            () => "",
        };
        if !why.is_empty() {
            return Err(Error::Changed {
                key: key.clone(),
                why: why.to_owned(),
            });
        }
        let is = Preconditions {
            uid: Some(now.uid.into()),
            resource_version: Some(now.revision.into()),
        };
        self.cluster.calls.delete(resource, key, is).await
    }

    /// Takes our marks off an object that stays, if it is, at this moment, still the one that was
    /// seen and still ours.
    pub(crate) async fn unmark(&self, key: &ObjectKey, seen: &Live) -> Result<bool, Error> {
        let Some(resource) = self.cluster.find(&key.kind, None).await? else {
            return Ok(false);
        };
        let Some(now) = self.cluster.calls.look(&resource, key).await? else {
            return Ok(false);
        };
        let now = self.cluster.view.read(now);
        if now.uid != seen.uid || self.whose.claim(&now) != Claim::Ours {
            let why = "it is not the one that was seen, or has another owner".to_owned();
            let key = key.clone();
            return Err(Error::Changed { key, why });
        }
        let without = unmarked(&self.cluster.settings.owner_key, &now.uid, &now.revision);
        self.cluster.calls.strip(&resource, key, &without).await?;
        self.cluster.view.removed(key);
        Ok(true)
    }

    /// Removes the namespaces that this attempt made, unless somebody uses them already.
    pub(crate) async fn undo_namespaces(&self) -> Vec<String> {
        let made = std::mem::take(&mut self.attempt().made);
        let mut undone = Vec::new();
        for (key, uid) in made {
            let unused = foreign_in_namespace(self.cluster, self.whose.mark(), &key.name).await;
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
