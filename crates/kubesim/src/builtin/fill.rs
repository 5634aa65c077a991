//! Filling in defaults: small verbs on JSON values.

use serde_json::Value;

/// Sets a field of an object that is absent or null.
pub(super) fn absent(object: &mut Value, name: &str, value: impl Into<Value>) {
    let Some(object) = object.as_object_mut() else {
        return;
    };
    match object.get(name) {
        None | Some(Value::Null) => drop(object.insert(name.to_owned(), value.into())),
        Some(_) => {}
    }
}

/// Sets a field of an object that is absent, null or an empty text.
pub(super) fn empty(object: &mut Value, name: &str, value: impl Into<Value>) {
    match object.get(name) {
        Some(Value::String(text)) if text.is_empty() => {}
        None | Some(Value::Null) => {}
        Some(_) => return,
    }
    if let Some(object) = object.as_object_mut() {
        object.insert(name.to_owned(), value.into());
    }
}

/// The object in a field, if there is one.
pub(super) fn part<'a>(object: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    object.get_mut(name).filter(|value| value.is_object())
}

/// The items of the list in a field.
pub(super) fn each<'a>(object: &'a mut Value, name: &str) -> impl Iterator<Item = &'a mut Value> {
    let list = object.get_mut(name).and_then(Value::as_array_mut);
    list.into_iter().flatten()
}

/// The text in a field, or an empty one.
pub(super) fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn remove(object: &mut Value, name: &str) {
    if let Some(object) = object.as_object_mut() {
        object.remove(name);
    }
}
