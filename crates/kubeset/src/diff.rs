//! What a pass would do, asked of the server and not done.
//!
//! The same look, the same comparison and the same dry-runs as a pass; where a pass would write, the
//! object is shown as it is and as the server says it would be.

use std::collections::BTreeSet;

use evenkeel_reconcile::world::{PlanOf, StepOf, WantedOf, World};
use evenkeel_reconcile::{Action, compare};
use futures::StreamExt;
use futures::stream;
use serde_json::Value;

use crate::drift::without;
use crate::error::Error;
use crate::item::{DesiredSet, Sighting, resolve};
use crate::key::ObjectKey;
use crate::manifest::{Manifests, Warning};
use crate::set::{Set, SetPolicy};
use crate::shown::Shown;
use crate::world::SetWorld;

/// What a pass would do with every object.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Diff {
    /// The objects in the order in which they would be worked on.
    pub objects: Vec<ObjectDiff>,
    /// What was written in the manifests and does not count.
    pub warnings: Vec<Warning>,
}

impl Diff {
    /// The objects that are not as they should be.
    pub fn changes(&self) -> impl Iterator<Item = &ObjectDiff> {
        self.objects
            .iter()
            .filter(|diff| diff.fate != Fate::Unchanged)
    }
}

/// What a pass would do with one object. Values of secrets are masked, equal ones alike, and what
/// only the server writes is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectDiff {
    /// Which object.
    pub key: ObjectKey,
    /// What would become of it.
    pub fate: Fate,
    /// Why, for people to read.
    pub why: String,
    /// The object as it is, where it would be changed or deleted.
    pub before: Option<Value>,
    /// The object as it would be, where it would be made or changed.
    pub after: Option<Value>,
}

/// What would become of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It would be made.
    Create,
    /// It would be changed.
    Update,
    /// It would be deleted.
    Delete,
    /// It would stay and not be ours any more.
    Release,
    /// It would be left alone, rightly.
    Unchanged,
    /// It would be left alone, although it is not as it should be.
    Held,
    /// The server would refuse it.
    Error,
}

impl Set {
    /// What [`Set::converge`] would do now. Nothing is written.
    ///
    /// # Errors
    /// When the set as a whole cannot be looked at; what is wrong with one object is said there.
    pub async fn diff(&self, manifests: &Manifests, policy: &SetPolicy) -> Result<Diff, Error> {
        let desired = resolve(self.shared(), self.whose(), policy, manifests).await?;
        let objects = self.foresee(&desired, policy).await?;
        let warnings = manifests.warnings.clone();
        Ok(Diff { objects, warnings })
    }

    /// What [`Set::remove`] would do now. Nothing is written.
    ///
    /// # Errors
    /// As for [`Set::diff`].
    pub async fn diff_removal(&self, because: &str, policy: &SetPolicy) -> Result<Diff, Error> {
        let objects = self.foresee(&DesiredSet::nothing(because), policy).await?;
        let warnings = Vec::new();
        Ok(Diff { objects, warnings })
    }

    async fn foresee(
        &self,
        desired: &DesiredSet,
        policy: &SetPolicy,
    ) -> Result<Vec<ObjectDiff>, Error> {
        let mut memory = self.memory_for(policy).await?;
        let world = self.world(&mut memory, desired, policy);
        let foreseen = world.foresee().await;
        let left = world.into_memory();
        memory.keep(left);
        foreseen
    }
}

impl SetWorld<'_> {
    /// What would become of all objects. Those that exist without our label show only when they
    /// are in the way, and are looked at then.
    async fn foresee(&self) -> Result<Vec<ObjectDiff>, Error> {
        let mut objects = self.foresee_of(|_| true).await?;
        if self.met_strangers() {
            let strangers = self.attempt().strangers.clone();
            let again = self.foresee_of(|key| strangers.contains(key)).await?;
            objects.retain(|diff| !strangers.contains(&diff.key));
            objects.extend(again);
        }
        Ok(objects)
    }

    async fn foresee_of(
        &self,
        asked: impl Fn(&ObjectKey) -> bool,
    ) -> Result<Vec<ObjectDiff>, Error> {
        let snapshot = self.observe().await?;
        let plan = compare(self.desired, &snapshot, &self.policy.engine, self.now());
        let oracle = Oracle::new(self, &plan);
        let steps = plan.steps.iter().filter(|step| asked(step.key));
        let asks: Vec<_> = steps.map(|step| oracle.foresee(step)).collect();
        let answers = stream::iter(asks).buffered(self.parallel().get());
        Ok(answers.collect().await)
    }
}

/// An object before and after.
type Both = (Option<Value>, Option<Value>);

/// Asks the server what would become of each object.
struct Oracle<'w> {
    world: &'w SetWorld<'w>,
    /// Namespaces that do not exist yet, so that nothing inside can be asked about.
    coming: BTreeSet<String>,
    shown: Shown,
}

impl<'w> Oracle<'w> {
    fn new(world: &'w SetWorld<'w>, plan: &PlanOf<'_, SetWorld<'w>>) -> Self {
        let made = plan.steps.iter().filter(|step| {
            step.key.kind.is_namespace() && matches!(step.action, Action::Create { .. })
        });
        Self {
            coming: made.map(|step| step.key.name.clone()).collect(),
            world,
            shown: Shown::new(&*world.cluster.calls.dice),
        }
    }

    async fn foresee(&self, step: &StepOf<'_, SetWorld<'w>>) -> ObjectDiff {
        let (fate, why) = fate(step);
        let answer = match &step.action {
            Action::Create { wanted, .. } => self.make(step.key, wanted).await,
            Action::Update {
                wanted, observed, ..
            }
            | Action::Adopt { wanted, observed } => {
                self.change(step.key, wanted, &observed.live).await
            }
            Action::Delete { .. } => self.now(step.key).await.map(|before| (before, None)),
            Action::Release { .. } | Action::Keep(_) | Action::Refuse(_) => Ok((None, None)),
        };
        let key = step.key.clone();
        match answer {
            Ok((before, after)) => ObjectDiff {
                key,
                fate,
                why,
                before,
                after,
            },
            Err(error) => ObjectDiff {
                key,
                fate: Fate::Error,
                why: error.to_string(),
                before: None,
                after: None,
            },
        }
    }

    async fn make(&self, key: &ObjectKey, wanted: &WantedOf<SetWorld<'w>>) -> Result<Both, Error> {
        let item = &wanted.item;
        let inside = key.namespace.as_ref();
        if item.defined_by.is_some() || inside.is_some_and(|inside| self.coming.contains(inside)) {
            // What it needs does not exist yet, so the server has no opinion.
            return Ok((None, Some(self.shown.of(key, self.world.object(key, item)))));
        }
        let calls = &self.world.cluster.calls;
        let body = self.world.object(key, item);
        let made = calls.preview(&item.resource, key, &body).await?;
        let metadata = &made["metadata"];
        if let (Some(_), Some(uid)) = (
            metadata["resourceVersion"].as_str(),
            metadata["uid"].as_str(),
        ) {
            // It exists; unless it is the one that we made, it is remembered as a stranger.
            let _ = self.world.same_as_recorded(key, uid).await;
        }
        Ok((None, Some(self.shown.of(key, made))))
    }

    async fn change(
        &self,
        key: &ObjectKey,
        wanted: &WantedOf<SetWorld<'w>>,
        seen: &Sighting,
    ) -> Result<Both, Error> {
        let before = self.now(key).await?;
        let body = without(self.world.object(key, &wanted.item), &seen.drift.ignored);
        let calls = &self.world.cluster.calls;
        let after = match calls.preview(&wanted.item.resource, key, &body).await {
            Ok(after) => after,
            // It would be replaced, so the server has no opinion.
            Err(error) => self.world.hindered(key, error).map(|_| body)?,
        };
        Ok((before, Some(self.shown.of(key, after))))
    }

    async fn now(&self, key: &ObjectKey) -> Result<Option<Value>, Error> {
        let Some(resource) = self.world.cluster.find(&key.kind, None).await? else {
            return Ok(None);
        };
        let found = self.world.cluster.calls.get(&resource, key).await?;
        Ok(found.map(|object| self.shown.of(key, object)))
    }
}

fn fate(step: &StepOf<'_, SetWorld<'_>>) -> (Fate, String) {
    let why = step.action.why();
    let fate = match &step.action {
        Action::Create { .. } => Fate::Create,
        Action::Update { .. } | Action::Adopt { .. } => Fate::Update,
        Action::Delete { .. } => Fate::Delete,
        Action::Release { .. } => Fate::Release,
        Action::Keep(_) => Fate::Unchanged,
        Action::Refuse(_) => Fate::Held,
    };
    (fate, why.1.into_owned())
}
