//! The store itself: a database of either kind, its writer and its feed.

use std::fmt;
use std::sync::Arc;

use evenkeel_ambient::{SharedClock, SharedRandom};
use evenkeel_model::ChangeNumber;
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::sql::{Connection, Pools, Query, Row};
use crate::transaction::Transaction;
use crate::writer::{Queue, Writer};
use crate::{Result, feed};

/// An open store. Clones share it; it closes when the last is dropped.
#[derive(Clone)]
pub struct Database {
    pools: Pools,
    queue: Queue,
    newest: watch::Receiver<ChangeNumber>,
    _tasks: Arc<JoinSet<()>>,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("newest", &self.newest)
            .finish_non_exhaustive()
    }
}

impl Database {
    /// Opens the store at `url` (`sqlite://PATH`, `sqlite::memory:` or `postgres://...`) and
    /// brings its schema up to date.
    pub async fn open(url: &str, clock: SharedClock, random: SharedRandom) -> Result<Self> {
        let pools = Pools::open(url).await?;
        pools.migrate().await?;
        // Listen first, then look: what is committed in between is heard.
        let listener = pools.listener(feed::CHANNEL).await?;
        let start = feed::newest_in(&mut pools.reader().await?).await?;
        let (sender, newest) = watch::channel(start);
        let mut tasks = JoinSet::new();
        tasks.spawn(feed::follow(pools.clone(), listener, sender.clone()));
        let (queue, writer) = Writer::new(pools.clone(), clock, random, sender);
        tasks.spawn(writer.run());
        Ok(Self {
            pools,
            queue,
            newest,
            _tasks: Arc::new(tasks),
        })
    }

    /// Gives every connection back to the database. Writes that wait for their turn fail.
    pub async fn close(&self) {
        self.pools.close().await;
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<()> {
        feed::newest_in(&mut self.pools.reader().await?)
            .await
            .map(drop)
    }

    pub(crate) fn newest(&self) -> watch::Receiver<ChangeNumber> {
        self.newest.clone()
    }

    pub(crate) async fn write<T, W>(&self, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: for<'t> FnOnce(&'t mut Transaction) -> BoxFuture<'t, Result<T>> + Send + 'static,
    {
        self.queue.write(work).await
    }

    pub(crate) async fn reader(&self) -> Result<Connection> {
        self.pools.reader().await
    }

    pub(crate) async fn snapshot(&self) -> Result<Connection> {
        self.pools.snapshot().await
    }

    /// All rows of a query, each converted.
    pub(crate) async fn all<T>(
        &self,
        query: Query,
        convert: fn(&Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        let rows = self.reader().await?.all(query).await?;
        rows.iter().map(convert).collect()
    }

    /// The first row of a query, converted.
    pub(crate) async fn one<T>(
        &self,
        query: Query,
        convert: fn(&Row) -> Result<T>,
    ) -> Result<Option<T>> {
        self.reader()
            .await?
            .one(query)
            .await?
            .as_ref()
            .map(convert)
            .transpose()
    }
}
