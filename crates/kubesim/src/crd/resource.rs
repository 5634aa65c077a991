//! How objects of a custom resource are prepared and judged.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use super::rules::Rules;
use super::{Definition, Scale, Version};
use crate::builtin::{keep_identity, metadata, names, set_generation, validate_change};
use crate::field_error::{ErrorKind, FieldError, Path, go_text};
use crate::schema::{Schema, Shape};
use crate::strategy::{Part, Strategy, Surroundings};
use crate::structural;

pub(super) struct CustomResource {
    schema: Arc<Schema>,
    namespaced: bool,
    status: bool,
    scale: Option<Scale>,
    /// Made when the first object comes.
    rules: OnceLock<Option<Rules>>,
}

impl CustomResource {
    pub(super) fn new(definition: &Definition, version: &Version) -> Self {
        Self {
            schema: version.schema.clone(),
            namespaced: definition.namespaced,
            status: version.status,
            scale: version.scale.clone(),
            rules: OnceLock::new(),
        }
    }

    fn rules(&self) -> Option<&Rules> {
        let rules = self.rules.get_or_init(|| Rules::of(&self.schema, true));
        rules.as_ref()
    }

    /// What an object does against the rules in CEL, which are asked only of objects that are
    /// otherwise of the right form.
    fn check_rules(&self, new: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
        let Some(rules) = self.rules() else { return };
        if errors.iter().any(is_of_wrong_form) {
            let words = "some validation rules were not checked because the object was invalid; \
                         correct the existing errors to complete validation";
            errors.push(FieldError::invalid(&Path::root(), Value::Null, words));
            return;
        }
        errors.extend(rules.check(new, old).errors);
    }

    fn check_schema(&self, part: Part, object: &Value) -> Vec<FieldError> {
        let mut errors = match (part, status_schema(&self.schema)) {
            (Part::Main, _) => structural::validate(&self.schema, object, &Path::root()),
            (Part::Status, Some(schema)) if object.get("status").is_some() => {
                structural::validate(&schema, &object["status"], &Path::field("status"))
            }
            (Part::Status, _) => Vec::new(),
        };
        if let Some(scale) = &self.scale {
            if part == Part::Main {
                errors.extend(check_replicas(object, &scale.spec_replicas));
            }
            errors.extend(check_replicas(object, &scale.status_replicas));
        }
        errors
    }
}

impl Strategy for CustomResource {
    fn schema(&self) -> Arc<Schema> {
        self.schema.clone()
    }

    fn default(&self, object: &mut Value) {
        structural::default(&self.schema, object);
        if let (Some(schema), Some(meta)) =
            (metadata_schema(&self.schema), object.get_mut("metadata"))
        {
            structural::canonicalise(&schema, meta);
        }
    }

    fn prepare_create(&self, object: &mut Value, _around: &dyn Surroundings) {
        if let (true, Some(object)) = (self.status, object.as_object_mut()) {
            object.remove("status");
        }
        set_generation(object, Some(1));
    }

    fn prepare_update(&self, part: Part, new: &mut Value, old: &Value, _around: &dyn Surroundings) {
        keep_identity(new, old);
        match part {
            Part::Status => keep_all_but_status(new, old),
            Part::Main => {
                if self.status {
                    keep_status(new, old);
                }
                if beyond_metadata(new) != beyond_metadata(old) {
                    let generation = old["metadata"]["generation"].as_i64().unwrap_or(0);
                    set_generation(new, Some(generation + 1));
                }
            }
        }
    }

    fn validate_create(&self, object: &Value) -> Vec<FieldError> {
        let path = Path::field("metadata");
        let rule = names::subdomain_name;
        let mut errors = metadata::validate(&object["metadata"], self.namespaced, rule, &path);
        errors.extend(self.check_schema(Part::Main, object));
        self.check_rules(object, None, &mut errors);
        errors
    }

    fn validate_update(&self, part: Part, new: &Value, old: &Value) -> Vec<FieldError> {
        let mut errors = validate_change(new, old, self.namespaced);
        errors.extend(self.check_schema(part, new));
        self.check_rules(new, Some(old), &mut errors);
        errors
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        let rules = old.and_then(|old| Some((self.rules()?, old)));
        let broken = rules.map(|(rules, old)| rules.check(new, Some(old)));
        let tolerated = broken.into_iter().flat_map(|broken| broken.tolerated);
        tolerated.map(|fault| fault.to_string()).collect()
    }
}

fn is_of_wrong_form(error: &FieldError) -> bool {
    use ErrorKind::{Required, TooLong, TooMany, TypeInvalid};
    matches!(error.kind, Required | TooLong | TooMany | TypeInvalid)
}

fn field_schema(schema: &Schema, name: &str) -> Option<Arc<Schema>> {
    match &schema.shape {
        Shape::Struct(fields) => fields.fields.get(name).cloned(),
        _ => None,
    }
}

fn metadata_schema(schema: &Schema) -> Option<Arc<Schema>> {
    field_schema(schema, "metadata")
}

fn status_schema(schema: &Schema) -> Option<Arc<Schema>> {
    field_schema(schema, "status")
}

fn keep_status(new: &mut Value, old: &Value) {
    let Some(object) = new.as_object_mut() else {
        return;
    };
    match old.get("status") {
        Some(status) => drop(object.insert("status".to_owned(), status.clone())),
        None => drop(object.remove("status")),
    }
}

/// A status write changes nothing but the status, and who manages what.
fn keep_all_but_status(new: &mut Value, old: &Value) {
    let mut kept = old.clone();
    let taken = |from: &mut Value, name: &str| from.as_object_mut().and_then(|o| o.remove(name));
    let put = |into: &mut Value, name: &str, value: Option<Value>| {
        let Some(object) = into.as_object_mut() else {
            return;
        };
        match value {
            Some(value) => drop(object.insert(name.to_owned(), value)),
            None => drop(object.remove(name)),
        }
    };
    put(&mut kept, "status", taken(new, "status"));
    for name in ["resourceVersion", "managedFields"] {
        let value = new.get_mut("metadata").and_then(|meta| taken(meta, name));
        if let Some(meta) = kept.get_mut("metadata") {
            put(meta, name, value);
        }
    }
    *new = kept;
}

fn beyond_metadata(object: &Value) -> Vec<(&String, &Value)> {
    let fields = object.as_object().into_iter().flat_map(Map::iter);
    fields.filter(|(name, _)| *name != "metadata").collect()
}

fn check_replicas(object: &Value, path: &str) -> Option<FieldError> {
    let shown = format!(".{path}");
    let refuse =
        |number: i64, words: &str| Some(FieldError::invalid(&Path::field(&shown), number, words));
    match integer_at(object, path) {
        Err(words) => refuse(0, &format!("{shown} accessor error: {words}")),
        Ok(Some(number @ ..0)) => refuse(number, "should be a non-negative integer"),
        Ok(Some(number @ 2_147_483_648..)) => {
            refuse(number, "should be less than or equal to 2147483647")
        }
        Ok(_) => None,
    }
}

/// The integer at a path, or why there cannot be one.
fn integer_at(object: &Value, path: &str) -> Result<Option<i64>, String> {
    let mut at = object;
    for name in path.split('.') {
        match at {
            Value::Object(fields) => match fields.get(name) {
                Some(found) => at = found,
                None => return Ok(None),
            },
            Value::Null => return Ok(None),
            other => return Err(mismatch(other, "map[string]interface{}")),
        }
    }
    match at {
        Value::Number(number) if !number.is_f64() => Ok(number.as_i64()),
        other => Err(mismatch(other, "int64")),
    }
}

fn mismatch(value: &Value, wanted: &str) -> String {
    let kind = match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    };
    format!(
        "{} is of the type {kind}, expected {wanted}",
        go_text(value)
    )
}
