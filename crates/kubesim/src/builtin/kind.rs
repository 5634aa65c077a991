//! One built-in kind, described by its rules, and how the rules make a [`Strategy`].

use std::sync::Arc;

use serde_json::{Value, json};

use super::at::At;
use super::names::{self, NameRule};
use super::rules::Faults;
use super::{fallback, metadata};
use crate::field_error::{FieldError, Path};
use crate::schema::{Schema, Shape};
use crate::strategy::{Part, Strategy, Surroundings};
use crate::structural;

/// The rules of one kind. A kind starts out [plain](Kind::plain) and is told what it does
/// differently; tables of kinds are constants.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) group: &'static str,
    pub(crate) kind: &'static str,
    name: NameRule,
    counted: bool,
    counts_annotations: bool,
    keeps_status: bool,
    default: fn(&mut Value),
    prepare: fn(&mut Value, &dyn Surroundings),
    prepare_update: fn(&mut Value, &Value, &dyn Surroundings),
    validate: fn(&At<'_>, &mut Faults),
    validate_update: fn(&At<'_>, &At<'_>, &mut Faults),
    warn: fn(&At<'_>) -> Vec<String>,
}

impl Kind {
    /// Named like a DNS subdomain, without a generation, without rules of its own.
    pub(crate) const fn plain(group: &'static str, kind: &'static str) -> Self {
        Self {
            group,
            kind,
            name: names::subdomain_name,
            counted: false,
            counts_annotations: false,
            keeps_status: false,
            default: |_| {},
            prepare: |_, _| {},
            prepare_update: |_, _, _| {},
            validate: |_, _| {},
            validate_update: |_, _, _| {},
            warn: |_| Vec::new(),
        }
    }

    pub(crate) const fn named(mut self, rule: NameRule) -> Self {
        self.name = rule;
        self
    }

    /// `metadata.generation` counts the changes of everything but metadata and status.
    pub(crate) const fn counted(mut self) -> Self {
        self.counted = true;
        self
    }

    /// The generation counts the changes of annotations, too.
    pub(crate) const fn counts_annotations(mut self) -> Self {
        self.counts_annotations = true;
        self
    }

    /// A creator may set the status.
    pub(crate) const fn keeps_status(mut self) -> Self {
        self.keeps_status = true;
        self
    }

    pub(crate) const fn defaults(mut self, default: fn(&mut Value)) -> Self {
        self.default = default;
        self
    }

    pub(crate) const fn prepares(mut self, prepare: fn(&mut Value, &dyn Surroundings)) -> Self {
        self.prepare = prepare;
        self
    }

    pub(crate) const fn prepares_update(
        mut self,
        prepare: fn(&mut Value, &Value, &dyn Surroundings),
    ) -> Self {
        self.prepare_update = prepare;
        self
    }

    /// Rules that hold for new and for changed objects.
    pub(crate) const fn checks(mut self, validate: fn(&At<'_>, &mut Faults)) -> Self {
        self.validate = validate;
        self
    }

    /// Rules about the change from the old object (second) to the new one (first).
    pub(crate) const fn checks_update(
        mut self,
        validate: fn(&At<'_>, &At<'_>, &mut Faults),
    ) -> Self {
        self.validate_update = validate;
        self
    }

    /// What is remarked on, though not refused, in an object with a new generation.
    pub(crate) const fn warns(mut self, warn: fn(&At<'_>) -> Vec<String>) -> Self {
        self.warn = warn;
        self
    }
}

/// A kind together with its type and scope: what the verbs work with.
pub(super) struct BuiltIn {
    pub(super) kind: Kind,
    pub(super) namespaced: bool,
    pub(super) schema: Arc<Schema>,
}

impl BuiltIn {
    fn has_status(&self) -> bool {
        match &self.schema.shape {
            Shape::Struct(fields) => fields.fields.contains_key("status"),
            _ => false,
        }
    }

    fn counts_change(&self, new: &Value, old: &Value) -> bool {
        let annotations = |object: &Value| object["metadata"].get("annotations").cloned();
        differs_beyond_metadata(new, old)
            || (self.kind.counts_annotations && annotations(new) != annotations(old))
    }

    fn validate_own(&self, object: &Value) -> Faults {
        let mut faults = Faults::default();
        match self.kind.kind {
            "" => fallback::check(&self.schema, object, &Path::root(), &mut faults),
            _ => (self.kind.validate)(&At::root(object), &mut faults),
        }
        faults
    }
}

impl Strategy for BuiltIn {
    fn schema(&self) -> Arc<Schema> {
        self.schema.clone()
    }

    fn default(&self, object: &mut Value) {
        structural::canonicalise(&self.schema, object);
        (self.kind.default)(object);
    }

    fn prepare_create(&self, object: &mut Value, around: &dyn Surroundings) {
        if self.has_status() && !self.kind.keeps_status {
            object["status"] = json!({});
            structural::canonicalise(&self.schema, object);
        }
        set_generation(object, self.kind.counted.then_some(1));
        (self.kind.prepare)(object, around);
    }

    fn prepare_update(&self, part: Part, new: &mut Value, old: &Value, around: &dyn Surroundings) {
        keep_identity(new, old);
        match part {
            Part::Status => keep_all_but_status(new, old),
            Part::Main => {
                if let (true, Some(status)) = (self.has_status(), old.get("status")) {
                    new["status"] = status.clone();
                }
                (self.kind.prepare_update)(new, old, around);
                if self.kind.counted && self.counts_change(new, old) {
                    let generation = old["metadata"]["generation"].as_i64().unwrap_or(0);
                    set_generation(new, Some(generation + 1));
                }
            }
        }
    }

    fn validate_create(&self, object: &Value) -> Vec<FieldError> {
        let path = Path::field("metadata");
        let meta = &object["metadata"];
        let mut errors = metadata::validate(meta, self.namespaced, self.kind.name, &path);
        errors.extend(metadata::qualified_finalizers(meta, &path));
        errors.extend(self.validate_own(object).0);
        errors
    }

    fn validate_update(&self, part: Part, new: &Value, old: &Value) -> Vec<FieldError> {
        let mut errors = validate_change(new, old, self.namespaced);
        let path = Path::field("metadata");
        errors.extend(metadata::qualified_finalizers(&new["metadata"], &path));
        if part == Part::Main {
            errors.extend(self.validate_own(new).0);
            let mut faults = Faults::default();
            (self.kind.validate_update)(&At::root(new), &At::root(old), &mut faults);
            errors.extend(faults.0);
        }
        errors
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        let generation = |object: &Value| object["metadata"]["generation"].as_i64();
        if old.is_some_and(|old| generation(old) == generation(new)) {
            return Vec::new();
        }
        (self.kind.warn)(&At::root(new))
    }
}

/// The real server checks changed metadata for all kinds, and again for each kind; clients see
/// both in the causes.
pub(crate) fn validate_change(new: &Value, old: &Value, namespaced: bool) -> Vec<FieldError> {
    let path = Path::field("metadata");
    let (new, old) = (&new["metadata"], &old["metadata"]);
    let mut errors = metadata::validate(new, namespaced, names::path_segment_name, &path);
    errors.extend(metadata::validate_update(new, old, &path));
    errors.extend(metadata::validate_update(new, old, &path));
    errors
}

/// What no request may change, whatever it says.
pub(crate) fn keep_identity(new: &mut Value, old: &Value) {
    let old = &old["metadata"];
    set_generation(new, old["generation"].as_i64());
    let Some(meta) = new.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    for name in ["creationTimestamp", "deletionTimestamp"] {
        if let Some(value) = old.get(name).filter(|v| !v.is_null()) {
            meta.insert(name.to_owned(), value.clone());
        }
    }
    for name in ["uid", "deletionGracePeriodSeconds"] {
        if let (Some(value), None) = (old.get(name), meta.get(name)) {
            meta.insert(name.to_owned(), value.clone());
        }
    }
}

pub(crate) fn set_generation(object: &mut Value, generation: Option<i64>) {
    let Some(meta) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    match generation {
        Some(number) => drop(meta.insert("generation".to_owned(), number.into())),
        None => drop(meta.remove("generation")),
    }
}

fn keep_all_but_status(new: &mut Value, old: &Value) {
    let (Some(object), Some(before)) = (new.as_object_mut(), old.as_object()) else {
        return;
    };
    let writable = |name: &String| name == "status" || name == "metadata";
    object.retain(|name, _| writable(name));
    for (name, value) in before.iter().filter(|(name, _)| !writable(name)) {
        object.insert(name.clone(), value.clone());
    }
}

fn differs_beyond_metadata(new: &Value, old: &Value) -> bool {
    let part = |object: &Value| -> Vec<(String, Value)> {
        let fields = object.as_object().into_iter().flatten();
        fields
            .filter(|(name, _)| !matches!(name.as_str(), "metadata" | "status"))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    part(new) != part(old)
}
