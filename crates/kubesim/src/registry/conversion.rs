//! From the form in which an object is stored to the version that was asked for, and back.
//!
//! All versions of a resource have one form here, so only the names of kind and version differ;
//! events are the exception, because their two groups name the same facts differently.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::ResourceType;

/// How the newer group of events names what is stored in the older group's words.
const EVENT_FIELDS: &[(&str, &str)] = &[
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

/// A stored object as the resource's own version shows it.
fn from_stored(object: &mut Value, resource: &ResourceType) {
    label(object, resource);
    if is_new_event(resource) {
        rename(object, |(stored, asked)| (stored, asked));
    }
}

/// An object of the resource's own version as it is stored.
pub(crate) fn to_stored(object: &mut Value, resource: &ResourceType) {
    if is_new_event(resource) {
        rename(object, |(stored, asked)| (asked, stored));
        object["apiVersion"] = "v1".into();
    }
}

/// The object in the resource's version; a copy only when it is stored in another one.
pub(crate) fn in_version<'a>(object: &'a Value, resource: &ResourceType) -> Cow<'a, Value> {
    if object["apiVersion"] == *resource.api_version {
        return Cow::Borrowed(object);
    }
    let mut copy = object.clone();
    from_stored(&mut copy, resource);
    Cow::Owned(copy)
}

fn label(object: &mut Value, resource: &ResourceType) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert("apiVersion".into(), (*resource.api_version).into());
        fields.insert("kind".into(), (*resource.kind).into());
    }
}

fn is_new_event(resource: &ResourceType) -> bool {
    resource.id != resource.stored
}

fn rename(
    object: &mut Value,
    direction: fn(&(&'static str, &'static str)) -> (&'static str, &'static str),
) {
    let Some(fields) = object.as_object_mut() else {
        return;
    };
    let moved: Map<String, Value> = EVENT_FIELDS
        .iter()
        .map(direction)
        .filter_map(|(from, to)| Some((to.to_owned(), fields.remove(from)?)))
        .collect();
    fields.extend(moved);
}
