//! A subscription seen through a view: late, thinned out, or cut off.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::settings::{Cut, Deed, Settings};
use crate::store::{Event, Key, ResourceId, Revision, Subscription};

/// The events of one resource as a view tells them.
#[derive(Debug)]
pub struct Feed {
    resource: ResourceId,
    subscription: Subscription,
    revisions: watch::Receiver<Revision>,
    settings: watch::Receiver<Settings>,
    /// How many orders have been obeyed.
    obeyed: usize,
    /// How many events to keep silent about.
    dropping: usize,
    /// What happened while events are held: one change for each object.
    held: BTreeMap<Key, Arc<Event>>,
    /// What may be told, and when.
    due: VecDeque<(Instant, Arc<Event>)>,
}

impl Feed {
    pub(super) fn new(
        resource: ResourceId,
        subscription: Subscription,
        revisions: watch::Receiver<Revision>,
        settings: watch::Receiver<Settings>,
    ) -> Self {
        let obeyed = settings.borrow().orders.len();
        let (held, due) = (BTreeMap::new(), VecDeque::new());
        Self {
            resource,
            subscription,
            revisions,
            settings,
            obeyed,
            dropping: 0,
            held,
            due,
        }
    }

    /// The next event that the view tells; waits until there is one. Cancel-safe.
    pub async fn next(&mut self) -> Result<Arc<Event>, Cut> {
        loop {
            match self.try_next() {
                Some(told) => return told,
                None => self.wait().await,
            }
        }
    }

    /// What the view tells now, if anything.
    pub fn try_next(&mut self) -> Option<Result<Arc<Event>, Cut>> {
        if let Some(cut) = self.obey() {
            return Some(Err(cut));
        }
        self.take_in();
        let (when, _) = self.due.front()?;
        if *when > Instant::now() {
            return None;
        }
        self.due.pop_front().map(|(_, event)| Ok(event))
    }

    /// The revision up to which the view has told everything that it will.
    pub fn progress(&mut self) -> Revision {
        self.take_in();
        let latest = self.subscription.progress();
        let seen = self.settings.borrow().horizon.revision(latest);
        let untold = self
            .held
            .values()
            .chain(self.due.iter().map(|(_, event)| event));
        untold
            .map(|event| event.revision - 1)
            .fold(seen, Revision::min)
    }

    /// Does what has been ordered since the last time.
    fn obey(&mut self) -> Option<Cut> {
        let settings = self.settings.borrow_and_update();
        for order in &settings.orders[self.obeyed..] {
            self.obeyed += 1;
            if order
                .resource
                .as_ref()
                .is_some_and(|resource| *resource != self.resource)
            {
                continue;
            }
            match order.deed {
                Deed::Cut(cut) => return Some(cut),
                Deed::Drop(events) => self.dropping += events,
            }
        }
        None
    }

    /// Takes in every event that has happened and shows.
    fn take_in(&mut self) {
        let (horizon, hold, delay) = {
            let settings = self.settings.borrow();
            (settings.horizon.clone(), settings.hold, settings.delay)
        };
        if !hold {
            self.release(delay);
        }
        let newest = horizon.revision(*self.revisions.borrow());
        while self
            .subscription
            .peek()
            .is_some_and(|event| event.revision <= newest)
        {
            let Some(event) = self.subscription.try_next() else {
                return;
            };
            if self.dropping > 0 {
                self.dropping -= 1;
            } else if hold {
                self.merge(&event);
            } else {
                self.due.push_back((Instant::now() + delay, event));
            }
        }
    }

    /// Makes `event` part of the one change that is held for its object.
    fn merge(&mut self, event: &Arc<Event>) {
        let merged = match self.held.remove(&event.key) {
            Some(earlier) => Arc::new(earlier.then(event)),
            None => event.clone(),
        };
        if merged.before.is_some() || merged.after.is_some() {
            self.held.insert(event.key.clone(), merged);
        }
    }

    /// Lets go of what is held, in the order of revisions.
    fn release(&mut self, delay: Duration) {
        if self.held.is_empty() {
            return;
        }
        let mut events: Vec<_> = std::mem::take(&mut self.held).into_values().collect();
        events.sort_by_key(|event| event.revision);
        let when = Instant::now() + delay;
        self.due
            .extend(events.into_iter().map(|event| (when, event)));
    }

    /// Waits until there may be something to tell.
    async fn wait(&mut self) {
        let hidden = self.subscription.peek().is_some();
        let when = self.due.front().map(|(when, _)| *when);
        tokio::select! {
            () = changed(&mut self.settings) => {}
            // What has happened but does not show can only come into sight with the revision.
            () = changed(&mut self.revisions), if hidden => {}
            () = self.subscription.ready(), if !hidden => {}
            () = sleep_until(when.unwrap_or_else(Instant::now)), if when.is_some() => {}
        }
    }
}

/// Waits for a change; for ever when nobody can make one any more.
async fn changed<T>(receiver: &mut watch::Receiver<T>) {
    if receiver.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}
