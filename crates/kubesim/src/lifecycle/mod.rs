//! The controllers that a cluster cannot do without: namespaces and what belongs in them, custom
//! resource definitions, and garbage collection by owner references.
//!
//! ```text
//! write ──▶ after_write ──▶ queue ──▶ step: namespaces, custom, garbage ──▶ more writes
//! ```
//!
//! They run on the thread of the write that gave them work, before it is answered, or only when a
//! test steps them; either way in one order, one at a time.

pub(crate) mod admit;
pub(crate) mod custom;
mod founding;
mod garbage;
pub(crate) mod namespaces;
mod owners;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::access;
use crate::cluster::{Cluster, Pace};
use crate::meta;
use crate::registry::ResourceType;
use crate::store::{Key, Object, ResourceId};
use crate::verbs::Writing;
use crate::workloads::{self, Agenda};
use owners::Owners;

/// The name under which the controllers write.
const MANAGER: &str = "kube-controller-manager";
/// The name under which the API server itself writes.
const SERVER: &str = "kube-apiserver";

/// What the controllers of one cluster have to do.
#[derive(Debug)]
pub(crate) struct Housekeeping {
    pace: Pace,
    queue: Mutex<VecDeque<Happening>>,
    /// Happenings that are queued or being dealt with.
    open: AtomicUsize,
    working: Mutex<()>,
    owners: Owners,
}

/// One write that a controller may have to follow up.
#[derive(Debug)]
struct Happening {
    resource: ResourceId,
    key: Key,
    before: Option<Object>,
    after: Option<Object>,
}

impl Housekeeping {
    pub(crate) fn new(pace: Pace) -> Self {
        Self {
            pace,
            queue: Mutex::default(),
            open: AtomicUsize::new(0),
            working: Mutex::default(),
            owners: Owners::default(),
        }
    }

    fn push(&self, happening: Happening) {
        self.open.fetch_add(1, Ordering::SeqCst);
        lock(&self.queue).push_back(happening);
    }

    fn pop(&self) -> Option<Happening> {
        lock(&self.queue).pop_front()
    }
}

impl Cluster {
    /// Takes note of a write. Most writes give nobody work.
    pub(crate) fn after_write(
        &self,
        resource: &ResourceId,
        key: &Key,
        before: Option<&Object>,
        after: Option<&Object>,
    ) {
        workloads::notice(self, resource, key, before, after);
        let house = self.housekeeping();
        if let Some(after) = after {
            house.owners.note(resource, key, after);
        }
        let happening = Happening {
            resource: resource.clone(),
            key: key.clone(),
            before: before.cloned(),
            after: after.cloned(),
        };
        if happening.gives_work() {
            house.push(happening);
        }
    }

    /// Lets the controllers work until there is nothing left to do.
    pub fn settle(&self) {
        while self.step() {}
    }

    /// Lets the controllers follow up one write; whether there was one.
    pub fn step(&self) -> bool {
        let house = self.housekeeping();
        let due = self.agenda().is_some_and(Agenda::is_due);
        if house.open.load(Ordering::SeqCst) == 0 && !due {
            return false;
        }
        let _alone = lock(&house.working);
        let Some(happening) = house.pop() else {
            return workloads::step(self);
        };
        namespaces::react(self, &happening);
        custom::react(self, &happening);
        garbage::react(self, &happening);
        if self.rights().is_some() {
            access::aggregate(self, &happening.resource);
        }
        house.open.fetch_sub(1, Ordering::SeqCst);
        true
    }

    /// Settles, unless a test wants to step.
    pub(crate) fn settle_at_its_pace(&self) {
        if self.housekeeping().pace == Pace::AfterEveryWrite {
            self.settle();
            if let Some(agenda) = self.agenda() {
                agenda.set_alarm(self);
            }
        }
    }
}

impl Happening {
    fn gives_work(&self) -> bool {
        let Some(after) = &self.after else {
            return true;
        };
        let owned = |object: &Object| !meta::owners(object).is_empty();
        &*self.resource.plural == "clusterroles"
            || namespaces::is_namespace(&self.resource)
            || custom::is_definition(&self.resource)
            || meta::is_deleting(after)
            || owned(after)
            || self.before.as_ref().is_some_and(owned)
    }
}

/// Writing as a controller.
pub(crate) fn writing<'a>(
    cluster: &'a Cluster,
    resource: &'a ResourceType,
    subresource: &'a str,
) -> Writing<'a> {
    Writing {
        cluster,
        resource,
        subresource,
        manager: MANAGER,
        dry_run: false,
        actor: cluster.controller(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
