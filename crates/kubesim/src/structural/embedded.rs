//! Values that are Kubernetes objects themselves (`x-kubernetes-embedded-resource`).

use serde_json::{Map, Value};

use crate::builtin::{metadata, names};
use crate::field_error::{FieldError, Path};
use crate::schema::{Schema, Shape};

pub(super) fn check(schema: &Schema, value: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    match (&schema.resolved().shape, value) {
        (Shape::Struct(fields), Value::Object(object)) => {
            if fields.embedded_resource {
                check_object(object, path, errors);
            }
            for (name, value) in object {
                if let Some(field) = fields.fields.get(name.as_str()) {
                    check(field, value, &path.child(name), errors);
                }
            }
        }
        (Shape::Map { values, .. }, Value::Object(object)) => {
            for (key, value) in object {
                check(values, value, &path.key(key), errors);
            }
        }
        (Shape::List { items, .. }, Value::Array(list)) => {
            for (index, item) in list.iter().enumerate() {
                check(items, item, &path.index(index), errors);
            }
        }
        _ => {}
    }
}

fn check_object(object: &Map<String, Value>, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    for name in ["apiVersion", "kind"] {
        errors.extend(check_name(object.get(name), name, &path.child(name)));
    }
    if let Some(found) = object.get("metadata") {
        metadata::validate_embedded(found, &path.child("metadata"), errors);
    }
}

fn check_name(value: Option<&Value>, name: &str, path: &Path<'_>) -> Option<FieldError> {
    let Some(value) = value else {
        return Some(FieldError::required(path, ""));
    };
    let Some(text) = value.as_str() else {
        return Some(FieldError::invalid(path, value.clone(), "must be a string"));
    };
    if text.is_empty() {
        return Some(FieldError::invalid(path, text, "must not be empty"));
    }
    match name {
        "kind" => bad_kind(text).map(|detail| FieldError::invalid(path, text, detail)),
        _ if text.matches('/').count() > 1 => {
            let detail = format!("unexpected GroupVersion string: {text}");
            Some(FieldError::invalid(path, text, detail))
        }
        _ => None,
    }
}

fn bad_kind(kind: &str) -> Option<String> {
    let faults = names::dns1035_label(&kind.to_lowercase());
    let words = "may have mixed case, but should otherwise match: ";
    (!faults.is_empty()).then(|| format!("{words}{}", faults.join(",")))
}
