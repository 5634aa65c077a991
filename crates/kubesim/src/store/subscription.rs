//! Hearing of every change of one resource, in order.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedReceiver;

use super::table::Tail;
use super::{Event, Revision, Store};

/// Every event of one resource after a revision, in order, for ever.
#[derive(Debug)]
pub struct Subscription {
    store: Store,
    from: Revision,
    waiting: VecDeque<Arc<Event>>,
    coming: UnboundedReceiver<Arc<Event>>,
}

impl Subscription {
    pub(super) fn new(store: Store, from: Revision, tail: Tail) -> Self {
        let Tail { waiting, coming } = tail;
        Self {
            store,
            from,
            waiting,
            coming,
        }
    }

    /// The next event; waits until there is one. Cancel-safe.
    pub async fn next(&mut self) -> Arc<Event> {
        loop {
            match self.try_next() {
                Some(event) => return event,
                None => self.ready().await,
            }
        }
    }

    /// Waits until there is an event. Cancel-safe.
    pub async fn ready(&mut self) {
        while self.waiting.is_empty() {
            match self.coming.recv().await {
                Some(event) => self.enqueue(event),
                // Cannot be: the store that this holds keeps the sender.
                None => std::future::pending().await,
            }
        }
    }

    /// The next event, if it has happened.
    pub fn try_next(&mut self) -> Option<Arc<Event>> {
        self.peek()?;
        self.waiting.pop_front()
    }

    /// The next event, if it has happened, without taking it.
    pub fn peek(&mut self) -> Option<&Arc<Event>> {
        while let Ok(event) = self.coming.try_recv() {
            self.enqueue(event);
        }
        self.waiting.front()
    }

    /// The revision up to which this subscription has handed out everything: the cluster's when
    /// nothing waits, otherwise the one before the next event.
    pub fn progress(&mut self) -> Revision {
        // Commits send their events before they publish the revision, so whatever the revision
        // covers is in the channel by now.
        let revision = self.store.revision();
        self.peek().map_or(revision, |next| next.revision - 1)
    }

    /// A watch may start in the future; events before its start are not for it.
    fn enqueue(&mut self, event: Arc<Event>) {
        if event.revision > self.from {
            self.waiting.push_back(event);
        }
    }
}
