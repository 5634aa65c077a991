//! The one writer: every write of every broker happens one after the other.
//!
//! A transaction begins by locking the *ledger*, the row that holds the last change number,
//! sequence id and list position. Whoever holds the lock hands out the next numbers, and the next
//! holder sees everything that the previous one committed. So numbers are dense, are committed in
//! the order in which they were given out, and no reader can ever see 43 and miss 42. Checks made
//! inside a write cannot be overtaken by another write.
//!
//! What serialising costs is won back by *group commit*: while one transaction is on its way to
//! the disk, further writes gather, and all of them go into the next one, each in a savepoint of
//! its own.

use std::panic::AssertUnwindSafe;

use evenkeel_ambient::{SharedClock, SharedRandom};
use evenkeel_model::ChangeNumber;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot, watch};

use crate::sql::Pools;
use crate::transaction::Transaction;
use crate::{Error, Result};

/// How many writes one transaction takes at most, so that no caller waits for too many others.
const BATCH: usize = 64;
/// How many writes may wait; more wait outside.
const QUEUE: usize = 1024;

/// The place where writes queue up.
#[derive(Clone)]
pub(crate) struct Queue(mpsc::Sender<Box<dyn Job>>);

/// What takes writes from the queue and performs them.
pub(crate) struct Writer {
    jobs: mpsc::Receiver<Box<dyn Job>>,
    pools: Pools,
    clock: SharedClock,
    random: SharedRandom,
    newest: watch::Sender<ChangeNumber>,
}

impl Writer {
    /// A writer to [`run`](Self::run), and its queue.
    pub(crate) fn new(
        pools: Pools,
        clock: SharedClock,
        random: SharedRandom,
        newest: watch::Sender<ChangeNumber>,
    ) -> (Queue, Self) {
        let (sender, jobs) = mpsc::channel(QUEUE);
        (
            Queue(sender),
            Self {
                jobs,
                pools,
                clock,
                random,
                newest,
            },
        )
    }

    /// Performs writes until every queue is dropped.
    pub(crate) async fn run(mut self) {
        let mut batch = Vec::with_capacity(BATCH);
        while self.jobs.recv_many(&mut batch, BATCH).await > 0 {
            let verdict = self.attempt(&mut batch).await;
            if let Ok(change) = verdict {
                raise(&self.newest, change);
            }
            for job in batch.drain(..) {
                job.finish(verdict.clone().map(drop));
            }
        }
    }

    async fn attempt(&self, batch: &mut [Box<dyn Job>]) -> Result<ChangeNumber> {
        let (now, random) = (self.clock.now(), self.random.clone());
        let mut transaction = Transaction::begin(&self.pools, now, random).await?;
        let mut worthwhile = false;
        if let [job] = batch {
            worthwhile = job.run(&mut transaction).await;
        } else {
            for job in batch {
                worthwhile |= run_apart(job.as_mut(), &mut transaction).await?;
            }
        }
        if worthwhile {
            transaction.commit().await
        } else {
            Ok(ChangeNumber(0))
        }
    }
}

/// Runs a job so that its failure undoes only its own statements.
async fn run_apart(job: &mut dyn Job, transaction: &mut Transaction) -> Result<bool> {
    let mark = transaction.mark().await?;
    let done = job.run(transaction).await;
    if done {
        transaction.keep().await?;
    } else {
        transaction.undo_to(mark).await?;
    }
    Ok(done)
}

/// Raises the newest change number; a late word about an older one changes nothing.
pub(crate) fn raise(newest: &watch::Sender<ChangeNumber>, change: ChangeNumber) {
    newest.send_if_modified(|known| {
        let newer = change > *known;
        *known = change.max(*known);
        newer
    });
}

/// A write, whatever its result is.
trait Job: Send {
    /// Does the work; whether it is to be kept.
    fn run<'t>(&'t mut self, transaction: &'t mut Transaction) -> BoxFuture<'t, bool>;

    /// Answers the caller, now that the transaction has ended this way.
    fn finish(self: Box<Self>, verdict: Result<()>);
}

type Work<T> = Box<dyn for<'t> FnOnce(&'t mut Transaction) -> BoxFuture<'t, Result<T>> + Send>;

struct Pending<T> {
    work: Option<Work<T>>,
    result: Result<T>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T: Send> Job for Pending<T> {
    fn run<'t>(&'t mut self, transaction: &'t mut Transaction) -> BoxFuture<'t, bool> {
        async move {
            let Some(work) = self.work.take() else {
                return false;
            };
            // One write that panics must not take the writer, and so the broker, with it.
            let result = AssertUnwindSafe(work(transaction)).catch_unwind().await;
            self.result = result.unwrap_or(Err(Error::Panicked));
            self.result.is_ok()
        }
        .boxed()
    }

    fn finish(self: Box<Self>, verdict: Result<()>) {
        let Self { result, reply, .. } = *self;
        let answer = match (result, verdict) {
            (Err(Error::Closed), Err(verdict)) => Err(verdict),
            (Err(error), _) => Err(error),
            (Ok(value), verdict) => verdict.map(|()| value),
        };
        // A caller that went away does not undo what it asked for.
        let _ = reply.send(answer);
    }
}

impl Queue {
    /// Performs `work` in its turn, and answers when it is durable.
    pub(crate) async fn write<T, W>(&self, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: for<'t> FnOnce(&'t mut Transaction) -> BoxFuture<'t, Result<T>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let pending = Pending {
            work: Some(Box::new(work)),
            result: Err(Error::Closed),
            reply,
        };
        self.0
            .send(Box::new(pending))
            .await
            .map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }
}
