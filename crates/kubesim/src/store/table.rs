//! The objects of one resource and their latest events.

use std::collections::VecDeque;
use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Event, Key, Object, Revision};

/// Objects by key, in the order in which lists show them. A clone costs nothing and shares all
/// that does not change.
pub type Objects = RedBlackTreeMapSync<Key, Object>;

/// The log no longer reaches back to the revision asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too old resource version: {requested} ({oldest})")]
pub struct Expired {
    /// What was asked for.
    pub requested: Revision,
    /// The oldest revision that would do.
    pub oldest: Revision,
}

/// The objects of one resource at one revision. Later commits do not touch it.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// The cluster's revision when this was true.
    pub revision: Revision,
    /// The objects, in the order in which lists show them.
    pub objects: Objects,
}

impl Snapshot {
    /// The objects of `namespace`, or all of them, in order.
    pub fn in_namespace<'a>(
        &'a self,
        namespace: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a Key, &'a Object)> {
        let first = Key::from(
            namespace
                .map(|namespace| format!("{namespace}/"))
                .unwrap_or_default()
                .as_str(),
        );
        self.objects
            .range(first..)
            .take_while(move |(key, _)| key.is_in(namespace))
    }
}

/// Events that have happened, and a channel of those to come.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) waiting: VecDeque<Arc<Event>>,
    pub(super) coming: UnboundedReceiver<Arc<Event>>,
}

/// The objects of one resource, their latest events, and who wants to hear of the next ones.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) objects: Objects,
    log: VecDeque<Arc<Event>>,
    /// Events up to and including this revision are no longer in the log.
    floor: Revision,
    listeners: Vec<UnboundedSender<Arc<Event>>>,
}

impl Table {
    /// An empty table that remembers everything after `floor`.
    pub(super) fn since(floor: Revision) -> Self {
        Self {
            objects: Objects::default(),
            log: VecDeque::new(),
            floor,
            listeners: Vec::new(),
        }
    }

    /// Makes `event` true, keeps at most `limit` events, and tells the listeners.
    pub(super) fn record(&mut self, mut event: Event, limit: usize) {
        restore(&mut self.objects, &event.key, event.after.as_ref());
        event.audience = self.listeners.len();
        let event = Arc::new(event);
        self.listeners
            .retain(|listener| listener.send(event.clone()).is_ok());
        self.log.push_back(event);
        while self.log.len() > limit {
            self.forget_oldest();
        }
    }

    /// Forgets events up to and including `revision`.
    pub(super) fn compact(&mut self, revision: Revision) {
        while self
            .log
            .front()
            .is_some_and(|event| event.revision <= revision)
        {
            self.forget_oldest();
        }
        self.floor = self.floor.max(revision);
    }

    fn forget_oldest(&mut self) {
        if let Some(event) = self.log.pop_front() {
            self.floor = event.revision;
        }
    }

    /// The objects as they were at `revision`.
    pub(super) fn objects_at(&self, revision: Revision) -> Result<Objects, Expired> {
        self.reaches(revision)?;
        let mut objects = self.objects.clone();
        for event in self
            .log
            .iter()
            .rev()
            .take_while(|event| event.revision > revision)
        {
            restore(&mut objects, &event.key, event.before.as_ref());
        }
        Ok(objects)
    }

    /// The events after `from`.
    pub(super) fn listen(&mut self, from: Revision) -> Result<Tail, Expired> {
        self.reaches(from)?;
        let start = self.log.partition_point(|event| event.revision <= from);
        let (sender, coming) = unbounded_channel();
        self.listeners.retain(|listener| !listener.is_closed());
        self.listeners.push(sender);
        Ok(Tail {
            waiting: self.log.range(start..).cloned().collect(),
            coming,
        })
    }

    fn reaches(&self, revision: Revision) -> Result<(), Expired> {
        if revision < self.floor {
            return Err(Expired {
                requested: revision,
                oldest: self.floor,
            });
        }
        Ok(())
    }
}

/// Puts `object` at `key`, or nothing.
fn restore(objects: &mut Objects, key: &Key, object: Option<&Object>) {
    match object {
        Some(object) => objects.insert_mut(key.clone(), object.clone()),
        None => {
            objects.remove_mut(key);
        }
    }
}
