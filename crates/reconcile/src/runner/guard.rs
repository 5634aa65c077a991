//! One run, fenced in: it ends in time, and a panic ends only it.

use std::any::Any;
use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use tokio::time::timeout;

use super::ended::{Ended, FailureKind};
use crate::outcome::Outcome;
use crate::retry::Classify;

/// Runs `work` for at most `limit` and catches its panic. Unwind safety is the key's own
/// concern: the runner shares nothing with the run, and the next run starts from the world.
pub(super) async fn guarded<E, F>(limit: Duration, work: impl FnOnce() -> F) -> Ended
where
    E: Classify + Error + 'static,
    F: Future<Output = Outcome<E>>,
{
    // All foreign code is called inside: `work` before its first await, the drop of a run that
    // timed out, and the error that is put into words.
    let run = async { timeout(limit, work()).await.map(Ended::from) };
    match AssertUnwindSafe(run).catch_unwind().await {
        Ok(Ok(ended)) => ended,
        Ok(Err(_elapsed)) => Ended::failed(
            FailureKind::Timeout,
            format!("the run did not end within {limit:?}"),
        ),
        Err(payload) => Ended::failed(FailureKind::Panic, message_of(&*payload)),
    }
}

fn message_of(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
}
