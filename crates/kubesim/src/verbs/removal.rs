//! The way of an object out of the store: at once, or marked as deleted until its finalizers
//! are gone.

use std::sync::Arc;

use jiff::ToSpan as _;
use serde_json::Value;

use super::writing::Writing;
use crate::admission::Operation;
use crate::lifecycle::{admit, custom, namespaces};
use crate::meta;
use crate::registry::ResourceType;
use crate::request::{DeleteOptions, Propagation};
use crate::status::ApiError;
use crate::store::{CommitError, Key, Object, ResourceId, Revision};

/// The finalizer of an object whose dependents go first.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object whose dependents are to be set free.
pub(crate) const ORPHAN: &str = "orphan";

/// What became of a deletion.
pub(crate) enum Removed {
    /// The object is gone; this is what it was, and the revision of its end.
    Gone(Object, Revision),
    /// The object stays, marked, until something else happens.
    Pending(Object),
}

/// Whether an object has nothing left to wait for.
pub(super) fn is_due(resource: &ResourceType, object: &Value) -> bool {
    let graceful = object["metadata"]["deletionGracePeriodSeconds"]
        .as_i64()
        .is_some_and(|n| n > 0);
    let held = resource.is("", "namespaces")
        && !meta::strings(object["spec"].get("finalizers")).is_empty();
    meta::is_deleting(object) && meta::finalizers(object).is_empty() && !graceful && !held
}

impl Writing<'_> {
    /// Deletes the object at `key`.
    pub(crate) fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<Removed, ApiError> {
        loop {
            let live = self.cluster.store().get(&self.resource.stored, key);
            let live = live.ok_or_else(|| ApiError::not_found(&self.resource.id, key.name()))?;
            admit::deletion(self.resource, &live)?;
            self.check_preconditions(&live, options)?;
            self.act(Operation::Delete, Some(&live))
                .validate_deletion()?;
            let removed = match self.marked(&live, options) {
                Some(marked) => self.mark(key, &live, marked)?,
                None => self.remove(key, &live)?,
            };
            if let Some(removed) = removed {
                return Ok(removed);
            }
        }
    }

    /// Writes the mark, and removes what has nothing left to wait for; nothing when somebody else
    /// was quicker.
    fn mark(&self, key: &Key, live: &Object, marked: Value) -> Result<Option<Removed>, ApiError> {
        if marked == **live {
            return Ok(Some(Removed::Pending(live.clone())));
        }
        if self.dry_run {
            return Ok(Some(Removed::Pending(Arc::new(marked))));
        }
        let revision = meta::revision(live);
        match self
            .cluster
            .store()
            .update(&self.resource.stored, key, revision, marked)
        {
            Ok(after) => {
                let stored = &self.resource.stored;
                self.cluster
                    .after_write(stored, key, Some(live), Some(&after));
                // The mark is this deletion's own: a revision that the client named was met before it.
                match is_due(self.resource, &after) {
                    true => self.remove(key, &after),
                    false => Ok(Some(Removed::Pending(after))),
                }
            }
            Err(CommitError::Changed(_)) => Ok(None),
            Err(error) => Err(self.commit_error(key.name(), error)),
        }
    }

    /// Takes the object out of the store; nothing when somebody else was quicker.
    fn remove(&self, key: &Key, live: &Object) -> Result<Option<Removed>, ApiError> {
        let revision = meta::revision(live);
        if self.dry_run {
            return Ok(Some(Removed::Gone(live.clone(), revision)));
        }
        match self
            .cluster
            .store()
            .delete(&self.resource.stored, key, revision)
        {
            Ok(end) => {
                self.cluster
                    .after_write(&self.resource.stored, key, Some(live), None);
                Ok(Some(Removed::Gone(live.clone(), end)))
            }
            Err(CommitError::Changed(_)) => Ok(None),
            Err(error) => Err(self.commit_error(key.name(), error)),
        }
    }

    fn check_preconditions(&self, live: &Value, options: &DeleteOptions) -> Result<(), ApiError> {
        let wanted = &options.preconditions;
        let (uid, revision) = (meta::uid(live), meta::text(live, "resourceVersion"));
        if let Some(wanted) = wanted.uid.as_deref().filter(|wanted| *wanted != uid) {
            let again = "The object might have been deleted and then recreated";
            return Err(self.unmet(live, "UID", wanted, uid, again));
        }
        let wanted = wanted.resource_version.as_deref();
        if let Some(wanted) = wanted.filter(|wanted| *wanted != revision) {
            let again = "The object might have been modified";
            return Err(self.unmet(live, "ResourceVersion", wanted, revision, again));
        }
        Ok(())
    }

    /// Two resources have words of their own; the others name the kind, not the resource.
    fn unmet(&self, live: &Value, what: &str, wanted: &str, found: &str, again: &str) -> ApiError {
        let name = meta::name(live);
        if self.resource.is("", "namespaces") || custom::is_definition(&self.resource.stored) {
            let why = format!(
                "Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
            );
            return ApiError::conflict(&self.resource.id, name, &why);
        }
        let kind = ResourceId::new(&self.resource.id.group, &self.resource.kind);
        let why = format!(
            "the {what} in the precondition ({wanted}) does not match the {what} in record \
             ({found}). {again}"
        );
        ApiError::conflict(&kind, name, &why)
    }

    /// The object as its deletion leaves it; nothing when it goes at once.
    fn marked(&self, live: &Value, options: &DeleteOptions) -> Option<Value> {
        let now = self.cluster.timestamp();
        let mut marked = live.clone();
        if !meta::is_deleting(live) {
            if self.resource.is("", "namespaces") {
                namespaces::terminate(&mut marked, &now);
                return Some(marked);
            }
            if custom::is_definition(&self.resource.stored) {
                custom::terminate(&mut marked, &now);
                return Some(marked);
            }
        }
        meta::set_finalizers(&mut marked, &self.finalizers(live, options));
        if !self.mark_graceful(&mut marked, options) {
            delete_now(&mut marked, &now);
        }
        // Pods are marked before they go, even when they go at once.
        let at_once = !self.resource.is("", "pods") || marked == *live;
        (!(at_once && is_due(self.resource, &marked))).then_some(marked)
    }

    /// The finalizers that the wish for the dependents asks for.
    fn finalizers<'o>(&self, live: &'o Value, options: &DeleteOptions) -> Vec<&'o str> {
        let mut finalizers = meta::finalizers(live);
        let had = |name: &str| finalizers.contains(&name);
        let propagation =
            options
                .propagation
                .unwrap_or_else(|| match (had(ORPHAN), had(FOREGROUND)) {
                    (true, _) => Propagation::Orphan,
                    (_, true) => Propagation::Foreground,
                    _ if self.resource.orphans_by_default() => Propagation::Orphan,
                    _ => Propagation::Background,
                });
        finalizers.retain(|name| ![ORPHAN, FOREGROUND].contains(name));
        match propagation {
            Propagation::Orphan => finalizers.push(ORPHAN),
            Propagation::Foreground => finalizers.push(FOREGROUND),
            Propagation::Background => {}
        }
        finalizers
    }

    /// Pods on a node get time to end; whether this one does.
    fn mark_graceful(&self, object: &mut Value, options: &DeleteOptions) -> bool {
        if !self.resource.is("", "pods") || !may_be_running(object) {
            return false;
        }
        let before = object["metadata"]["deletionGracePeriodSeconds"].as_i64();
        let default = before.or_else(|| object["spec"]["terminationGracePeriodSeconds"].as_i64());
        let asked = options
            .grace_seconds
            .or(default)
            .unwrap_or(30)
            .clamp(0, 1 << 32);
        let granted = before.map_or(asked, |before| before.min(asked));
        if granted == 0 || (meta::is_deleting(object) && before == Some(granted)) {
            return granted > 0;
        }
        if !meta::is_deleting(object) {
            meta::next_generation(object);
        }
        let end = self
            .cluster
            .ambient()
            .clock
            .now()
            .saturating_add(granted.seconds());
        let end = end
            .unwrap_or(jiff::Timestamp::MAX)
            .strftime("%Y-%m-%dT%H:%M:%SZ")
            .to_string();
        meta::set(object, "deletionTimestamp", end);
        meta::set(object, "deletionGracePeriodSeconds", granted);
        true
    }
}

/// Whether a pod has been given to a node and has not ended.
fn may_be_running(pod: &Value) -> bool {
    let phase = pod["status"]["phase"].as_str().unwrap_or_default();
    let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
    !node.is_empty() && !["Failed", "Succeeded"].contains(&phase)
}

/// Marks an object as deleted without grace.
fn delete_now(object: &mut Value, now: &str) {
    if object["metadata"]["deletionGracePeriodSeconds"].is_null() {
        meta::next_generation(object);
    }
    if !meta::is_deleting(object) {
        meta::set(object, "deletionTimestamp", now);
    }
    meta::set(object, "deletionGracePeriodSeconds", 0);
}
