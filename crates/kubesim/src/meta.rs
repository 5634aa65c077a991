//! What every object has: reading and writing `metadata`.

use serde_json::{Map, Value};

use crate::store::Key;

/// The text at `metadata.{field}`; empty when absent.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object
        .get("metadata")
        .and_then(|metadata| metadata.get(field))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The object's name.
pub(crate) fn name(object: &Value) -> &str {
    text(object, "name")
}

/// The object's namespace; empty outside namespaces.
pub(crate) fn namespace(object: &Value) -> &str {
    text(object, "namespace")
}

/// The object's uid.
pub(crate) fn uid(object: &Value) -> &str {
    text(object, "uid")
}

/// The object's revision.
pub(crate) fn revision(object: &Value) -> u64 {
    text(object, "resourceVersion").parse().unwrap_or_default()
}

/// The object's place in the store.
pub(crate) fn key(object: &Value) -> Key {
    let namespace = namespace(object);
    Key::new((!namespace.is_empty()).then_some(namespace), name(object))
}

/// Whether somebody has asked for its deletion.
pub(crate) fn is_deleting(object: &Value) -> bool {
    !text(object, "deletionTimestamp").is_empty()
}

/// What must happen before the object may go.
pub(crate) fn finalizers(object: &Value) -> Vec<&str> {
    strings(
        object
            .get("metadata")
            .and_then(|metadata| metadata.get("finalizers")),
    )
}

/// The texts of a list.
pub(crate) fn strings(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// The annotation of this name.
pub(crate) fn annotation<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object
        .get("metadata")?
        .get("annotations")?
        .get(name)?
        .as_str()
}

/// Sets an annotation.
pub(crate) fn annotate(object: &mut Value, name: &str, value: &str) {
    let Some(metadata) = of_mut(object) else {
        return;
    };
    let annotations = metadata.entry("annotations").or_insert(Value::Null);
    if !annotations.is_object() {
        *annotations = Map::new().into();
    }
    annotations[name] = value.into();
}

/// The object's owners.
pub(crate) fn owners(object: &Value) -> &[Value] {
    let owners = object
        .get("metadata")
        .and_then(|metadata| metadata.get("ownerReferences"));
    owners.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The metadata, made when absent. Nothing but an object has any.
pub(crate) fn of_mut(object: &mut Value) -> Option<&mut Map<String, Value>> {
    let metadata = object
        .as_object_mut()?
        .entry("metadata")
        .or_insert_with(|| Map::new().into());
    if !metadata.is_object() {
        *metadata = Map::new().into();
    }
    metadata.as_object_mut()
}

/// Sets `metadata.{field}`.
pub(crate) fn set(object: &mut Value, field: &str, value: impl Into<Value>) {
    if let Some(metadata) = of_mut(object) {
        metadata.insert(field.to_owned(), value.into());
    }
}

/// Removes `metadata.{field}`.
pub(crate) fn remove(object: &mut Value, field: &str) {
    if let Some(metadata) = of_mut(object) {
        metadata.remove(field);
    }
}

/// Takes a field out of the metadata.
pub(crate) fn take(object: &mut Value, field: &str) -> Option<Value> {
    object.get_mut("metadata")?.as_object_mut()?.remove(field)
}

/// Makes `metadata.{field}` what it is in another object, absent included.
pub(crate) fn copy(object: &mut Value, field: &str, from: &Value) {
    match from
        .get("metadata")
        .and_then(|metadata| metadata.get(field))
    {
        Some(value) => set(object, field, value.clone()),
        None => remove(object, field),
    }
}

/// Sets the finalizers; an empty list is left out.
pub(crate) fn set_finalizers(object: &mut Value, finalizers: &[&str]) {
    if finalizers.is_empty() {
        remove(object, "finalizers");
    } else {
        set(object, "finalizers", finalizers);
    }
}

/// Counts the generation up, where there is one.
pub(crate) fn next_generation(object: &mut Value) {
    let generation = object
        .get("metadata")
        .and_then(|metadata| metadata.get("generation"));
    if let Some(generation) = generation
        .and_then(Value::as_i64)
        .filter(|generation| *generation > 0)
    {
        set(object, "generation", generation.saturating_add(1));
    }
}

/// Removes one finalizer.
pub(crate) fn remove_finalizer(object: &mut Value, finalizer: &str) {
    let Some(metadata) = of_mut(object) else {
        return;
    };
    let Some(list) = metadata.get_mut("finalizers").and_then(Value::as_array_mut) else {
        return;
    };
    list.retain(|name| *name != finalizer);
    if list.is_empty() {
        metadata.remove("finalizers");
    }
}
