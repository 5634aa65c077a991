//! One pass of the loop: observe, compare, act.

use std::error::Error;
use std::fmt::Display;

use evenkeel_ambient::Clock;

use crate::act::{Acted, Acting, act};
use crate::change::ChangeSet;
use crate::compare::compare;
use crate::interrupted::{Attempt, Interrupted};
use crate::outcome::Outcome;
use crate::policy::Policy;
use crate::report::report;
use crate::retry::Classify;
use crate::world::{DesiredOf, World};

/// Brings `world` closer to `desired`, as far as `policy` lets it, and says what became of every
/// key. [`report`] turns the answer into conditions, events, metrics and
/// log lines; [`outcome`] into what the runner asks for.
pub async fn reconcile<W: World>(
    world: &W,
    desired: &DesiredOf<W>,
    policy: &Policy<W::Key>,
    how: &Acting,
    clock: &dyn Clock,
) -> Acted<W> {
    let snapshot = match world.observe().await {
        Ok(snapshot) => snapshot,
        Err(error) => return Err(Interrupted::by(Attempt::Observe, error)),
    };
    let plan = compare(desired, &snapshot, policy, clock.now());
    act(world, &plan, how).await
}

/// How the pass ended, for the runner: done, waiting for something, or failed.
pub fn outcome<K, E>(pass: Result<ChangeSet<K>, Interrupted<K, E>>) -> Outcome<Interrupted<K, E>>
where
    K: Display,
    E: Classify + Error,
{
    let [synced, _] = report(&pass).verdicts;
    match pass {
        Ok(changes) if changes.is_settled() => Outcome::Done,
        Ok(_) => Outcome::wait(synced.message),
        Err(interrupted) => Outcome::failed(interrupted),
    }
}
