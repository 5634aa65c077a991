//! Who manages what after a create, an update or a patch.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::ResetFields;
use super::check::TypeErrors;
use super::compare::{Changes, compare};
use super::managers::{Entry, Identity, Managers, Operation};
use super::set::FieldSet;
use crate::meta;
use crate::schema::Schema;

/// Who writes, through which door, and when.
#[derive(Debug, Clone, Copy)]
pub struct Writer<'a> {
    /// The name of the field manager; empty counts as `unknown`.
    pub manager: &'a str,
    /// The version of the API that the write used (`apps/v1`).
    pub api_version: &'a str,
    /// The subresource that was written to; empty for the object itself.
    pub subresource: &'a str,
    /// The moment of the write.
    pub time: Timestamp,
}

impl Writer<'_> {
    fn updater(&self) -> Identity {
        let manager = if self.manager.is_empty() {
            "unknown"
        } else {
            self.manager
        };
        Identity {
            manager: manager.to_owned(),
            operation: Operation::Update {
                api_version: self.api_version.to_owned(),
            },
            subresource: self.subresource.to_owned(),
        }
    }
}

/// The new object with its managers brought up to date: the writer takes over whatever it
/// changed. `live` is nothing for a create. Managers that the client sent are believed (except
/// through a subresource); an empty list of them ends the tracking until the next apply.
pub fn track(
    live: Option<&Value>,
    mut new: Value,
    schema: &Schema,
    writer: &Writer<'_>,
    reset: &ResetFields,
) -> Value {
    let sent = meta::take(&mut new, "managedFields").filter(|sent| !sent.is_null());
    let recorded = live.and_then(|live| live.get("metadata")?.get("managedFields"));
    let sent = sent.filter(|sent| writer.subresource.is_empty() && Some(sent) != recorded);
    if live.is_some() && recorded.is_none() && sent.is_none() {
        return new;
    }
    let Ok(changes) = changes(live, &new, schema, reset) else {
        return new;
    };
    if let (true, None, Some(recorded)) = (changes.is_empty(), &sent, recorded) {
        meta::set(&mut new, "managedFields", recorded.clone());
        return new;
    }
    let mut managers = believed_managers(sent.as_ref(), recorded);
    if live.is_some() && managers.is_empty() {
        return new;
    }
    managers.record(changes, writer);
    managers.write(&mut new);
    new
}

/// The managers of an object of which none were recorded: the writer for everything.
pub(super) fn first_managers(
    object: &Value,
    schema: &Schema,
    writer: &Writer<'_>,
    reset: &ResetFields,
) -> Result<Managers, TypeErrors> {
    let mut managers = Managers::default();
    managers.record(changes(None, object, schema, reset)?, writer);
    Ok(managers)
}

fn changes(
    live: Option<&Value>,
    new: &Value,
    schema: &Schema,
    reset: &ResetFields,
) -> Result<Changes, TypeErrors> {
    let empty = Value::Object(Map::new());
    let found = compare(schema, live.unwrap_or(&empty), new)?;
    let relevant = |set: FieldSet| reset.filter(set).without_identity();
    Ok(Changes {
        removed: relevant(found.removed),
        modified: relevant(found.modified),
        added: relevant(found.added),
    })
}

/// What the client sent, if it can be read and says something; else what the object had.
fn believed_managers(sent: Option<&Value>, recorded: Option<&Value>) -> Managers {
    if sent.is_some_and(is_reset) {
        return Managers::default();
    }
    let read = |fields: &Value| {
        Managers::decode(fields)
            .ok()
            .filter(|found| !found.is_empty())
    };
    sent.and_then(read)
        .or_else(|| recorded.and_then(read))
        .unwrap_or_default()
}

/// `[]` and `[{}]` ask to forget who manages what.
fn is_reset(sent: &Value) -> bool {
    match sent.as_array().map(Vec::as_slice) {
        Some([]) => true,
        Some([Value::Object(entry)]) => entry.is_empty(),
        _ => false,
    }
}

impl Managers {
    /// The writer takes what it changed from everybody, itself included, and adds it to its own.
    fn record(&mut self, changes: Changes, writer: &Writer<'_>) {
        let identity = writer.updater();
        self.take(&changes.removed);
        let written = changes.written();
        self.take(&written);
        if !written.is_empty() {
            let (before, last) = self
                .get(&identity)
                .map(|entry| (entry.fields.clone(), entry.time))
                .unwrap_or_default();
            // The real server does not stamp what is written through the scale.
            let time = if writer.subresource == "scale" {
                last
            } else {
                Some(writer.time)
            };
            self.put(Entry {
                identity,
                api_version: writer.api_version.to_owned(),
                fields: before.union(written),
                time,
            });
        }
        self.cap();
    }
}

/// Gives the managers of `new` their former times if nothing but times changed, so that a write
/// that changes nothing is seen as one. Call it last, when the object is complete.
pub fn keep_times(live: &Value, new: &mut Value) {
    let recorded = &live["metadata"]["managedFields"];
    if *recorded == new["metadata"]["managedFields"]
        || !same_but_times(recorded, &new["metadata"]["managedFields"])
    {
        return;
    }
    let Some(sent) = meta::take(new, "managedFields") else {
        return;
    };
    let unchanged = equal_without_managed_fields(live, new);
    meta::set(
        new,
        "managedFields",
        if unchanged { recorded.clone() } else { sent },
    );
}

fn same_but_times(old: &Value, new: &Value) -> bool {
    let (Some(old), Some(new)) = (old.as_array(), new.as_array()) else {
        return false;
    };
    let timeless = |entry: &Value| {
        let mut entry = entry.clone();
        if let Some(entry) = entry.as_object_mut() {
            entry.remove("time");
        }
        entry
    };
    old.len() == new.len()
        && old
            .iter()
            .zip(new)
            .all(|(old, new)| timeless(old) == timeless(new))
}

/// `new` has no managers any more.
fn equal_without_managed_fields(live: &Value, new: &Value) -> bool {
    let (Some(live), Some(new)) = (live.as_object(), new.as_object()) else {
        return false;
    };
    live.len() == new.len()
        && live
            .iter()
            .all(|(name, value)| match (value, new.get(name)) {
                (Value::Object(old), Some(Value::Object(new))) if name == "metadata" => {
                    old.len() == new.len() + 1
                        && old.iter().all(|(name, value)| {
                            name == "managedFields" || new.get(name) == Some(value)
                        })
                }
                (value, other) => other == Some(value),
            })
}
