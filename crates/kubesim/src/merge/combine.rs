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

fn lists(list: List<'_>, live: &[Value], intent: &[Value]) -> Result<Vec<Value>, TypeErrors> {
    let live = index(list, live)?;
    let intent = index(list, intent)?;
    let single = unique(&live);
    arrange(&live, &intent)
        .into_iter()
        .map(|pick| match pick {
            Pick::Live(item) => Ok(item.clone()),
            Pick::Intended(step, item) => match single.get(step) {
                Some(Some(there)) => {
                    combine(list.items, there, item).map_err(|errors| errors.beneath(step))
                }
                None | Some(None) => Ok(item.clone()),
            },
        })
        .collect()
}

/// One item of a merged list.
enum Pick<'a> {
    Live(&'a Value),
    Intended(&'a Step, &'a Value),
}

/// The order of a merged list: items that only the live list has keep their place, those of the
/// intent come in its order, each pair of shared items around the same live ones as before.
fn arrange<'a>(live: &'a [(Step, &'a Value)], intent: &'a [(Step, &'a Value)]) -> Vec<Pick<'a>> {
    let there: BTreeSet<&Step> = live.iter().map(|(step, _)| step).collect();
    let wanted: BTreeSet<&Step> = intent.iter().map(|(step, _)| step).collect();
    let mut shared = wanted_order(intent)
        .filter(|step| there.contains(step))
        .peekable();
    let mut placed: BTreeSet<&Step> = BTreeSet::new();
    let mut out = Vec::with_capacity(live.len().max(intent.len()));
    let (mut at, mut intended) = (0, 0);
    while at < live.len() || intended < intent.len() {
        if let Some((step, item)) = live.get(at) {
            if !wanted.contains(step) {
                out.push(Pick::Live(item));
                at += 1;
                continue;
            }
            let here = intent
                .get(intended)
                .is_some_and(|(wanted, _)| wanted == step);
            let awaited = shared.peek().is_none_or(|next| *next == step);
            at += usize::from(here || !awaited || placed.contains(step));
            if !here && !awaited {
                continue;
            }
        }
        if let Some((step, item)) = intent.get(intended) {
            out.push(Pick::Intended(step, item));
            placed.insert(step);
            intended += 1;
            shared.next_if(|next| *next == step);
        }
    }
    out
}

fn wanted_order<'a>(intent: &'a [(Step, &'a Value)]) -> impl Iterator<Item = &'a Step> {
    intent.iter().map(|(step, _)| step)
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
