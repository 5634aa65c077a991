//! Removing what an applier used to say and says no more.

use serde_json::Value;

use super::owned;
use super::path::Step;
use super::remove::remove;
use super::set::{FieldSet, Node};
use super::types::{Form, form};
use crate::schema::Schema;

/// The merged object without the fields of `last` that are in nobody's set any more.
///
/// `managed` are the sets of all managers, the applier's new one among them. A field goes only
/// with everything beneath it unowned, and a field that nobody ever owned stays.
pub(crate) fn prune(
    schema: &Schema,
    merged: Value,
    last: &FieldSet,
    now: &FieldSet,
    managed: impl FnOnce() -> FieldSet,
) -> Value {
    if last.difference(now).is_empty() {
        return merged;
    }
    let named = |set: &FieldSet| with_named_fields(schema, set);
    let last = named(last);
    let all = named(&owned::fields(schema, &merged));

    let bare = remove(schema, &merged, &last);
    let kept = named(&owned::fields(schema, &bare)).union(named(&managed()));
    let owned_back = remove(schema, &merged, &all.difference(&kept));

    let left = named(&owned::fields(schema, &owned_back));
    remove(schema, &merged, &all.difference(&left).intersection(&last))
}

/// The set with the named fields that lead to its members, so that a field whose whole content
/// goes does not stay behind empty. Map keys and list items are members already.
fn with_named_fields(schema: &Schema, set: &FieldSet) -> FieldSet {
    set.nodes()
        .iter()
        .map(|node| {
            let (named, beneath) = descend(schema, &node.step);
            Node {
                step: node.step.clone(),
                member: node.member || (named && !node.below.is_empty()),
                below: beneath.map_or_else(
                    || node.below.clone(),
                    |schema| with_named_fields(schema, &node.below),
                ),
            }
        })
        .collect()
}

/// Whether the schema names the step, and the type that it leads to.
fn descend<'a>(schema: &'a Schema, step: &Step) -> (bool, Option<&'a Schema>) {
    match (form(schema, None), step) {
        (Form::Object(object), Step::Field(name)) => (object.names(name), object.field(name)),
        (Form::List(list), Step::Key(_)) => (false, Some(list.items)),
        _ => (false, None),
    }
}
