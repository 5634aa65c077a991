//! One shape in the cloud, as the engine's world.

use evenkeel_ambient::SharedClock;
use evenkeel_reconcile::world::{ObservedOf, SnapshotOf, WantedOf};
use evenkeel_reconcile::{Deletion, Observed, Ownership, Snapshot, World};
use evenkeel_shapes_cloud::Shape as CloudShape;
use http::StatusCode;
use jiff::SignedDuration;

use crate::checkpoint::Checkpoint;
use crate::cloud::Cloud;
use crate::error::Error;
use crate::key::ShapeKey;
use crate::marking::{Look, Marking};
use crate::notebook::Notebook;
use crate::subject::Subject;

/// Everything in the cloud that was, or may have been, made for one subject.
pub(crate) struct OneShape<'a> {
    pub(crate) cloud: &'a Cloud,
    pub(crate) marking: &'a Marking,
    pub(crate) subject: &'a Subject,
    pub(crate) notebook: &'a Notebook,
    pub(crate) clock: &'a SharedClock,
    /// How long the cloud may take to show what was made.
    pub(crate) window: SignedDuration,
}

impl OneShape<'_> {
    /// What can be found of it: by its mark, by the id on record, by the id to adopt. What is on
    /// record comes first, then the oldest.
    async fn find(&self) -> Result<Vec<CloudShape>, Error> {
        let mut found = self.cloud.find(self.marking.query(self.subject)).await?;
        // Whoever else uses our labels is none of our business.
        found.retain(|shape| !matches!(self.marking.ownership(shape), Ownership::Other { .. }));
        for id in [self.subject.recorded_id(), self.to_adopt()]
            .into_iter()
            .flatten()
        {
            if found.iter().all(|shape| shape.id != id) {
                let shape = self.cloud.get(id).await?;
                found.extend(shape.filter(|shape| !self.is_of_a_sibling(shape)));
            }
        }
        if let Some(id) = self.to_adopt()
            && found.iter().all(|shape| shape.id != id)
        {
            return Err(Error::NothingToAdopt(id.to_owned()));
        }
        let recorded = self.subject.recorded_id();
        found.sort_by(|one, other| {
            let rank = |shape: &CloudShape| (recorded != Some(&shape.id), shape.created_at);
            rank(one)
                .cmp(&rank(other))
                .then_with(|| one.id.cmp(&other.id))
        });
        Ok(found)
    }

    /// Whether our own mark says that it was made for another resource.
    fn is_of_a_sibling(&self, shape: &CloudShape) -> bool {
        self.marking.ownership(shape).is_mine()
            && self.marking.key(shape) != self.subject.shape_key()
    }

    /// The id to adopt, until that is done.
    fn to_adopt(&self) -> Option<&str> {
        let open = self.subject.recorded_id().is_none();
        self.subject.adopt.as_deref().filter(|_| open)
    }

    /// Whose a shape is: by its mark, or else by our own record of its id or of its name.
    fn ownership(&self, shape: &CloudShape) -> Ownership<String> {
        let recorded = self.subject.recorded_id() == Some(&shape.id);
        let intended = self.subject.checkpoint.is_some()
            && matches!(self.marking, Marking::Checkpoint)
            && self.marking.query(self.subject).name.as_ref() == Some(&shape.name);
        match self.marking.ownership(shape) {
            Ownership::Nobody if recorded || intended => Ownership::Mine {
                version: self
                    .subject
                    .checkpoint
                    .as_ref()
                    .and_then(|known| known.version.clone()),
            },
            whose => whose,
        }
    }

    async fn made(&self, shape: &CloudShape, version: &str) -> Checkpoint {
        let earlier = self.notebook.read().await;
        Checkpoint::made(earlier.as_ref(), &shape.id, version, self.clock.now())
    }
}

impl World for OneShape<'_> {
    type Key = ShapeKey;
    type Item = Look;
    type Live = CloudShape;
    type Version = String;
    type Error = Error;

    async fn observe(&self) -> Result<SnapshotOf<Self>, Error> {
        let key = self.subject.shape_key();
        let found = self.find().await?;
        let seen = found.into_iter().map(|shape| {
            let whose = self.ownership(&shape);
            (key.clone(), Observed::new(shape, whose))
        });
        let snapshot = Snapshot::of(seen);
        let known = self.subject.checkpoint.iter();
        let record = known.flat_map(|known| known.recorded(&key, self.clock.now(), self.window));
        Ok(snapshot.with_record(record))
    }

    async fn create(&self, _: &ShapeKey, wanted: &WantedOf<Self>) -> Result<(), Error> {
        let now = self.clock.now();
        let intent = self.notebook.read().await;
        let intent = intent.unwrap_or_else(|| Checkpoint::intended(None, now));
        let token = intent.token(&self.subject.uid);
        let new = self.marking.new_shape(self.subject, &wanted.item, token);
        match self.cloud.create(&new).await {
            Ok(shape) => {
                let made = self.made(&shape, &wanted.version).await;
                Ok(self.notebook.write(made).await?)
            }
            Err(error) if error.status() == Some(StatusCode::CONFLICT) => {
                self.notebook.write(intent.afresh(now)).await?;
                Err(error.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn update(
        &self,
        _: &ShapeKey,
        wanted: &WantedOf<Self>,
        seen: &ObservedOf<Self>,
    ) -> Result<(), Error> {
        let change = wanted.item.change(&seen.live);
        let shape = self.cloud.update(&seen.live, &change).await?;
        let made = self.made(&shape, &wanted.version).await;
        Ok(self.notebook.note(made).await?)
    }

    async fn delete(&self, _: &ShapeKey, seen: &ObservedOf<Self>) -> Result<Deletion, Error> {
        self.cloud.delete(&seen.live).await?;
        Ok(match self.cloud.get(&seen.live.id).await? {
            None => Deletion::Gone,
            Some(_) => Deletion::Leaving,
        })
    }

    async fn release(&self, _: &ShapeKey, seen: &ObservedOf<Self>) -> Result<bool, Error> {
        let Some(change) = self.marking.unmark(&seen.live) else {
            return Ok(false);
        };
        self.cloud.update(&seen.live, &change).await?;
        Ok(true)
    }

    async fn remember(&self, _: &[&ShapeKey]) -> Result<(), Error> {
        let earlier = self.notebook.read().await;
        let earlier = earlier.or_else(|| self.subject.checkpoint.clone());
        let intent = Checkpoint::intended(earlier.as_ref(), self.clock.now());
        Ok(self.notebook.write(intent).await?)
    }

    async fn forget(&self, _: &[&ShapeKey]) -> Result<(), Error> {
        Ok(self.notebook.forget().await?)
    }
}
