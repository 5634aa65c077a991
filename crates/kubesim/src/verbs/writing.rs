//! The way of an object into the store, the same for clients and for the cluster's own
//! controllers.
//!
//! ```text
//! create: default ▸ track managers ▸ complete metadata ▸ prepare ▸ validate ▸ commit
//! update: change  ▸ default ▸ track managers ▸ keep what is kept ▸ prepare ▸ validate ▸ commit,
//!         or delete, when the last finalizer of a deleted object has gone
//! ```

use serde_json::Value;
use std::sync::Arc;

use crate::access::{self, User};
use crate::admission::{Act, Operation};
use crate::cluster::Cluster;
use crate::field_error::{FieldError, Path};
use crate::lifecycle::admit;
use crate::merge::{self, Writer};
use crate::meta;
use crate::registry::ResourceType;
use crate::status::ApiError;
use crate::store::{CommitError, Key, Object, ResourceId};
use crate::strategy::{Part, Surroundings};

/// How often a name is drawn before a collision is reported.
const NAME_DRAWS: usize = 8;

/// Who writes to which objects through which endpoint, and how.
pub(crate) struct Writing<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) resource: &'a ResourceType,
    /// Empty for the object itself.
    pub(crate) subresource: &'a str,
    pub(crate) manager: &'a str,
    pub(crate) dry_run: bool,
    /// Whose rights count.
    pub(crate) actor: &'a User,
}

/// What an update makes of an object.
pub(crate) enum Change {
    /// A new state, of which the managers are still to be worked out.
    Replaced(Value),
    /// A new state whose managers are right.
    Applied(Value),
}

impl Change {
    /// Drops what nobody but the server says of a new object; whether a sender named a revision,
    /// which an applier may.
    fn drop_what_the_server_sets(&mut self) -> bool {
        let (object, sent) = match self {
            Self::Replaced(object) => (object, true),
            Self::Applied(object) => (object, false),
        };
        let revised = !["", "0"].contains(&meta::text(object, "resourceVersion"));
        for field in [
            "resourceVersion",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "selfLink",
        ] {
            meta::remove(object, field);
        }
        revised && sent
    }
}

/// An object after a write.
pub(crate) struct Written {
    pub(crate) object: Object,
    pub(crate) created: bool,
    /// What the client is told of it.
    pub(crate) warnings: Vec<String>,
}

impl Writing<'_> {
    /// Creates an object in the namespace that it names.
    pub(crate) fn create(&self, object: Value) -> Result<Written, ApiError> {
        self.create_from(Change::Replaced(object))
    }

    fn create_from(&self, mut change: Change) -> Result<Written, ApiError> {
        let strategy = self.resource.strategy();
        let revised = change.drop_what_the_server_sets();
        let mut object = self.typed(None, change);
        admit::namespace_takes(self.cluster, self.resource, &object)?;
        let uid = self.cluster.ambient().random.uuid().to_string();
        meta::set(&mut object, "uid", uid);
        meta::set(&mut object, "creationTimestamp", self.cluster.timestamp());
        let act = self.act(Operation::Create, None);
        if act.mutate(&mut object)? {
            self.default(&mut object);
        }
        access::confirm(self.cluster, self.actor, self.resource, &object, None)?;
        let drawn = self.draw_name(&mut object);
        strategy.prepare_create(&mut object, self);
        self.refuse(&object, &strategy.validate_create(&object))?;
        act.validate(&object)?;
        if revised {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(ApiError::internal(message));
        }
        let warnings = strategy.warnings(&object, None);
        // Also somebody whose object is there already hears what is odd about the new one.
        let object = match self.commit_new(object, drawn) {
            Ok(object) => object,
            Err(refusal) => {
                return Err(ApiError {
                    warnings,
                    ..refusal
                });
            }
        };
        Ok(Written {
            warnings,
            object,
            created: true,
        })
    }

    /// The write as others see it who have a say in it.
    pub(super) fn act<'a>(&'a self, operation: Operation, old: Option<&'a Value>) -> Act<'a> {
        Act {
            cluster: self.cluster,
            actor: self.actor,
            dry_run: self.dry_run,
            resource: self.resource,
            subresource: self.subresource,
            operation,
            old,
        }
    }

    /// The object as it would be written, if it were.
    pub(super) fn unsaved(&self, object: Value) -> Value {
        self.typed(None, Change::Replaced(object))
    }

    /// Completes a name of which only the beginning was given; whether it was.
    fn draw_name(&self, object: &mut Value) -> bool {
        let prefix = meta::text(object, "generateName");
        if prefix.is_empty() || !meta::name(object).is_empty() {
            return false;
        }
        // The longest prefix that leaves room for the five characters.
        let end = prefix
            .char_indices()
            .nth(58)
            .map_or(prefix.len(), |(at, _)| at);
        let suffix = self.cluster.ambient().random.name_suffix();
        let name = format!("{}{suffix}", &prefix[..end]);
        meta::set(object, "name", name);
        true
    }

    fn is_taken(&self, object: &Value) -> bool {
        self.cluster
            .store()
            .get(&self.resource.stored, &meta::key(object))
            .is_some()
    }

    fn commit_new(&self, mut object: Value, drawn: bool) -> Result<Object, ApiError> {
        for _ in 1..NAME_DRAWS {
            if !(drawn && self.is_taken(&object)) {
                break;
            }
            meta::remove(&mut object, "name");
            self.draw_name(&mut object);
        }
        let key = meta::key(&object);
        let name = meta::name(&object).to_owned();
        if self.dry_run {
            return match self.cluster.store().get(&self.resource.stored, &key) {
                Some(there) => Err(self.exists(&name, &there)),
                None => Ok(Arc::new(object)),
            };
        }
        let created = self
            .cluster
            .store()
            .create(&self.resource.stored, &key, object);
        let created = created.map_err(|error| self.commit_error(&name, error))?;
        self.cluster
            .after_write(&self.resource.stored, &key, None, Some(&created));
        Ok(created)
    }

    /// Changes the object at `key`: `change` is given the live object, or nothing, as often as it
    /// takes to have the last word.
    pub(crate) fn update(
        &self,
        key: &Key,
        mut change: impl FnMut(Option<&Value>) -> Result<Change, ApiError>,
    ) -> Result<Written, ApiError> {
        loop {
            let Some(live) = self.cluster.store().get(&self.resource.stored, key) else {
                match self.create_from(change(None)?) {
                    // Somebody else was quicker; now there is something to change.
                    Err(error) if error.reason == "AlreadyExists" => continue,
                    created => return created,
                }
            };
            let change = change(Some(&live))?;
            if let Some(object) = self.update_once(key, &live, change)? {
                let strategy = self.resource.strategy();
                return Ok(Written {
                    warnings: strategy.warnings(&object, Some(&live)),
                    object,
                    created: false,
                });
            }
        }
    }

    /// One try; nothing when somebody else was quicker.
    fn update_once(
        &self,
        key: &Key,
        live: &Object,
        change: Change,
    ) -> Result<Option<Object>, ApiError> {
        let new = self.next_state(live, change)?;
        if new == **live {
            return Ok(Some(live.clone()));
        }
        if self.dry_run {
            return Ok(Some(Arc::new(new)));
        }
        if super::removal::is_due(self.resource, &new) {
            let gone =
                self.cluster
                    .store()
                    .delete(&self.resource.stored, key, meta::revision(live));
            return self.settle(key, live, gone.map(|_| None), || Arc::new(new));
        }
        let stored =
            self.cluster
                .store()
                .update(&self.resource.stored, key, meta::revision(live), new);
        self.settle(key, live, stored.map(Some), || live.clone())
    }

    /// Follows a commit up; `shown` is what a deletion answers.
    fn settle(
        &self,
        key: &Key,
        live: &Object,
        committed: Result<Option<Object>, CommitError>,
        shown: impl FnOnce() -> Object,
    ) -> Result<Option<Object>, ApiError> {
        match committed {
            Ok(after) => {
                self.cluster
                    .after_write(&self.resource.stored, key, Some(live), after.as_ref());
                Ok(Some(after.unwrap_or_else(shown)))
            }
            Err(CommitError::Changed(_) | CommitError::Missing | CommitError::Exists(_)) => {
                Ok(None)
            }
            Err(error) => Err(self.commit_error(key.name(), error)),
        }
    }

    /// The object that an update leads to, checked.
    fn next_state(&self, live: &Value, change: Change) -> Result<Value, ApiError> {
        let strategy = self.resource.strategy();
        let part = part(self.subresource);
        let mut new = self.typed(Some(live), change);
        self.check_revision(live, &mut new)?;
        let act = self.act(Operation::Update, Some(live));
        if act.mutate(&mut new)? {
            self.default(&mut new);
        }
        let finalizers = new["spec"].get("finalizers").cloned();
        meta::copy(&mut new, "generation", live);
        strategy.prepare_update(part, &mut new, live, self);
        keep_metadata(live, &mut new);
        if self.subresource == "finalize" {
            new["spec"]["finalizers"] = finalizers.unwrap_or_else(|| Value::Array(Vec::new()));
        }
        access::confirm(self.cluster, self.actor, self.resource, &new, Some(live))?;
        self.refuse(&new, &strategy.validate_update(part, &new, live))?;
        act.validate(&new)?;
        merge::keep_times(live, &mut new);
        Ok(new)
    }

    /// A write that names a revision must name the live one.
    fn check_revision(&self, live: &Value, new: &mut Value) -> Result<(), ApiError> {
        let named = meta::text(new, "resourceVersion");
        if named.is_empty() || named == "0" {
            if !self.resource.updates_unconditionally() {
                return Err(self.revision_missing(live));
            }
            meta::copy(new, "resourceVersion", live);
        } else if named.parse::<u64>().is_err() {
            let message = format!("strconv.ParseUint: parsing {named:?}: invalid syntax");
            return Err(ApiError::internal(message));
        } else if named != meta::text(live, "resourceVersion") {
            return Err(ApiError::stale(&self.resource.id, meta::name(live)));
        }
        Ok(())
    }

    /// This one refusal names the resource where others name the kind.
    fn revision_missing(&self, live: &Value) -> ApiError {
        let metadata = Path::field("metadata");
        let at = metadata.child("resourceVersion");
        let error = FieldError::invalid(&at, 0, "must be specified for an update");
        let ResourceId { group, plural } = &self.resource.id;
        ApiError::invalid(group, plural, meta::name(live), &[error])
    }

    fn refuse(&self, object: &Value, errors: &[FieldError]) -> Result<(), ApiError> {
        if errors.is_empty() {
            return Ok(());
        }
        let name = match meta::name(object) {
            "" => meta::text(object, "generateName"),
            name => name,
        };
        Err(ApiError::invalid(
            &self.resource.id.group,
            &self.resource.kind,
            name,
            errors,
        ))
    }

    /// The new state with its defaults and its managers. What is sent is defaulted first, so the
    /// sender manages the defaults too; what is applied is merged first, so nobody does.
    fn typed(&self, live: Option<&Value>, change: Change) -> Value {
        match change {
            Change::Replaced(mut object) => {
                self.default(&mut object);
                self.track(live, object)
            }
            Change::Applied(mut object) => {
                self.default(&mut object);
                object
            }
        }
    }

    /// Gives the object its defaults. What it says of its managers is no part of that: an empty
    /// list there has a meaning.
    fn default(&self, object: &mut Value) {
        let managers = meta::take(object, "managedFields");
        self.resource.strategy().default(object);
        if let Some(managers) = managers {
            meta::set(object, "managedFields", managers);
        }
    }

    fn track(&self, live: Option<&Value>, new: Value) -> Value {
        let schema = self.resource.schema();
        let reset = self.resource.reset_fields(self.subresource);
        merge::track(live, new, &schema, &self.writer(), reset)
    }

    /// Who writes, for the record of managers.
    pub(super) fn writer(&self) -> Writer<'_> {
        Writer {
            manager: self.manager,
            api_version: &self.resource.api_version,
            subresource: self.subresource,
            time: self.cluster.ambient().clock.now(),
        }
    }

    fn exists(&self, name: &str, there: &Value) -> ApiError {
        match meta::is_deleting(there) {
            true => ApiError::still_exists(&self.resource.id, name),
            false => ApiError::already_exists(&self.resource.id, name),
        }
    }

    pub(super) fn commit_error(&self, name: &str, error: CommitError) -> ApiError {
        match error {
            CommitError::Exists(there) => self.exists(name, &there),
            CommitError::Missing => ApiError::not_found(&self.resource.id, name),
            CommitError::Changed(_) => ApiError::stale(&self.resource.id, name),
            CommitError::File(why) => ApiError::internal(format!("keep the change: {why}")),
        }
    }
}

impl Surroundings for Writing<'_> {
    fn objects(&self, group: &str, resource: &str) -> Vec<Arc<Value>> {
        let id = ResourceId::new(group, resource);
        self.cluster
            .store()
            .snapshot(&id)
            .objects
            .values()
            .cloned()
            .collect()
    }
}

/// What no update changes.
fn keep_metadata(live: &Value, new: &mut Value) {
    if meta::uid(new).is_empty() {
        meta::copy(new, "uid", live);
    }
    meta::copy(new, "creationTimestamp", live);
    meta::copy(new, "deletionTimestamp", live);
    if new["metadata"]["deletionGracePeriodSeconds"].is_null() {
        meta::copy(new, "deletionGracePeriodSeconds", live);
    }
    meta::remove(new, "selfLink");
}

/// The part of an object that an endpoint writes.
fn part(subresource: &str) -> Part {
    match subresource {
        "status" => Part::Status,
        _ => Part::Main,
    }
}
