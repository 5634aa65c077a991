//! Keeps the cloud shape of one Shape: hold, converge, clean up, release.

use std::sync::Arc;

use evenkeel_controller::{Context, Outcome, Ran, Reconciler, is_held};
use evenkeel_reconcile::finalizer::{Effects, Life, LifeStep, OnDelete};
use evenkeel_reconcile::world::DesiredOf;
use evenkeel_reconcile::{
    Acted, Acting, Adopt, Desired, Naming, Policy, Prune, Wanted, World, act, compare,
};
use kube::Resource;

use crate::checkpoint::Checkpoint;
use crate::cloud::Cloud;
use crate::error::Error;
use crate::key::ShapeKey;
use crate::marking::Marking;
use crate::notebook::Notebook;
use crate::resource::{DeletionPolicy, Shape, ShapeRef, ShapeStatus};
use crate::settings::Settings;
use crate::subject::Subject;
use crate::verdict;
use crate::verified::Verified;
use crate::world::OneShape;

/// The finalizer that holds a Shape while its cloud shape may exist.
pub const FINALIZER: &str = "shapes.evenkeel.io/cloud";

/// Keeps the cloud shapes of Shapes.
#[derive(Debug, Clone)]
pub struct Keeper {
    pub(crate) cloud: Cloud,
    pub(crate) settings: Arc<Settings>,
    pub(crate) verified: Arc<Verified>,
}

/// What a pass over one shape came to.
pub(crate) struct Passed<'a> {
    pub(crate) result: Acted<OneShape<'a>>,
    /// The cloud's id of the shape, if it has one.
    pub(crate) id: Option<String>,
}

impl Reconciler for Keeper {
    type Kind = Shape;
    type Error = Error;

    async fn reconcile(&self, shape: Arc<Shape>, cx: Context) -> Ran<Error> {
        if shape.spec.paused {
            return Ok(Outcome::Done);
        }
        let life = Life {
            deleting: shape.meta().deletion_timestamp.is_some(),
            held: is_held(&*shape, FINALIZER),
            effects: Effects::Unknown,
            // What is to stay is let go of first, which is an effect as well.
            on_delete: OnDelete::Delete,
        };
        match life.next() {
            LifeStep::Hold => {
                let held = cx.hold(&*shape, FINALIZER).await?;
                self.converge(held, cx).await
            }
            LifeStep::Converge if self.is_spared(&shape, &cx).await? => Ok(Outcome::Done),
            LifeStep::Converge => self.converge(Arc::unwrap_or_clone(shape), cx).await,
            LifeStep::CleanUp => self.clean_up(Arc::unwrap_or_clone(shape), cx).await,
            LifeStep::Release | LifeStep::LetGo => Ok(Outcome::Done),
        }
    }
}

impl Keeper {
    /// Whether all was said and the survey just saw that it is true.
    async fn is_spared(&self, shape: &Shape, cx: &Context) -> Result<bool, Error> {
        let uid = shape.metadata.uid.clone().unwrap_or_default();
        let generation = shape.metadata.generation.unwrap_or_default();
        let has_page = match self.settings.marking {
            Marking::Checkpoint => cx
                .known::<ShapeRef>()?
                .get(&cx.key().beside(&uid))
                .is_some(),
            Marking::Labels(_) | Marking::Prefix(_) => true,
        };
        let said = shape
            .status
            .as_ref()
            .is_some_and(|status| status.is_settled(generation));
        Ok(said && has_page && self.verified.spares(&uid, generation).await)
    }

    async fn converge(&self, shape: Shape, cx: Context) -> Ran<Error> {
        let (subject, notebook) = self.open(&shape, &cx)?;
        let look =
            self.settings
                .marking
                .look(&subject, shape.spec.form.as_str(), &shape.spec.colour);
        let version = look.version();
        let desired = Desired::one(subject.shape_key(), Wanted::new(look, version.clone()));
        let world = self.world(&subject, &notebook, &cx);
        let passed = match pass(&world, &desired, &policy(DeletionPolicy::Delete)).await {
            Ok(passed) => passed,
            Err(error) => {
                self.report(&cx, &shape, &notebook, verdict::of_failure(&error), None)
                    .await?;
                return Err(error);
            }
        };
        if let Some(id) = passed.id.as_deref().filter(|_| passed.result.is_ok()) {
            let earlier = notebook.read().await;
            let made = Checkpoint::made(earlier.as_ref(), id, &version, cx.clock().now());
            notebook.note(made).await?;
        }
        let verdicts = verdict::of_pass(&passed.result, passed.id.as_deref());
        self.report(&cx, &shape, &notebook, verdicts, passed.id)
            .await?;
        Ok(outcome(passed.result))
    }

    async fn report(
        &self,
        cx: &Context,
        shape: &Shape,
        notebook: &Notebook,
        verdicts: [evenkeel_controller::Verdict; 3],
        id: Option<String>,
    ) -> Result<(), Error> {
        let checkpoint = notebook.read().await;
        let latest = match notebook {
            Notebook::Status(book) => book.shape().await,
            Notebook::Ref(_) => shape.clone(),
        };
        let edit = |status: &mut ShapeStatus| {
            status.id = id.or(status.id.take());
            status.checkpoint = checkpoint;
        };
        cx.set_status(&latest, verdicts, edit).await?;
        Ok(())
    }

    /// Removes or lets go of the cloud shape, and releases the Shape once nothing of ours is left.
    async fn clean_up(&self, shape: Shape, cx: Context) -> Ran<Error> {
        let (subject, notebook) = self.open(&shape, &cx)?;
        let world = self.world(&subject, &notebook, &cx);
        if !self.is_cleared(&world, shape.spec.deletion_policy).await? {
            return Ok(Outcome::wait("the cloud's shape to be gone"));
        }
        notebook.forget().await?;
        let latest = match &notebook {
            Notebook::Status(book) => book.shape().await,
            Notebook::Ref(_) => shape,
        };
        cx.release(&latest, FINALIZER).await?;
        Ok(Outcome::Done)
    }

    /// Removes or lets go of what is ours in `world`; says whether an authoritative look found
    /// nothing of it left.
    pub(crate) async fn is_cleared(
        &self,
        world: &OneShape<'_>,
        on_delete: DeletionPolicy,
    ) -> Result<bool, Error> {
        let nothing = Desired::nothing(format!("{} is deleted", world.subject.key));
        let passed = pass(world, &nothing, &policy(on_delete)).await?;
        passed
            .result
            .map_err(|failed| Error::Pass(Box::new(failed)))?;
        let look = world.observe().await?;
        let ours = look.iter().any(|(_, seen)| seen.ownership.is_mine());
        let record = world.subject.checkpoint.as_ref();
        let settling =
            record.is_some_and(|record| record.is_settling(world.clock.now(), world.window));
        // What was let go of is still there and on record, but carries no mark any more.
        let stays = on_delete == DeletionPolicy::Retain && !look.is_empty();
        Ok(stays || !(ours || settling))
    }

    /// What is known of the shape that `shape` declares, and where to write more.
    fn open(&self, shape: &Shape, cx: &Context) -> Result<(Subject, Notebook), Error> {
        if !matches!(self.settings.marking, Marking::Checkpoint) {
            let notebook = Notebook::in_status(cx.clone(), shape.clone());
            return Ok((Subject::of(shape, None), notebook));
        }
        let uid = shape.metadata.uid.clone().unwrap_or_default();
        let known = cx.known::<ShapeRef>()?.get(&cx.key().beside(uid));
        let subject = Subject::of(shape, known.as_deref());
        let known = known.map(Arc::unwrap_or_clone);
        let on_delete = shape.spec.deletion_policy;
        let notebook = Notebook::in_ref(cx.clone(), &subject, on_delete, known);
        Ok((subject, notebook))
    }

    pub(crate) fn world<'a>(
        &'a self,
        subject: &'a Subject,
        notebook: &'a Notebook,
        cx: &'a Context,
    ) -> OneShape<'a> {
        OneShape {
            cloud: &self.cloud,
            marking: &self.settings.marking,
            subject,
            notebook,
            clock: cx.clock(),
            window: self.settings.window,
        }
    }
}

/// Looks, compares, acts.
async fn pass<'a>(
    world: &OneShape<'a>,
    desired: &DesiredOf<OneShape<'a>>,
    policy: &Policy<ShapeKey>,
) -> Result<Passed<'a>, Error> {
    let snapshot = world.observe().await?;
    let plan = compare(desired, &snapshot, policy, world.clock.now());
    let result = act(world, &plan, &Acting::default()).await;
    let seen = snapshot.get(&world.subject.shape_key());
    let seen = seen.filter(|seen| seen.ownership.is_mine());
    let seen = seen.map(|seen| seen.live.id.clone());
    let recorded = world
        .notebook
        .read()
        .await
        .and_then(|known| known.made_id().map(str::to_owned));
    let id = seen.or(recorded);
    Ok(Passed { result, id })
}

fn policy(on_delete: DeletionPolicy) -> Policy<ShapeKey> {
    Policy {
        adopt: Adopt::On,
        naming: Naming::ByServer,
        prune: match on_delete {
            DeletionPolicy::Delete => Prune::Delete,
            DeletionPolicy::Retain => Prune::Release,
        },
        ..Policy::default()
    }
}

fn outcome(result: Acted<OneShape<'_>>) -> Outcome<Error> {
    evenkeel_reconcile::outcome(result).map_err(|failed| Error::Pass(Box::new(failed)))
}
