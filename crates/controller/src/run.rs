//! One controller at work: fresh caches, one object, one run.

use std::sync::Arc;
use std::time::Duration;

use evenkeel_lease::Term;
use evenkeel_reconcile::Outcome;
use evenkeel_reconcile::runner::{Failure, FailureKind, Handle, Request, Runner};
use futures::FutureExt;
use futures::future::BoxFuture;
use kube::Client;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use crate::background::Leading;
use crate::caches::{AnyStream, settled};
use crate::client::for_run;
use crate::context::{Context, Shared};
use crate::controller::{Controller, Wired};
use crate::error::Error;
use crate::events::Told;
use crate::key::Key;
use crate::metrics::Numbers;
use crate::reconciler::Reconciler;
use crate::stream::Stream;
use crate::writes::{Writes, Written};

/// How long a run waits for the caches to show what an earlier run of its key wrote. After that
/// they are listed anew.
const PATIENCE: Duration = Duration::from_secs(5);

/// A controller of some kind, ready to be led.
pub(crate) trait AnyController: Send {
    fn lead(self: Box<Self>, term: Term, stop: CancellationToken) -> BoxFuture<'static, ()>;
}

/// A controller with all that its runs use.
pub(crate) struct Ready<R: Reconciler> {
    pub(crate) controller: Controller<R>,
    pub(crate) runner: Runner<Key>,
    pub(crate) wired: Wired<R::Kind>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) client: Client,
    pub(crate) numbers: Numbers,
}

impl<R: Reconciler> AnyController for Ready<R> {
    fn lead(self: Box<Self>, term: Term, stop: CancellationToken) -> BoxFuture<'static, ()> {
        async move { self.run(term, stop).await }.boxed()
    }
}

impl<R: Reconciler> Ready<R> {
    async fn run(mut self, term: Term, stop: CancellationToken) {
        tokio::select! {
            () = stop.cancelled() => return,
            () = settled(&self.wired.streams) => {}
        }
        let handle = self.runner.handle();
        let mut beside = JoinSet::new();
        for work in std::mem::take(&mut self.controller.background) {
            beside.spawn(work(self.leading(&handle, &term, &stop)));
        }
        for stream in self.wired.streams.iter().skip(1) {
            let late = wake_all_when_known(
                Arc::clone(stream),
                self.wired.primary.clone(),
                handle.clone(),
            );
            beside.spawn(late);
        }
        let runs = Arc::new(self.runs(handle, term));
        let report = Arc::clone(&runs);
        let numbers = self.numbers.clone();
        let runner = self.runner.metrics(Arc::new(numbers));
        let runner = runner.report(move |key, failure| report.failed(key, failure));
        let drained = runner.run(move |key| Arc::clone(&runs).one(key), stop);
        let drained = drained.await;
        debug!(abandoned = drained.abandoned.len(), "drained");
    }

    fn leading(
        &self,
        handle: &Handle<Key>,
        term: &Term,
        stop: &CancellationToken,
    ) -> Leading<R::Kind> {
        Leading {
            client: evenkeel_lease::fence(&self.client, term),
            handle: handle.clone(),
            shared: Arc::clone(&self.shared),
            numbers: self.numbers.clone(),
            term: term.clone(),
            stop: stop.clone(),
            _kind: std::marker::PhantomData,
        }
    }

    fn runs(&self, handle: Handle<Key>, term: Term) -> Runs<R> {
        Runs {
            reconciler: Arc::clone(&self.controller.reconciler),
            primary: Arc::clone(&self.wired.primary),
            streams: self.wired.streams.clone(),
            shared: Arc::clone(&self.shared),
            client: self.client.clone(),
            writes: Arc::default(),
            numbers: self.numbers.clone(),
            handle,
            term,
        }
    }
}

/// Whether `error` comes down to a write on a view that was out of date.
fn is_conflict(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|error| {
        error
            .downcast_ref::<Error>()
            .is_some_and(Error::is_conflict)
    })
}

/// A kind that became known late may matter to objects that failed without it.
async fn wake_all_when_known<K: crate::watched::Watched>(
    stream: Arc<dyn AnyStream>,
    primary: Arc<Stream<K>>,
    handle: Handle<Key>,
) {
    let mut state = stream.state();
    if state.borrow().synced || state.wait_for(|state| state.synced).await.is_err() {
        return;
    }
    let keys: Vec<_> = primary.read().iter().map(|(key, _)| key.clone()).collect();
    for key in keys {
        handle.add(key, Request::asked());
    }
}

/// What every run of a controller uses.
struct Runs<R: Reconciler> {
    reconciler: Arc<R>,
    primary: Arc<Stream<R::Kind>>,
    streams: Vec<Arc<dyn AnyStream>>,
    shared: Arc<Shared>,
    client: Client,
    writes: Arc<Writes>,
    numbers: Numbers,
    handle: Handle<Key>,
    term: Term,
}

impl<R: Reconciler> Runs<R> {
    async fn one(self: Arc<Self>, key: Key) -> Outcome<R::Error> {
        if !self.shows_own_writes(&key).await {
            self.handle
                .add(key, Request::related().after(Duration::from_secs(1)));
            return Outcome::wait("the cache to show our own last write");
        }
        let Some(object) = self.primary.get(&key) else {
            self.handle.forget(&key);
            self.reconciler.gone(&key);
            return Outcome::Done;
        };
        let ran = self.reconciler.reconcile(object, self.context(&key)).await;
        match ran {
            Err(error) if is_conflict(&error) => Outcome::wait("the newer version to be seen"),
            ran => Outcome::from(ran),
        }
    }

    fn context(&self, key: &Key) -> Context {
        Context {
            client: for_run(&self.client, &self.term, &self.writes, key),
            run: key.clone(),
            shared: Arc::clone(&self.shared),
        }
    }

    /// Waits until the caches show what earlier runs of `key` wrote. When they do not in time, they
    /// missed something, and are listed anew.
    async fn shows_own_writes(&self, key: &Key) -> bool {
        let deadline = Instant::now() + PATIENCE;
        for written in self.writes.of(key) {
            let of_kind = |stream: &&Arc<dyn AnyStream>| *stream.resource() == written.resource;
            for stream in self.streams.iter().filter(of_kind) {
                if !self.shows(&**stream, &written, deadline).await {
                    stream.list_again();
                    return false;
                }
            }
        }
        self.writes.forget(key);
        true
    }

    async fn shows(&self, stream: &dyn AnyStream, written: &Written, deadline: Instant) -> bool {
        let mut progress = stream.progress();
        if stream.has_seen(written) {
            return true;
        }
        self.numbers.stale();
        while timeout_at(deadline, progress.changed()).await.is_ok() {
            if stream.has_seen(written) {
                return true;
            }
        }
        false
    }

    /// Tells people of what a run cannot tell itself.
    fn failed(&self, key: &Key, failure: &Failure) {
        let reason = match failure.kind {
            FailureKind::Panic => "Panicked",
            FailureKind::Timeout => "TimedOut",
            FailureKind::Error(_) => return,
        };
        warn!(controller = self.shared.name, %key, reason, "a run did not end by itself");
        let Some(object) = self.primary.get(key) else {
            return;
        };
        let told = Told {
            warning: true,
            reason: reason.to_owned(),
            action: "Reconcile".to_owned(),
            note: failure.text.to_string(),
        };
        let context = self.context(key);
        tokio::spawn(async move { context.tell(&*object, [told]).await });
    }
}
