//! Kinds without rules of their own: what their schema says must be there.

use serde_json::{Map, Value};

use super::kind::Kind;
use super::rules::Faults;
use crate::field_error::{FieldError, Path};
use crate::schema::{Encoding, Scalar, Schema, Shape, Struct};

/// A kind of which only the schema is known.
pub(super) fn kind() -> Kind {
    Kind::plain("", "")
}

/// Required texts that are empty, and required objects that are absent. Lists and numbers may
/// be required and yet empty or zero.
pub(super) fn check(schema: &Schema, value: &Value, path: &Path<'_>, faults: &mut Faults) {
    match (&schema.resolved().shape, value) {
        (Shape::Struct(fields), Value::Object(object)) => {
            check_required(fields, object, path, faults);
            for (name, value) in object.iter().filter(|(name, _)| *name != "metadata") {
                if let Some(field) = fields.fields.get(name.as_str()) {
                    check(field, value, &path.child(name), faults);
                }
            }
        }
        (Shape::Map { values, .. }, Value::Object(object)) => {
            for (key, value) in object {
                check(values, value, &path.key(key), faults);
            }
        }
        (Shape::List { items, .. }, Value::Array(list)) => {
            for (index, item) in list.iter().enumerate() {
                check(items, item, &path.index(index), faults);
            }
        }
        _ => {}
    }
}

fn check_required(
    schema: &Struct,
    object: &Map<String, Value>,
    path: &Path<'_>,
    faults: &mut Faults,
) {
    for name in &schema.required {
        let value = object.get(&**name).unwrap_or(&Value::Null);
        let is_missing = match schema.fields.get(name).map(|f| &f.resolved().shape) {
            Some(Shape::Scalar(Scalar::String)) => value.as_str().unwrap_or_default().is_empty(),
            Some(Shape::Struct(_)) => {
                value.is_null() && schema.encodings.get(name) == Some(&Encoding::Null)
            }
            _ => false,
        };
        if is_missing {
            faults.add(FieldError::required(&path.child(name), ""));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::builtin::strategy;

    #[test]
    fn what_a_schema_requires_must_be_there() {
        let volume = strategy("storage.k8s.io", "v1", "VolumeAttachment", false);
        let cases = [
            (
                json!({"attacher": "a", "nodeName": "n", "source": {}}),
                vec![],
            ),
            (
                json!({"source": {}}),
                vec![
                    "spec.attacher: Required value",
                    "spec.nodeName: Required value",
                ],
            ),
        ];
        for (spec, expected) in cases {
            let mut object = json!({"metadata": {"name": "v"}, "spec": spec});
            volume.default(&mut object);
            let errors = volume.validate_create(&object);
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(texts, expected);
        }
    }
}
