//! Carrying out a plan.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use evenkeel_ambient::chain;
use futures::StreamExt;
use futures::stream::FuturesUnordered;

use crate::change::{Change, ChangeSet, Word};
use crate::interrupted::{Attempt, Failed, Interrupted};
use crate::plan::{Action, Step};
use crate::reason::{WhyKeep, WhyRefuse};
use crate::world::{Deletion, Failure, PlanOf, Reach, StepOf, World};

/// How a plan is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acting {
    /// How many actions of one stage may be under way at once.
    pub parallel: NonZeroUsize,
    /// What becomes of the later stages when an action fails.
    pub after_failure: AfterFailure,
}

impl Default for Acting {
    fn default() -> Self {
        const EIGHT: NonZeroUsize = NonZeroUsize::new(8).expect("not zero");
        Self {
            parallel: EIGHT,
            after_failure: AfterFailure::default(),
        }
    }
}

/// What becomes of the later stages when an action fails for its own thing alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AfterFailure {
    /// They are not begun, as they may build on what failed; so nothing is deleted either.
    #[default]
    FinishStage,
    /// They go on, as things of different ranks do not need each other.
    GoOn,
}

/// What becomes of carrying out a plan.
pub type Acted<W> =
    Result<ChangeSet<<W as World>::Key>, Interrupted<<W as World>::Key, <W as World>::Error>>;

/// Carries out `plan`: stage after stage, within a stage side by side up to the bound.
///
/// What may exist is written down before the first write; what is gone is taken from the record
/// after the last. A second run of the same plan is harmless, because every write carries what was
/// seen as its precondition and counts as stale where the world has moved on.
pub async fn act<W: World>(world: &W, plan: &PlanOf<'_, W>, how: &Acting) -> Acted<W> {
    let mut run = Run::new(world, plan, how);
    run.remember().await;
    run.stages().await;
    run.forget().await;
    run.finish()
}

/// How much further a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Halt {
    /// To the end.
    No,
    /// To the end of the stage.
    AfterStage,
    /// No further.
    Now,
}

/// One run of a plan. Each step has its place in `done`; a place that stays empty was not reached.
struct Run<'r, 'a, W: World> {
    world: &'r W,
    plan: &'r PlanOf<'a, W>,
    how: &'r Acting,
    done: Vec<Option<Change<W::Key>>>,
    failures: Vec<Failed<W::Key, W::Error>>,
    halt: Halt,
}

impl<'r, 'a, W: World> Run<'r, 'a, W> {
    fn new(world: &'r W, plan: &'r PlanOf<'a, W>, how: &'r Acting) -> Self {
        let done = plan.steps.iter().map(left_alone).collect();
        Self {
            world,
            plan,
            how,
            done,
            failures: Vec::new(),
            halt: Halt::No,
        }
    }

    async fn remember(&mut self) {
        let Some(record) = &self.plan.record else {
            return;
        };
        if record.remember.is_empty() {
            return;
        }
        if let Err(error) = self.world.remember(&record.remember).await {
            self.fail(Attempt::Remember, error, Halt::Now);
        }
    }

    async fn stages(&mut self) {
        let mut begin = 0;
        for stage in self
            .plan
            .steps
            .chunk_by(|one, next| one.stage() == next.stage())
        {
            if self.halt == Halt::No && stage.iter().any(|step| step.action.is_write()) {
                self.stage(begin, stage).await;
            }
            begin += stage.len();
        }
    }

    async fn stage(&mut self, begin: usize, steps: &'r [StepOf<'a, W>]) {
        let stage = steps[0].stage();
        if let Err(error) = self.world.enter(stage, &self.plan.steps[begin..]).await {
            return self.fail(Attempt::Enter(stage), error, Halt::Now);
        }
        let mut waiting = (begin..)
            .zip(steps)
            .filter(|(_, step)| step.action.is_write());
        let mut under_way = FuturesUnordered::new();
        loop {
            while self.halt < Halt::Now && under_way.len() < self.how.parallel.get() {
                let Some((place, step)) = waiting.next() else {
                    break;
                };
                let world = self.world;
                under_way.push(async move { (place, step, perform(world, step).await) });
            }
            let Some((place, step, result)) = under_way.next().await else {
                break;
            };
            self.settle(place, step, result);
        }
    }

    fn settle(&mut self, place: usize, step: &StepOf<'a, W>, result: Result<Word, W::Error>) {
        let key = step.key.clone();
        let change = match result {
            Ok(word) => {
                let (reason, text) = step.action.why();
                Change {
                    key,
                    word,
                    reason,
                    text,
                }
            }
            Err(error) => {
                let text = Cow::Owned(chain(&error));
                let (word, reason) = self.failed(step, error);
                Change {
                    key,
                    word,
                    reason,
                    text,
                }
            }
        };
        self.done[place] = Some(change);
    }

    fn failed(&mut self, step: &StepOf<'a, W>, error: W::Error) -> (Word, &'static str) {
        let halt = match (error.reach(), self.how.after_failure) {
            (Reach::Stale, _) => return (Word::Stale, "Stale"),
            (Reach::Thing, AfterFailure::FinishStage) => Halt::AfterStage,
            (Reach::Thing, AfterFailure::GoOn) => Halt::No,
            (Reach::World, _) => Halt::Now,
        };
        self.fail(
            Attempt::Step(step.action.verb(), step.key.clone()),
            error,
            halt,
        );
        (Word::Failed, failure_of(&step.action))
    }

    fn fail(&mut self, attempt: Attempt<W::Key>, error: W::Error, halt: Halt) {
        self.failures.push(Failed { attempt, error });
        self.halt = self.halt.max(halt);
    }

    /// Takes from the record what the plan says and what is confirmed to be deleted.
    async fn forget(&mut self) {
        let Some(record) = &self.plan.record else {
            return;
        };
        let mut gone = record.forget.clone();
        gone.extend(self.let_go());
        if gone.is_empty() || self.halt == Halt::Now {
            return;
        }
        if let Err(error) = self.world.forget(&gone).await {
            self.fail(Attempt::Forget, error, Halt::Now);
        }
    }

    /// The keys of which nothing of ours is left; with duplicates, one delete does not make a key
    /// gone.
    fn let_go(&self) -> BTreeSet<&'a W::Key> {
        let is_gone = |step: &StepOf<'a, W>, change: &Option<Change<_>>| {
            let released = matches!(step.action, Action::Release { .. });
            change.as_ref().is_some_and(|change| {
                matches!(change.word, Word::Deleted | Word::Released)
                    || (released && change.word == Word::Kept)
            })
        };
        let steps = || self.plan.steps.iter().zip(&self.done);
        let gone = steps().filter(|(step, change)| is_gone(step, change));
        let mut gone: BTreeSet<_> = gone.map(|(step, _)| step.key).collect();
        if !gone.is_empty() {
            for (step, _) in steps().filter(|(step, change)| !is_gone(step, change)) {
                gone.remove(step.key);
            }
        }
        gone
    }

    fn finish(self) -> Acted<W> {
        let reached = self.done.into_iter().zip(&self.plan.steps);
        let changes = reached.map(|(change, step)| change.unwrap_or_else(|| not_reached(step)));
        let changes = changes.collect();
        if self.failures.is_empty() {
            Ok(changes)
        } else {
            Err(Interrupted {
                changes,
                failures: self.failures,
            })
        }
    }
}

async fn perform<W: World>(world: &W, step: &StepOf<'_, W>) -> Result<Word, W::Error> {
    match &step.action {
        Action::Create { wanted, .. } => {
            world.create(step.key, wanted).await.map(|()| Word::Created)
        }
        Action::Update {
            wanted, observed, ..
        } => world
            .update(step.key, wanted, observed)
            .await
            .map(|()| Word::Updated),
        Action::Adopt { wanted, observed } => world
            .adopt(step.key, wanted, observed)
            .await
            .map(|()| Word::Adopted),
        Action::Delete { observed, .. } => {
            let deletion = world.delete(step.key, observed).await?;
            Ok(match deletion {
                Deletion::Gone => Word::Deleted,
                Deletion::Leaving => Word::Deleting,
            })
        }
        Action::Release { observed } => match world.release(step.key, observed).await? {
            true => Ok(Word::Released),
            false => Ok(Word::Kept),
        },
        Action::Keep(_) => Ok(Word::Kept),
        Action::Refuse(_) => Ok(Word::Refused),
    }
}

/// The change of a step that does nothing.
fn left_alone<K: Clone, I, L, V>(step: &Step<'_, K, I, L, V>) -> Option<Change<K>> {
    let word = match &step.action {
        Action::Keep(WhyKeep::DriftTolerated(_)) => Word::Drifted,
        Action::Keep(_) => Word::Kept,
        Action::Refuse(WhyRefuse::Leaving | WhyRefuse::Settling { .. }) => Word::Waiting,
        Action::Refuse(WhyRefuse::PartialView(_)) => Word::Unseen,
        Action::Refuse(WhyRefuse::Contended(_)) => Word::Contended,
        Action::Refuse(_) => Word::Refused,
        Action::Create { .. }
        | Action::Update { .. }
        | Action::Adopt { .. }
        | Action::Delete { .. }
        | Action::Release { .. } => return None,
    };
    let (reason, text) = step.action.why();
    Some(Change {
        key: step.key.clone(),
        word,
        reason,
        text,
    })
}

fn not_reached<K: Clone, I, L, V>(step: &Step<'_, K, I, L, V>) -> Change<K> {
    let text = Cow::Borrowed("an earlier failure stopped the plan");
    Change {
        key: step.key.clone(),
        word: Word::NotReached,
        reason: "NotReached",
        text,
    }
}

/// The word for the failure of an action.
fn failure_of<I, L, V>(action: &Action<'_, I, L, V>) -> &'static str {
    match action {
        Action::Create { .. } => "CreateFailed",
        Action::Update { .. } => "UpdateFailed",
        Action::Adopt { .. } => "AdoptFailed",
        Action::Delete { .. } => "DeleteFailed",
        Action::Release { .. } => "ReleaseFailed",
        Action::Keep(_) | Action::Refuse(_) => "Failed",
    }
}
