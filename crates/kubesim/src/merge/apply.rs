//! Server-side apply: the intent laid over the live object.

use serde_json::{Map, Value};

use super::check::{TypeErrors, check};
use super::combine::combine;
use super::compare::compare;
use super::conflict::Conflicts;
use super::managers::{Entry, Identity, Managers, ManagersError, Operation};
use super::prune::prune;
use super::set::FieldSet;
use super::track::{self, Writer};
use super::{ResetFields, owned, scalar};
use crate::schema::Schema;

/// The manager of fields that nobody had been recorded for.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Why an object cannot be applied. The texts are those of the replies.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The intent must not speak of who manages what (400).
    #[error("metadata.managedFields must be nil")]
    ManagedFieldsGiven,
    /// The live object's managers are unreadable (500).
    #[error("failed to decode managed fields: {0}")]
    Managers(String),
    /// The intent does not fit its type (500, without a reason).
    #[error("failed to create typed patch object ({object}): {errors}")]
    Intent {
        /// Namespace, name and kind.
        object: String,
        /// What does not fit.
        errors: TypeErrors,
    },
    /// The live object does not fit its type (500, without a reason).
    #[error("failed to create typed live object ({object}): {errors}")]
    Live {
        /// Namespace, name and kind.
        object: String,
        /// What does not fit.
        errors: TypeErrors,
    },
    /// Others manage fields that the intent wants otherwise (409).
    #[error("{0}")]
    Conflicts(Conflicts),
}

impl From<ManagersError> for ApplyError {
    fn from(error: ManagersError) -> Self {
        Self::Managers(error.to_string())
    }
}

/// The live object (nothing when the apply creates it) with the intent laid over it and what this
/// manager no longer says removed, unless somebody else manages it. Nulls that the intent sets
/// stay in the result; the caller drops or refuses them as it does for any other write.
pub fn apply(
    live: Option<&Value>,
    intent: &Value,
    schema: &Schema,
    writer: &Writer<'_>,
    reset: &ResetFields,
    force: bool,
) -> Result<Value, ApplyError> {
    if !intent["metadata"]["managedFields"].is_null() {
        return Err(ApplyError::ManagedFieldsGiven);
    }
    check(schema, intent).map_err(|errors| ApplyError::Intent {
        object: described(intent),
        errors,
    })?;
    let empty = Value::Object(Map::new());
    let base = live.unwrap_or(&empty);
    let in_live = |errors| ApplyError::Live {
        object: described(base),
        errors,
    };

    let merged = combine(schema, base, intent).map_err(in_live)?;
    let fields = reset.filter(owned::fields(schema, intent));
    let identity = Identity {
        manager: writer.manager.to_owned(),
        operation: Operation::Apply,
        subresource: writer.subresource.to_owned(),
    };
    if scalar::same(base, &merged) && Managers::has(base, &identity, writer.api_version, &fields) {
        return Ok(merged);
    }

    let mut managers = existing_managers(base, schema, writer, reset)?;
    let last = managers.get(&identity).cloned();
    managers.put(Entry {
        identity: identity.clone(),
        api_version: writer.api_version.to_owned(),
        fields: fields.clone(),
        time: last.as_ref().and_then(|last| last.time),
    });
    let last_fields = last.map_or_else(FieldSet::default, |last| last.fields);
    let mut new = prune(schema, merged, &last_fields, &fields, || {
        managers.all_fields()
    });

    let changes = compare(schema, base, &new).map_err(in_live)?;
    let removed = reset.filter(changes.removed);
    let written = reset.filter(changes.modified.union(changes.added));
    if !force {
        refuse_conflicts(&managers, &identity, &written)?;
    }
    managers.take_from_others(&identity, &written);
    managers.take_from_others(&identity, &removed);
    managers.settle(
        &identity,
        (!scalar::same(base, &new)).then_some(writer.time),
    );
    managers.write(&mut new);
    Ok(new)
}

fn refuse_conflicts(
    managers: &Managers,
    identity: &Identity,
    written: &FieldSet,
) -> Result<(), ApplyError> {
    let mut conflicts = Conflicts::default();
    for entry in managers.others(identity) {
        conflicts.add(&entry.identity, &entry.fields.intersection(written));
    }
    if conflicts.is_empty() {
        Ok(())
    } else {
        Err(ApplyError::Conflicts(conflicts))
    }
}

/// The managers of an object; where none are recorded, one for all that is there.
fn existing_managers(
    live: &Value,
    schema: &Schema,
    writer: &Writer<'_>,
    reset: &ResetFields,
) -> Result<Managers, ApplyError> {
    let managers = Managers::of(live)?;
    if !managers.is_empty() {
        return Ok(managers);
    }
    let unknown = Writer {
        manager: BEFORE_FIRST_APPLY,
        ..*writer
    };
    track::first_managers(live, schema, &unknown, reset).map_err(|errors| ApplyError::Live {
        object: described(live),
        errors,
    })
}

/// `namespace/name; group/version, Kind=kind`, as the replies name an object.
fn described(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &object["metadata"];
    let api_version = text(&object["apiVersion"]);
    let separator = if api_version.contains('/') { "" } else { "/" };
    format!(
        "{}/{}; {separator}{api_version}, Kind={}",
        text(&metadata["namespace"]),
        text(&metadata["name"]),
        text(&object["kind"])
    )
}
