//! The rules of OpenAPI schemas in CRDs that are not about structure: types that exist, list and
//! map types that fit, keywords that are not allowed.

use super::rule_checks;
use crate::builtin::{At, Faults};
use crate::field_error::FieldError;

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
const FORBIDDEN: [(&str, &str); 6] = [
    ("definitions", "definitions is not supported"),
    ("dependencies", "dependencies is not supported"),
    ("id", "id is not supported"),
    ("patternProperties", "patternProperties is not supported"),
    ("$ref", "$ref is not supported"),
    ("additionalItems", "additionalItems is not supported"),
];

pub(super) fn check(node: &At<'_>, is_root: bool, faults: &mut Faults) {
    check_keywords(node, faults);
    check_additional(node, faults);
    for (name, property) in node.field("properties").entries() {
        let fixed = is_root && matches!(name, "metadata" | "kind" | "apiVersion");
        if fixed && property.field("default").is_set() {
            let words = format!("must not be set in top-level {name}");
            faults.add(property.field("default").forbidden(words));
        }
        check(&property, false, faults);
    }
    if node.field("not").is_set() {
        check(&node.field("not"), false, faults);
    }
    for name in ["allOf", "oneOf", "anyOf"] {
        for nested in node.field(name).items() {
            check(&nested, false, faults);
        }
    }
    if node.field("items").value.is_object() {
        check(&node.field("items"), false, faults);
    }
    check_map_type(node, faults);
    check_list_type(node, faults);
    rule_checks::check_form(node, faults);
}

fn check_keywords(node: &At<'_>, faults: &mut Faults) {
    let kind = node.field("type");
    if !matches!(kind.text(), "" | "null") && !TYPES.contains(&kind.text()) {
        faults.add(kind.not_supported(&TYPES));
    }
    if kind.text() == "null" {
        faults.add(kind.forbidden("type cannot be set to null, use nullable as an alternative"));
    }
    for (name, words) in FORBIDDEN {
        if !node.field(name).is_empty() {
            faults.add(node.field(name).forbidden(words));
        }
    }
    if node.field("items").value.is_array() {
        faults.add(
            node.field("items")
                .forbidden("items must be a schema object and not an array"),
        );
    }
    if node.field("uniqueItems").is_true() {
        let words =
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        faults.add(node.field("uniqueItems").forbidden(words));
    }
    let keeps = node.field("x-kubernetes-preserve-unknown-fields");
    if keeps.value == false {
        faults.add(keeps.invalid("must be true or undefined"));
    }
}

fn check_additional(node: &At<'_>, faults: &mut Faults) {
    let additional = node.field("additionalProperties");
    if additional.value == false {
        faults.add(additional.forbidden("additionalProperties cannot be set to false"));
    }
    let is_schema = additional.value.is_object();
    if is_schema && !node.field("properties").is_empty() {
        let words = "additionalProperties and properties are mutual exclusive";
        faults.add(additional.forbidden(words));
    }
    if is_schema {
        check(&additional, false, faults);
    }
}

fn check_map_type(node: &At<'_>, faults: &mut Faults) {
    let map_type = node.field("x-kubernetes-map-type");
    if !map_type.is_set() {
        return;
    }
    let words = "must be object if x-kubernetes-map-type is specified";
    check_holder(&node.field("type"), "object", words, faults);
    faults.one_of(&map_type, &["atomic", "granular"]);
}

fn check_holder(kind: &At<'_>, wanted: &str, words: &str, faults: &mut Faults) {
    match kind.text() {
        "" => faults.add(kind.required(words)),
        found if found != wanted => faults.add(kind.invalid(words)),
        _ => {}
    }
}

fn check_list_type(node: &At<'_>, faults: &mut Faults) {
    let list_type = node.field("x-kubernetes-list-type");
    let keys = node.field("x-kubernetes-list-map-keys");
    if list_type.is_set() {
        let words = "must be array if x-kubernetes-list-type is specified";
        check_holder(&node.field("type"), "array", words, faults);
        faults.one_of(&list_type, &["atomic", "set", "map"]);
    }
    if !keys.is_empty() && list_type.text() != "map" {
        let words = "must be map if x-kubernetes-list-map-keys is non-empty";
        match list_type.is_set() {
            true => faults.add(list_type.invalid(words)),
            false => faults.add(list_type.required(words)),
        }
    }
    match list_type.text() {
        "set" => check_set(&node.field("items"), faults),
        "map" => check_keyed(node, &keys, faults),
        _ => {}
    }
}

/// Items of a set are compared whole, so they must be owned whole.
fn check_set(items: &At<'_>, faults: &mut Faults) {
    let words = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let inner = match items.field("type").text() {
        "array" => "x-kubernetes-list-type",
        "object" => "x-kubernetes-map-type",
        _ => return,
    };
    let found = items.field(inner);
    let implicit = inner == "x-kubernetes-list-type" && !found.is_set();
    if !implicit && found.text() != "atomic" {
        let value = items.field("x-kubernetes-list-type").value.clone();
        faults.add(FieldError::invalid(&found.path, value, words));
    }
}

fn check_keyed(node: &At<'_>, keys: &At<'_>, faults: &mut Faults) {
    faults.require(keys, "must not be empty if x-kubernetes-list-type is map");
    let items = node.field("items");
    if !items.is_set() {
        return faults.add(items.required("must have a schema if x-kubernetes-list-type is map"));
    }
    let kind = items.field("type");
    if kind.text() != "object" {
        let words = "must be object if parent array's x-kubernetes-list-type is map";
        return faults.add(FieldError::invalid(&kind.path, kind.text(), words));
    }
    for key in keys.items() {
        check_key(&items, keys, key.text(), faults);
    }
}

fn check_key(items: &At<'_>, keys: &At<'_>, key: &str, faults: &mut Faults) {
    let properties = items.field("properties");
    let Some(property) = properties.value.get(key) else {
        return faults.add(keys.invalid("entries must all be names of item properties"));
    };
    let path = properties.path.key(key);
    if matches!(property["type"].as_str(), Some("array" | "object")) {
        let words = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        faults.add(FieldError::invalid(&path.child("type"), "object", words));
    }
    let required = items.value["required"].as_array();
    let is_required = required.is_some_and(|names| names.iter().any(|name| name == key));
    if property.get("default").is_none() && !is_required {
        let words = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
        faults.add(FieldError::required(&path.child("default"), words));
    }
    if property["nullable"] == true {
        let words = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
        faults.add(FieldError::forbidden(&path.child("nullable"), words));
    }
}
