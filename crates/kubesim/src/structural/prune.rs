//! Dropping the fields that a schema does not name.

use serde_json::{Map, Value};

use crate::schema::{Schema, Shape, Struct};

/// Removes every field that the schema does not know and returns their paths, as the messages
/// of `fieldValidation` name them (`spec.containers[0].foo`), in order.
pub fn prune(schema: &Schema, value: &mut Value) -> Vec<String> {
    let mut pruner = Pruner::default();
    pruner.value(schema, value);
    pruner.unknown.sort();
    pruner.unknown
}

#[derive(Default)]
struct Pruner {
    path: String,
    unknown: Vec<String>,
}

impl Pruner {
    fn value(&mut self, schema: &Schema, value: &mut Value) {
        match (&schema.resolved().shape, value) {
            (Shape::Struct(fields), Value::Object(object)) => self.fields(fields, object),
            (Shape::Map { values, .. }, Value::Object(object)) => {
                for (key, value) in object {
                    self.inside(&dotted(&self.path, key), |p| p.value(values, value));
                }
            }
            (Shape::List { items, .. }, Value::Array(list)) => {
                for (index, item) in list.iter_mut().enumerate() {
                    self.inside(&format!("[{index}]"), |p| p.value(items, item));
                }
            }
            _ => {}
        }
    }

    fn fields(&mut self, schema: &Struct, object: &mut Map<String, Value>) {
        object.retain(|key, value| match schema.fields.get(key.as_str()) {
            Some(field) => {
                self.inside(&dotted(&self.path, key), |p| p.value(field, value));
                true
            }
            None if schema.keeps_unknown => true,
            None => {
                self.unknown
                    .push(format!("{}{}", self.path, dotted(&self.path, key)));
                false
            }
        });
    }

    fn inside(&mut self, step: &str, walk: impl FnOnce(&mut Self)) {
        let before = self.path.len();
        self.path.push_str(step);
        walk(self);
        self.path.truncate(before);
    }
}

fn dotted(path: &str, key: &str) -> String {
    match path {
        "" => key.to_owned(),
        _ => format!(".{key}"),
    }
}
