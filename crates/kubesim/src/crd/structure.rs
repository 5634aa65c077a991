//! The rules that make a schema structural: every field typed once, outside of combinations.

use serde_json::Value;

use crate::builtin::{At, Faults};
use crate::schema::Pattern;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// What keeps a schema from being structural, in the order of the text.
pub(super) fn check(schema: &At<'_>, faults: &mut Faults) {
    let mut found = Faults::default();
    check_node(schema, Level::Root, &mut found);
    found.0.sort_by_key(ToString::to_string);
    faults.0.extend(found.0);
}

fn check_node(node: &At<'_>, level: Level, faults: &mut Faults) {
    let items = node.field("items");
    if node.field("type").text() == "array" && !items.is_set() {
        faults.add(items.required("must be specified"));
    }
    if items.is_set() {
        check_node(&items, Level::Item, faults);
    }
    for (_, property) in node.field("properties").entries() {
        check_node(&property, Level::Field, faults);
    }
    check_additional(node, level, faults);
    check_extensions(node, faults);
    check_values(node, is_int_or_string(node), faults);
    check_type(node, level, faults);
    check_object_fields(node, level, faults);
}

fn check_additional(node: &At<'_>, level: Level, faults: &mut Faults) {
    let additional = node.field("additionalProperties");
    if !additional.is_set() {
        return;
    }
    if level == Level::Root {
        faults.add(additional.forbidden("must not be used at the root"));
    }
    if additional.value.is_object() {
        check_node(&additional, Level::Field, faults);
    }
    if node.field("x-kubernetes-embedded-resource").is_true() {
        let words = "must not be used if x-kubernetes-embedded-resource is set";
        faults.add(additional.forbidden(words));
    }
}

fn check_extensions(node: &At<'_>, faults: &mut Faults) {
    if !is_int_or_string(node) {
        return;
    }
    for name in [
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
    ] {
        if node.field(name).is_true() {
            let words = "must be false if x-kubernetes-int-or-string is true";
            faults.add(node.field(name).invalid(words));
        }
    }
}

fn is_int_or_string(node: &At<'_>) -> bool {
    node.field("x-kubernetes-int-or-string").is_true()
}

fn check_type(node: &At<'_>, level: Level, faults: &mut Faults) {
    let kind = node.field("type");
    let embedded = node.field("x-kubernetes-embedded-resource").is_true();
    let free =
        is_int_or_string(node) || node.field("x-kubernetes-preserve-unknown-fields").is_true();
    let must = "must be object if x-kubernetes-embedded-resource is true";
    match (embedded, kind.text()) {
        (true, "object") => {}
        (true, "") => faults.add(kind.required(must)),
        (true, _) => faults.add(kind.invalid(must)),
        (false, "") if !free => faults.add(kind.required(match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        })),
        _ => {}
    }
    if level == Level::Root && !matches!(kind.text(), "" | "object") {
        faults.add(kind.invalid("must be object at the root"));
    }
}

fn check_object_fields(node: &At<'_>, level: Level, faults: &mut Faults) {
    let embedded = node.field("x-kubernetes-embedded-resource").is_true();
    let is_object = level == Level::Root || embedded;
    let properties = node.field("properties");
    for (name, property) in properties.entries() {
        let kind = property.field("type");
        match name {
            "kind" | "apiVersion" if is_object && kind.text() != "string" => {
                faults.add(crate::field_error::FieldError::invalid(
                    &kind.path,
                    kind.text(),
                    "must be string",
                ));
            }
            "metadata" => check_metadata(&property, is_object, level, faults),
            _ => {}
        }
    }
    let keeps = node.field("x-kubernetes-preserve-unknown-fields").is_true();
    if embedded && !keeps && properties.is_empty() {
        let words = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        faults.add(properties.required(words));
    }
}

fn check_metadata(metadata: &At<'_>, is_object: bool, level: Level, faults: &mut Faults) {
    let kind = metadata.field("type");
    if is_object && kind.text() != "object" {
        faults.add(crate::field_error::FieldError::invalid(
            &kind.path,
            kind.text(),
            "must be object",
        ));
    }
    let says_too_much = |(name, value): (&String, &Value)| match name.as_str() {
        "type" | "description" | "default" => false,
        "properties" => value.as_object().is_some_and(|names| {
            names
                .keys()
                .any(|name| !matches!(name.as_str(), "name" | "generateName"))
        }),
        _ => true,
    };
    let object = metadata.value.as_object();
    if level == Level::Root && object.is_some_and(|object| object.iter().any(says_too_much)) {
        let words = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        faults.add(metadata.forbidden(words));
    }
}

/// Limits, and the schemas in combinations, which may hold nothing but limits.
fn check_values(node: &At<'_>, int_or_string: bool, faults: &mut Faults) {
    for name in ["anyOf", "allOf", "oneOf"] {
        for nested in node.field(name).items() {
            check_nested(&nested, int_or_string, faults);
        }
    }
    if node.field("not").is_set() {
        check_nested(&node.field("not"), false, faults);
    }
    let pattern = node.field("pattern");
    if let Err(error) = Pattern::new(pattern.text()) {
        let words = format!("must be a valid regular expression, but isn't: {error}");
        faults.add(pattern.invalid(words));
    }
}

fn check_nested(node: &At<'_>, int_or_string: bool, faults: &mut Faults) {
    check_values(node, int_or_string, faults);
    let is_alternative = int_or_string && matches!(node.field("type").text(), "integer" | "string");
    for (name, words) in NOT_NESTED {
        let field = node.field(name);
        if is_said(&field) && !(is_alternative && *name == "type") {
            faults.add(field.forbidden(*words));
        }
    }
    if node.field("items").is_set() {
        check_nested(&node.field("items"), false, faults);
    }
    for (name, property) in node.field("properties").entries() {
        check_nested(&property, false, faults);
        if name == "metadata" {
            faults.add(property.forbidden("must not be specified in a nested context"));
        }
    }
}

fn is_said(field: &At<'_>) -> bool {
    !field.is_empty() && field.value != false
}

const NOT_NESTED: &[(&str, &str)] = &[
    ("type", "must be empty to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    (
        "x-kubernetes-preserve-unknown-fields",
        "must be false to be structural",
    ),
    (
        "x-kubernetes-embedded-resource",
        "must be false to be structural",
    ),
    (
        "x-kubernetes-int-or-string",
        "must be false to be structural",
    ),
    (
        "x-kubernetes-list-map-keys",
        "must be empty to be structural",
    ),
    (
        "x-kubernetes-list-type",
        "must be undefined to be structural",
    ),
    (
        "x-kubernetes-map-type",
        "must be undefined to be structural",
    ),
    ("x-kubernetes-validations", "must be empty to be structural"),
];
