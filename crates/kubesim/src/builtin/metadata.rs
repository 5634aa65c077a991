//! The rules that the metadata of every object keeps.

use serde_json::{Map, Value};

use super::names::{self, NameRule};
use crate::field_error::{FieldError, Path};

const ANNOTATIONS_LIMIT: usize = 256 * 1024;

/// What is wrong with the metadata of a new object.
pub(crate) fn validate(
    meta: &Value,
    namespaced: bool,
    rule: NameRule,
    path: &Path<'_>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check_names(meta, rule, path, &mut errors);
    check_namespace(meta, namespaced, path, &mut errors);
    if let Some(generation) = meta["generation"].as_i64().filter(|g| *g < 0) {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(
            &path.child("generation"),
            generation,
            detail,
        ));
    }
    check_shared(meta, path, &mut errors);
    check_finalizers(meta, &path.child("finalizers"), &mut errors);
    errors
}

/// What is wrong with the change of an object's metadata.
pub(crate) fn validate_update(new: &Value, old: &Value, path: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if old.get("deletionTimestamp").is_some_and(|t| !t.is_null()) {
        errors.extend(check_new_finalizers(new, old, &path.child("finalizers")));
    }
    if text(new, "resourceVersion").is_empty() {
        let detail = "must be specified for an update";
        errors.push(FieldError::invalid(
            &path.child("resourceVersion"),
            "",
            detail,
        ));
    }
    let (before, after) = (old["generation"].as_i64(), new["generation"].as_i64());
    if after.unwrap_or(0) < before.unwrap_or(0) {
        let detail = "must not be decremented";
        let after = after.unwrap_or(0);
        errors.push(FieldError::invalid(
            &path.child("generation"),
            after,
            detail,
        ));
    }
    for name in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        if new.get(name) != old.get(name) {
            let value = new.get(name).cloned().unwrap_or(Value::Null);
            errors.push(FieldError::invalid(
                &path.child(name),
                value,
                "field is immutable",
            ));
        }
    }
    check_shared(new, path, &mut errors);
    errors
}

/// The metadata of an object inside another one: it needs no name.
pub(crate) fn validate_embedded(meta: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let mut meta = meta.clone();
    let is_nameless = text(&meta, "name").is_empty();
    if let (Some(object), true) = (meta.as_object_mut(), is_nameless) {
        object.insert("name".to_owned(), "fakename".into());
    }
    let namespaced = !text(&meta, "namespace").is_empty();
    errors.extend(validate(&meta, namespaced, names::path_segment_name, path));
}

/// The labels and annotations of a template.
pub(crate) fn validate_template(meta: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    labels(&meta["labels"], &path.child("labels"), errors);
    annotations(&meta["annotations"], &path.child("annotations"), errors);
}

fn check_names(meta: &Value, rule: NameRule, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let (name, prefix) = (text(meta, "name"), text(meta, "generateName"));
    if !prefix.is_empty() {
        let at = path.child("generateName");
        errors.extend(
            rule(prefix, true)
                .into_iter()
                .map(|f| FieldError::invalid(&at, prefix, f)),
        );
    }
    let at = path.child("name");
    match name {
        "" => errors.push(FieldError::required(
            &at,
            "name or generateName is required",
        )),
        _ => errors.extend(
            rule(name, false)
                .into_iter()
                .map(|f| FieldError::invalid(&at, name, f)),
        ),
    }
}

fn check_namespace(meta: &Value, namespaced: bool, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let at = path.child("namespace");
    match (namespaced, text(meta, "namespace")) {
        (true, "") => errors.push(FieldError::required(&at, "")),
        (true, name) => {
            let faults = names::label_name(name, false).into_iter();
            errors.extend(faults.map(|f| FieldError::invalid(&at, name, f)));
        }
        (false, "") => {}
        (false, _) => errors.push(FieldError::forbidden(&at, "not allowed on this type")),
    }
}

fn check_shared(meta: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    labels(&meta["labels"], &path.child("labels"), errors);
    annotations(&meta["annotations"], &path.child("annotations"), errors);
    owners(
        &meta["ownerReferences"],
        &path.child("ownerReferences"),
        errors,
    );
}

/// Keys and values of labels.
pub(crate) fn labels(labels: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    for (key, value) in entries(labels) {
        for fault in names::qualified_name(key) {
            errors.push(FieldError::invalid(path, key.as_str(), fault));
        }
        let value = value.as_str().unwrap_or_default();
        for fault in names::label_value(value) {
            errors.push(FieldError::invalid(path, value, fault));
        }
    }
}

fn annotations(annotations: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let mut size = 0;
    for (key, value) in entries(annotations) {
        for fault in names::qualified_name(&key.to_lowercase()) {
            errors.push(FieldError::invalid(path, key.as_str(), fault));
        }
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > ANNOTATIONS_LIMIT {
        errors.push(FieldError::too_long(path, ANNOTATIONS_LIMIT));
    }
}

fn owners(owners: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let mut controller = None;
    for owner in owners.as_array().into_iter().flatten() {
        check_owner(owner, path, errors);
        if owner["controller"] != true {
            continue;
        }
        let this = format!("{}/{}", text(owner, "kind"), text(owner, "name"));
        match &controller {
            None => controller = Some(this),
            Some(first) => {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
                );
                let error = FieldError::invalid(path, Value::Null, detail);
                errors.push(error.showing(show_owners(owners)));
            }
        }
    }
}

/// References as the server writes them, fields in their order.
fn show_owners(owners: &Value) -> String {
    let order = [
        "apiVersion",
        "kind",
        "name",
        "uid",
        "controller",
        "blockOwnerDeletion",
    ];
    let show = |owner: &Value| {
        let fields = order
            .iter()
            .filter_map(|name| Some((name, owner.get(*name)?)));
        let fields: Vec<String> = fields
            .map(|(name, value)| format!("\"{name}\":{value}"))
            .collect();
        format!("{{{}}}", fields.join(","))
    };
    let shown: Vec<String> = owners.as_array().into_iter().flatten().map(show).collect();
    format!("[{}]", shown.join(","))
}

fn check_owner(owner: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let version = text(owner, "apiVersion");
    if version.is_empty() || version.ends_with('/') {
        let at = path.child("apiVersion");
        errors.push(FieldError::invalid(
            &at,
            version,
            "version must not be empty",
        ));
    }
    for name in ["kind", "name", "uid"] {
        if text(owner, name).is_empty() {
            errors.push(FieldError::invalid(
                &path.child(name),
                "",
                "must not be empty",
            ));
        }
    }
    if version == "v1" && owner["kind"] == "Event" {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        errors.push(FieldError::invalid(path, owner.clone(), detail));
    }
}

fn check_finalizers(meta: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let finalizers = &meta["finalizers"];
    for name in texts(finalizers) {
        for fault in names::qualified_name(name) {
            errors.push(FieldError::invalid(path, name, fault));
        }
    }
    let has = |wanted: &str| texts(finalizers).any(|name| name == wanted);
    if has("orphan") && has("foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(FieldError::invalid(path, finalizers.clone(), detail));
    }
}

/// Built-in kinds want finalizers with a domain, except for the server's own.
pub(crate) fn qualified_finalizers(meta: &Value, path: &Path<'_>) -> Vec<FieldError> {
    let path = path.child("finalizers");
    let standard = ["kubernetes", "orphan", "foregroundDeletion"];
    let words = "name is neither a standard finalizer name nor is it fully qualified";
    let names = texts(&meta["finalizers"]).enumerate();
    names
        .filter(|(_, name)| !name.contains('/') && !standard.contains(name))
        .map(|(index, name)| FieldError::invalid(&path.index(index), name, words))
        .collect()
}

fn check_new_finalizers(new: &Value, old: &Value, path: &Path<'_>) -> Option<FieldError> {
    let known: Vec<&str> = texts(&old["finalizers"]).collect();
    let mut extra: Vec<&str> = texts(&new["finalizers"])
        .filter(|name| !known.contains(name))
        .collect();
    extra.sort_unstable();
    extra.dedup();
    let quoted: Vec<String> = extra.iter().map(|e| format!("{e:?}")).collect();
    let words =
        "no new finalizers can be added if the object is being deleted, found new finalizers";
    let detail = format!("{words} []string{{{}}}", quoted.join(", "));
    (!extra.is_empty()).then(|| FieldError::forbidden(path, detail))
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn entries(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flat_map(Map::iter)
}
