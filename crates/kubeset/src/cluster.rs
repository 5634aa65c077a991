//! One cluster as one process uses it: the client, what it serves, and the view that all sets
//! share.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use evenkeel_ambient::{SharedClock, SharedRandom};
use evenkeel_reconcile::RetryPolicy;
use kube::Client;

use crate::bells::Touched;
use crate::calls::Calls;
use crate::discovery::{Discovery, Kinds};
use crate::error::Error;
use crate::key::{GroupKind, ObjectKey};
use crate::owner::{Owner, Parent, Whose};
use crate::resource::Resource;
use crate::set::Set;
use crate::shelf::Shelf;
use crate::sweep::Sweep;
use crate::view::View;

/// How sets are kept in a cluster.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The one name under which fields are owned. Changing it orphans the fields of the old name.
    pub manager: String,
    /// The key of the label and of the annotation that name the owner of an object.
    pub owner_key: String,
    /// The namespace that holds the inventories; it exists.
    pub inventory_namespace: String,
    /// The kinds that sets of parents may hold. They are followed from the first such set on, also
    /// while no parent wants any: what carries the label is all that says what exists.
    pub child_kinds: BTreeSet<GroupKind>,
    /// The only namespaces that are looked at, for whoever may look at no others; all if none is
    /// named.
    pub namespaces: Vec<String>,
    /// How many requests of one set may be under way at once.
    pub parallel: NonZeroUsize,
    /// How long to wait for a first list, or for a definition to be served.
    pub patience: Duration,
    /// How to repeat requests while the server is busy.
    pub retry: RetryPolicy,
    /// How often every kind is listed although its watch goes on, so that an event that got lost on
    /// the way is made up for; never if nothing is said.
    pub survey: Option<RetryPolicy>,
}

impl Default for Settings {
    fn default() -> Self {
        const EIGHT: NonZeroUsize = NonZeroUsize::new(8).expect("not zero");
        Self {
            manager: "evenkeel".to_owned(),
            owner_key: "evenkeel.io/set".to_owned(),
            inventory_namespace: "kube-system".to_owned(),
            namespaces: Vec::new(),
            child_kinds: BTreeSet::new(),
            parallel: EIGHT,
            patience: Duration::from_secs(30),
            retry: RetryPolicy::CALLS,
            survey: None,
        }
    }
}

impl Settings {
    /// Where the objects of a kind are looked for: everywhere at once, or in each namespace.
    pub(crate) fn places(&self, resource: &Resource) -> Vec<Option<String>> {
        match self.namespaces.as_slice() {
            named @ [_, ..] if resource.namespaced => named.iter().cloned().map(Some).collect(),
            _ => vec![None],
        }
    }
}

/// One cluster. Clones share it.
#[derive(Debug, Clone)]
pub struct Cluster(pub(crate) Arc<Shared>);

/// What all sets of one process share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) calls: Calls,
    pub(crate) discovery: Discovery,
    pub(crate) view: View,
    pub(crate) clock: SharedClock,
    /// What was found when the first inventory was missing.
    pub(crate) sweep: tokio::sync::Mutex<Option<Arc<Sweep>>>,
    /// Which set is about to take which objects from others.
    moves: Mutex<BTreeMap<ObjectKey, Owner>>,
}

impl Cluster {
    /// The cluster that `client` speaks to. The client must not repeat requests of its own accord
    /// (`Config::default_retry = false`): it knows less than we do of what may be sent twice.
    pub fn new(client: Client, settings: Settings, clock: SharedClock, dice: SharedRandom) -> Self {
        let calls = Calls {
            client,
            manager: settings.manager.clone(),
            retry: settings.retry,
            dice,
        };
        Self(Arc::new(Shared {
            view: View::new(calls.clone(), settings.owner_key.clone(), settings.survey),
            settings,
            calls,
            discovery: Discovery::default(),
            clock,
            sweep: tokio::sync::Mutex::default(),
            moves: Mutex::default(),
        }))
    }

    /// The set of `owner`. A process has one `Set` for each owner.
    pub fn set(&self, owner: Owner) -> Set {
        Set::new(self.clone(), Whose::Named(owner))
    }

    /// The children of `parent`. All such sets share the same watches, so one more costs no
    /// request; kept as long as its parent exists, it remembers what others do to its objects.
    pub fn children(&self, parent: Parent) -> Set {
        Set::new(self.clone(), Whose::Child(parent))
    }

    /// Hears whose objects somebody else changes, for all sets at once.
    pub fn touched(&self) -> Touched {
        self.0.view.bells().everything()
    }
}

impl Shared {
    /// The kind in this version or the preferred one, asking the server again if it is unknown.
    pub(crate) async fn find(
        &self,
        kind: &GroupKind,
        version: Option<&str>,
    ) -> Result<Option<Arc<Resource>>, Error> {
        let known = self.discovery.kinds(&self.calls).await?;
        if let Some(resource) = known.find(kind, version) {
            return Ok(Some(resource.clone()));
        }
        let known = self.discovery.refresh(&self.calls).await?;
        match known.find(kind, version) {
            None if known.is_broken(&kind.group) => Err(Error::BrokenGroup {
                group: kind.group.clone(),
            }),
            found => Ok(found.cloned()),
        }
    }

    pub(crate) async fn kinds(&self) -> Result<Arc<Kinds>, Error> {
        self.discovery.kinds(&self.calls).await
    }

    /// The objects of a kind; nothing when nobody serves it, so that none can exist.
    pub(crate) async fn shelf(&self, kind: &GroupKind) -> Result<Vec<Arc<Shelf>>, String> {
        let found = self.find(kind, None).await;
        match found.map_err(|error| error.to_string())? {
            Some(resource) => {
                let places = self.settings.places(&resource);
                self.view
                    .of(&resource, places, self.settings.patience)
                    .await
            }
            None => Ok(Vec::new()),
        }
    }

    /// The same, listed at this moment.
    pub(crate) async fn shelf_anew(&self, kind: &GroupKind) -> Result<Vec<Arc<Shelf>>, String> {
        let shelves = self.shelf(kind).await?;
        for shelf in &shelves {
            let listed = self.view.relist(shelf).await;
            listed.map_err(|error| error.to_string())?;
        }
        Ok(shelves)
    }

    /// Says that `owner` is about to take these from others.
    pub(crate) fn announce<'k>(&self, owner: &Owner, keys: impl Iterator<Item = &'k ObjectKey>) {
        let announced = keys.map(|key| (key.clone(), owner.clone()));
        lock(&self.moves).extend(announced);
    }

    /// Says that `owner` has what it wanted to take.
    pub(crate) fn arrived(&self, owner: &Owner) {
        lock(&self.moves).retain(|_, to| to != owner);
    }

    /// Whether another set than `owner` is about to take `key`.
    pub(crate) fn is_leaving_for_another(&self, owner: &Owner, key: &ObjectKey) -> bool {
        lock(&self.moves).get(key).is_some_and(|to| to != owner)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
