//! Reading an OpenAPI schema of a CRD into the shared model of types.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::schema::{
    Combinators, Limits, ListKey, ListKind, Pattern, Scalar, Schema, Shape, Struct, builtin,
};

/// The type of a whole custom resource. What it says of `apiVersion`, `kind` and `metadata`
/// does not count; those are the same for all objects.
pub(super) fn resource(root: &Value) -> Schema {
    let mut schema = read(root);
    if !matches!(schema.shape, Shape::Struct(_)) {
        schema.shape = Shape::Struct(Struct {
            keeps_unknown: matches!(schema.shape, Shape::Any),
            ..Struct::default()
        });
    }
    if let Shape::Struct(fields) = &mut schema.shape {
        fields.fields.extend(object_fields());
    }
    schema
}

/// The fields that every object has, as any built-in type shows them.
fn object_fields() -> BTreeMap<Arc<str>, Arc<Schema>> {
    let any = builtin("", "v1", "ConfigMap");
    let Some(Shape::Struct(fields)) = any.map(|schema| schema.shape.clone()) else {
        return BTreeMap::new();
    };
    let shared = ["apiVersion", "kind", "metadata"];
    let mut fields = fields.fields;
    fields.retain(|name, _| shared.contains(&&**name));
    fields
}

/// The type that one node of an OpenAPI schema describes.
pub(super) fn read(node: &Value) -> Schema {
    Schema {
        shape: shape(node),
        default: node.get("default").cloned(),
        nullable: is(node, "nullable"),
        by_value: false,
        limits: limits(node),
    }
}

fn shape(node: &Value) -> Shape {
    if is(node, "x-kubernetes-int-or-string") {
        return Shape::Scalar(Scalar::IntOrString);
    }
    match node["type"].as_str() {
        Some("string") => Shape::Scalar(Scalar::String),
        Some("integer") => Shape::Scalar(Scalar::Integer),
        Some("number") => Shape::Scalar(Scalar::Number),
        Some("boolean") => Shape::Scalar(Scalar::Boolean),
        Some("array") => list(node),
        Some("object") => object(node),
        _ if names_fields(node) => object(node),
        _ if node.get("items").is_some() => list(node),
        _ => Shape::Any,
    }
}

/// Whether an untyped schema, as it stands in combinations, has rules about fields.
fn names_fields(node: &Value) -> bool {
    node.get("properties").is_some() || node.get("required").is_some()
}

fn object(node: &Value) -> Shape {
    match &node["additionalProperties"] {
        values @ Value::Object(_) => map(node, read(values)),
        Value::Bool(true) => map(node, Schema::of(Shape::Any)),
        _ => Shape::Struct(fields(node)),
    }
}

fn map(node: &Value, values: Schema) -> Shape {
    Shape::Map {
        values: Arc::new(values),
        atomic: node["x-kubernetes-map-type"] == "atomic",
    }
}

fn fields(node: &Value) -> Struct {
    let embedded = is(node, "x-kubernetes-embedded-resource");
    let properties = node["properties"].as_object().into_iter().flatten();
    let mut fields: BTreeMap<Arc<str>, Arc<Schema>> = properties
        .map(|(name, property)| (name.as_str().into(), Arc::new(read(property))))
        .collect();
    if embedded {
        fields.extend(object_fields());
    }
    // A schema without a type and inside a combination names only the fields it has rules for.
    let untyped = node.get("type").is_none();
    Struct {
        fields,
        required: texts(&node["required"]).map(Into::into).collect(),
        atomic: node["x-kubernetes-map-type"] == "atomic",
        keeps_unknown: is(node, "x-kubernetes-preserve-unknown-fields") || untyped,
        embedded_resource: embedded,
        ..Struct::default()
    }
}

fn list(node: &Value) -> Shape {
    let kind = match node["x-kubernetes-list-type"].as_str() {
        Some("set") => ListKind::Set,
        Some("map") => ListKind::Map(list_keys(node)),
        _ => ListKind::Atomic,
    };
    Shape::List {
        items: Arc::new(read(&node["items"])),
        kind,
    }
}

fn list_keys(node: &Value) -> Vec<ListKey> {
    let properties = &node["items"]["properties"];
    texts(&node["x-kubernetes-list-map-keys"])
        .map(|name| ListKey {
            name: name.into(),
            default: properties[name].get("default").cloned(),
        })
        .collect()
}

fn limits(node: &Value) -> Option<Box<Limits>> {
    let untyped = node.get("type").is_none() && !is(node, "x-kubernetes-int-or-string");
    let limits = Limits {
        minimum: node["minimum"].as_f64(),
        maximum: node["maximum"].as_f64(),
        exclusive_minimum: is(node, "exclusiveMinimum"),
        exclusive_maximum: is(node, "exclusiveMaximum"),
        multiple_of: node["multipleOf"].as_f64(),
        min_length: node["minLength"].as_u64(),
        max_length: node["maxLength"].as_u64(),
        pattern: node["pattern"]
            .as_str()
            .and_then(|text| Pattern::new(text).ok()),
        format: format(node),
        min_items: node["minItems"].as_u64(),
        max_items: node["maxItems"].as_u64(),
        unique_items: is(node, "uniqueItems"),
        min_properties: node["minProperties"].as_u64(),
        max_properties: node["maxProperties"].as_u64(),
        enumeration: node["enum"].as_array().cloned().unwrap_or_default(),
        untyped,
        combinators: combinators(node),
        rules: node["x-kubernetes-validations"]
            .as_array()
            .cloned()
            .unwrap_or_default(),
    };
    (limits != Limits::default()).then(|| Box::new(limits))
}

/// Formats count only beside the types they belong to.
fn format(node: &Value) -> Option<String> {
    let format = node["format"].as_str()?;
    let counts = match node["type"].as_str() {
        Some("integer") => matches!(format, "int32" | "int64"),
        Some("number") => matches!(format, "float" | "double"),
        Some("string") | None => true,
        Some(_) => false,
    };
    counts.then(|| format.to_owned())
}

fn combinators(node: &Value) -> Option<Box<Combinators>> {
    let all = |name: &str| -> Vec<Schema> {
        let nodes = node[name].as_array().into_iter().flatten();
        nodes.map(read).collect()
    };
    let combinators = Combinators {
        all_of: all("allOf"),
        any_of: all("anyOf"),
        one_of: all("oneOf"),
        not: node.get("not").map(read),
    };
    (combinators != Combinators::default()).then(|| Box::new(combinators))
}

fn is(node: &Value, flag: &str) -> bool {
    node[flag] == true
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}
