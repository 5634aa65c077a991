//! Strategic merge patch: a merge patch that knows the types.
//!
//! Lists merge by the keys that their type names (`PatchStrategy`), and directives say what a
//! merge alone cannot: `$patch: replace|delete` in an object, `$retainKeys` names the only fields
//! that may stay, `$setElementOrder/LIST` the order of a list, `$deleteFromPrimitiveList/LIST`
//! what goes from a list of scalars.

use serde_json::{Map, Value};

use super::element_order::{Items, order};
use super::{PatchError, type_mismatch};
use crate::field_error::go_text;
use crate::schema::{PatchStrategy, Schema, Shape};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const SET_ORDER: &str = "$setElementOrder/";
const DELETE_SCALARS: &str = "$deleteFromPrimitiveList/";

type Object = Map<String, Value>;

/// An object to lay over the live one, with directives.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategicPatch(Object);

impl StrategicPatch {
    /// Reads the body of a request.
    pub fn decode(body: &[u8]) -> Result<Self, PatchError> {
        match serde_json::from_slice(body).map_err(|error| PatchError::syntax(&error))? {
            Value::Object(patch) => Ok(Self(patch)),
            other => {
                let mismatch = type_mismatch(&other, "map[string]interface {}");
                Err(PatchError::Undecodable(mismatch))
            }
        }
    }

    /// The live object of this type with the patch laid over it.
    pub fn apply(&self, live: &Value, schema: &Schema) -> Result<Value, PatchError> {
        let live = live.as_object().cloned().unwrap_or_default();
        merge_object(live, self.0.clone(), Some(schema)).map(Value::Object)
    }
}

fn merge_object(
    mut live: Object,
    mut patch: Object,
    schema: Option<&Schema>,
) -> Result<Object, PatchError> {
    if let Some(directive) = patch.remove(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => Ok(patch),
            Some("delete") => Ok(Object::new()),
            _ => Err(bad_directive(&directive, patch)),
        };
    }
    retain_keys(&mut live, &mut patch)?;
    merge_ordered_lists(&mut live, &mut patch, schema)?;
    for (name, value) in patch {
        merge_field(&mut live, &name, value, schema)?;
    }
    Ok(live)
}

fn bad_directive(directive: &Value, mut patch: Object) -> PatchError {
    patch.insert(DIRECTIVE.into(), directive.clone());
    let (directive, patch) = (go_text(directive), go_text(&Value::Object(patch)));
    PatchError::Failed(format!("unknown patch type: {directive} in map: {patch}"))
}

/// Drops fields that the patch does not name among those to keep.
fn retain_keys(live: &mut Object, patch: &mut Object) -> Result<(), PatchError> {
    let malformed = || PatchError::Undecodable("invalid patch format of retainKeys".into());
    let kept = match patch.remove(RETAIN_KEYS) {
        None => return Ok(()),
        Some(Value::Array(kept)) => kept,
        Some(_) => return Err(malformed()),
    };
    let is_kept = |name: &str| kept.iter().any(|kept| kept == name);
    let is_directive = |name: &str| name.starts_with(SET_ORDER) || name.starts_with(DELETE_SCALARS);
    let stray = |(name, value): (&String, &Value)| {
        !value.is_null() && !is_directive(name) && !is_kept(name)
    };
    if patch.iter().any(stray) {
        return Err(malformed());
    }
    live.retain(|name, _| is_kept(name));
    Ok(())
}

/// Merges the lists whose order the patch names, and takes them out of the patch.
fn merge_ordered_lists(
    live: &mut Object,
    patch: &mut Object,
    schema: Option<&Schema>,
) -> Result<(), PatchError> {
    let ordered = patch.keys().filter_map(|key| key.strip_prefix(SET_ORDER));
    let ordered: Vec<String> = ordered.map(str::to_owned).collect();
    for name in ordered {
        let wanted = take_list(patch, &format!("{SET_ORDER}{name}"))?.unwrap_or_default();
        let (strategy, item) = list_type(schema, &name);
        let items = Items::by(&strategy.key);
        let old = take_list(live, &name)?;
        let changes = take_list(patch, &name)?;
        items.check_order(changes.as_deref().unwrap_or_default(), &wanted)?;
        let server_order = old.clone().unwrap_or_default();
        let merged = match (old, changes) {
            (None, None) => continue,
            (Some(old), None) => old,
            (None, Some(changes)) => changes.into_iter().filter_map(without_directives).collect(),
            (Some(old), Some(changes)) => merge_list(old, changes, &strategy, item)?,
        };
        live.insert(name, order(merged, &wanted, &server_order, items)?.into());
    }
    Ok(())
}

fn take_list(object: &mut Object, name: &str) -> Result<Option<Vec<Value>>, PatchError> {
    match object.remove(name) {
        None => Ok(None),
        Some(Value::Array(list)) => Ok(Some(list)),
        Some(other) => Err(PatchError::Failed(format!(
            "expected a []interface {{}}, but received a {}",
            go_type(&other)
        ))),
    }
}

fn merge_field(
    live: &mut Object,
    name: &str,
    change: Value,
    schema: Option<&Schema>,
) -> Result<(), PatchError> {
    if let Some(name) = name.strip_prefix(DELETE_SCALARS) {
        delete_scalars(live, name, &change);
        return Ok(());
    }
    if change.is_null() {
        live.remove(name);
        return Ok(());
    }
    let new = match (live.remove(name), change) {
        (Some(Value::Object(old)), Value::Object(change)) => {
            let (strategy, field) = field_type(schema, name);
            Some(Value::Object(match strategy.replace {
                true => change,
                false => merge_object(old, change, field)?,
            }))
        }
        (Some(Value::Array(old)), Value::Array(change)) => {
            let (strategy, item) = list_type(schema, name);
            Some(merge_list(old, change, &strategy, item)?.into())
        }
        (_, change) => without_directives(without_nulls(change)),
    };
    if let Some(new) = new {
        live.insert(name.to_owned(), new);
    }
    Ok(())
}

fn delete_scalars(live: &mut Object, name: &str, gone: &Value) {
    let gone = gone.as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(Value::Array(list)) = live.get_mut(name) {
        list.retain(|item| !gone.contains(item));
    }
}

fn merge_list(
    old: Vec<Value>,
    changes: Vec<Value>,
    strategy: &PatchStrategy,
    item: Option<&Schema>,
) -> Result<Vec<Value>, PatchError> {
    if !strategy.merge || (old.is_empty() && changes.is_empty()) {
        return Ok(changes);
    }
    let items = Items::by(&strategy.key);
    let of_objects = old.iter().chain(&changes).any(Value::is_object);
    if !of_objects {
        let mut merged = old.clone();
        merged.extend(changes.iter().cloned());
        items.deduplicate(&mut merged);
        return order(merged, &changes, &old, items);
    }
    let Special {
        live,
        changes,
        replaced,
    } = Special::follow(old, changes, &strategy.key)?;
    if replaced {
        return Ok(changes);
    }
    let mut merged = live.clone();
    for change in &changes {
        merge_item(&mut merged, change, &strategy.key, item)?;
    }
    order(merged, &changes, &live, items)
}

fn merge_item(
    live: &mut Vec<Value>,
    change: &Value,
    key: &str,
    schema: Option<&Schema>,
) -> Result<(), PatchError> {
    let wanted = key_of(change, key)?;
    match (
        live.iter_mut().find(|item| item.get(key) == Some(wanted)),
        change,
    ) {
        (Some(found), Value::Object(change)) => {
            let old = found.as_object().cloned().unwrap_or_default();
            *found = merge_object(old, change.clone(), schema)?.into();
        }
        _ => live.push(change.clone()),
    }
    Ok(())
}

/// A list of changes with its directives followed.
struct Special {
    live: Vec<Value>,
    changes: Vec<Value>,
    /// The changes are the whole list.
    replaced: bool,
}

impl Special {
    fn follow(live: Vec<Value>, changes: Vec<Value>, key: &str) -> Result<Self, PatchError> {
        let mut special = Self {
            live,
            changes: Vec::new(),
            replaced: false,
        };
        for change in changes {
            let directive = change.get(DIRECTIVE).cloned();
            match directive.as_ref().map(Value::as_str) {
                None => special.changes.push(change),
                Some(Some("delete")) => {
                    let gone = key_of(&change, key)?;
                    special.live.retain(|item| item.get(key) != Some(gone));
                }
                Some(Some("replace")) => special.replaced = true,
                Some(Some("merge")) => {
                    let why = "merging lists cannot yet be specified in the patch";
                    return Err(PatchError::Failed(why.into()));
                }
                Some(_) => {
                    let patch = change.as_object().cloned().unwrap_or_default();
                    return Err(bad_directive(&directive.unwrap_or_default(), patch));
                }
            }
        }
        Ok(special)
    }
}

/// The value by which an item of a list is known.
pub(super) fn key_of<'a>(item: &'a Value, key: &str) -> Result<&'a Value, PatchError> {
    item.get(key).ok_or_else(|| {
        let item = go_text(item);
        PatchError::Failed(format!(
            "map: {item} does not contain declared merge key: {key}"
        ))
    })
}

/// How a field is patched, and its type.
fn field_type<'a>(schema: Option<&'a Schema>, name: &str) -> (PatchStrategy, Option<&'a Schema>) {
    match schema.map(|schema| &schema.resolved().shape) {
        Some(Shape::Struct(known)) => (
            known.patches.get(name).cloned().unwrap_or_default(),
            known.fields.get(name).map(AsRef::as_ref),
        ),
        Some(Shape::Map { values, .. }) => (PatchStrategy::default(), Some(values)),
        _ => (PatchStrategy::default(), None),
    }
}

/// How a list is patched, and the type of its items.
fn list_type<'a>(schema: Option<&'a Schema>, name: &str) -> (PatchStrategy, Option<&'a Schema>) {
    let (strategy, field) = field_type(schema, name);
    match field.map(|field| &field.resolved().shape) {
        Some(Shape::List { items, .. }) => (strategy, Some(items)),
        _ => (strategy, None),
    }
}

/// What a patch says of an absent field is taken without its nulls.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, without_nulls(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

/// The same without objects that are nothing but directives.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(DIRECTIVE) => None,
        Value::Object(fields) => {
            let kept = fields
                .into_iter()
                .filter_map(|(name, value)| Some((name, without_directives(value)?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => Some(items.into_iter().filter_map(without_directives).collect()),
        other => Some(other),
    }
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::builtin;

    fn patched(spec: &Value, patch: &Value) -> Value {
        let schema = builtin("", "v1", "Pod").expect("pods");
        let patch = json!({ "spec": patch }).to_string();
        let patch = StrategicPatch::decode(patch.as_bytes()).unwrap();
        patch.apply(&json!({ "spec": spec }), &schema).unwrap()["spec"].clone()
    }

    #[test]
    fn containers_merge_by_name_and_new_ones_come_first() {
        let live = json!({"containers": [{"name": "a", "image": "1"}, {"name": "b"}]});
        let patch = json!({"containers": [{"name": "c"}, {"name": "a", "image": "2"}]});
        let wanted =
            json!({"containers": [{"name": "c"}, {"name": "a", "image": "2"}, {"name": "b"}]});
        assert_eq!(patched(&live, &patch), wanted);
    }

    #[test]
    fn directives_delete_replace_and_retain() {
        let live = json!({
            "containers": [{"name": "a"}, {"name": "b"}],
            "volumes": [{"name": "v", "emptyDir": {}}],
            "nodeSelector": {"x": "1"},
        });
        let patch = json!({
            "containers": [{"$patch": "delete", "name": "a"}],
            "volumes": [{"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/"}}],
            "nodeSelector": {"$patch": "replace", "y": "2"},
        });
        let wanted = json!({
            "containers": [{"name": "b"}],
            "volumes": [{"name": "v", "hostPath": {"path": "/"}}],
            "nodeSelector": {"y": "2"},
        });
        assert_eq!(patched(&live, &patch), wanted);
    }

    #[test]
    fn the_order_of_a_list_can_be_set() {
        let live = json!({"containers": [{"name": "a"}, {"name": "own"}, {"name": "b"}]});
        let patch = json!({
            "$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
            "containers": [{"name": "b", "image": "2"}],
        });
        let wanted =
            json!({"containers": [{"name": "own"}, {"name": "b", "image": "2"}, {"name": "a"}]});
        assert_eq!(patched(&live, &patch), wanted);
    }

    #[test]
    fn scalars_go_when_they_are_named() {
        let schema = builtin("", "v1", "Pod").expect("pods");
        let live = json!({"metadata": {"finalizers": ["a", "b"]}});
        let patch = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}).to_string();
        let patch = StrategicPatch::decode(patch.as_bytes()).unwrap();
        let wanted = json!({"metadata": {"finalizers": ["b"]}});
        assert_eq!(patch.apply(&live, &schema).unwrap(), wanted);
    }

    #[test]
    fn an_item_without_its_key_is_refused() {
        let schema = builtin("", "v1", "Pod").expect("pods");
        let patch = br#"{"spec":{"containers":[{"image":"x"}]}}"#;
        let patch = StrategicPatch::decode(patch).unwrap();
        let live = json!({"spec": {"containers": [{"name": "a"}]}});
        let error = patch.apply(&live, &schema).unwrap_err().to_string();
        assert_eq!(
            error,
            "map: map[image:x] does not contain declared merge key: name"
        );
    }
}
