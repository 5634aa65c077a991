//! Laying an applied object over the live one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::check::TypeErrors;
use super::path::Step;
use super::types::{Form, List, Object, form};
use crate::schema::Schema;

/// The live value with everything that the intent says; nothing is removed.
pub(crate) fn combine(schema: &Schema, live: &Value, intent: &Value) -> Result<Value, TypeErrors> {
    match form(schema, Some(intent)) {
        Form::Object(object) if !object.is_atomic() => {
            let intended = intent.as_object().filter(|fields| !fields.is_empty());
            match (
                live.as_object().filter(|fields| !fields.is_empty()),
                intended,
            ) {
                (None, _) => Ok(intent.clone()),
                (Some(_), None) => Ok(live.clone()),
                (Some(live), Some(intended)) => objects(object, live, intended).map(Value::Object),
            }
        }
        Form::List(list) if !list.is_atomic() => {
            let intended = intent.as_array().filter(|items| !items.is_empty());
            match (live.as_array().filter(|items| !items.is_empty()), intended) {
                (None, _) => Ok(intent.clone()),
                (Some(_), None) => Ok(live.clone()),
                (Some(live), Some(intended)) => lists(list, live, intended).map(Value::Array),
            }
        }
        Form::Leaf(_) | Form::Object(_) | Form::List(_) => Ok(intent.clone()),
    }
}

fn objects(
    object: Object<'_>,
    live: &Map<String, Value>,
    intent: &Map<String, Value>,
) -> Result<Map<String, Value>, TypeErrors> {
    let mut out = live.clone();
    for (name, value) in intent {
        let value = match live.get(name) {
            None => value.clone(),
            Some(there) => combine(object.field_or_any(name), there, value)
                .map_err(|errors| errors.beneath(&format_args!(".{name}")))?,
        };
        out.insert(name.clone(), value);
    }
    Ok(out)
}

/// Items stay where the live list has them, except that those which the intent names come in the
/// order of the intent; its new items stand behind the one they follow there.
fn lists(list: List<'_>, live: &[Value], intent: &[Value]) -> Result<Vec<Value>, TypeErrors> {
    let live = index(list, live)?;
    let intent = index(list, intent)?;
    let single = unique(&live);
    let wanted: BTreeMap<&Step, &Value> = intent.iter().map(|(step, item)| (step, *item)).collect();
    let merged = |step: &Step, item: &Value| match single.get(step) {
        Some(Some(there)) => {
            combine(list.items, there, item).map_err(|errors| errors.beneath(step))
        }
        None | Some(None) => Ok(item.clone()),
    };

    let mut shared = intent
        .iter()
        .map(|(step, _)| step)
        .filter(|step| single.contains_key(step));
    let mut next_shared = shared.next();
    let mut placed: BTreeSet<&Step> = BTreeSet::new();
    let mut out = Vec::with_capacity(live.len().max(intent.len()));
    let (mut at, mut intended) = (0, 0);
    while at < live.len() || intended < intent.len() {
        if let Some((step, item)) = live.get(at) {
            let here = intent
                .get(intended)
                .is_some_and(|(wanted, _)| wanted == step);
            if !wanted.contains_key(step) {
                out.push((*item).clone());
                at += 1;
                continue;
            }
            let later = next_shared.is_some_and(|next| next != step);
            if !here && (placed.contains(step) || (later && intended < intent.len())) {
                at += 1;
                continue;
            }
            at += usize::from(here);
        }
        let (step, item) = &intent[intended];
        out.push(merged(step, item)?);
        placed.insert(step);
        intended += 1;
        if next_shared == Some(step) {
            next_shared = shared.next();
        }
    }
    Ok(out)
}

fn index<'a>(list: List<'_>, items: &'a [Value]) -> Result<Vec<(Step, &'a Value)>, TypeErrors> {
    list.steps(items)
        .map(|step| {
            step.map_err(|(index, error)| TypeErrors::one(format_args!("element {index}: {error}")))
        })
        .collect()
}

/// The item of each identity; nothing where the list has several of it.
fn unique<'a, 'b>(items: &'b [(Step, &'a Value)]) -> BTreeMap<&'b Step, Option<&'a Value>> {
    let mut found = BTreeMap::new();
    for (step, item) in items {
        found
            .entry(step)
            .and_modify(|item| *item = None)
            .or_insert(Some(*item));
    }
    found
}
