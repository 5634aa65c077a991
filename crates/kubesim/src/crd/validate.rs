//! The rules of a CustomResourceDefinition object.

use std::collections::HashSet;

use serde_json::Value;

use super::{openapi, rule_checks, schema, structure};
use crate::builtin::{At, Faults, names};
use crate::field_error::{FieldError, Path};
use crate::schema::Schema;
use crate::structural;

const COLUMN_TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS: [&str; 10] = [
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
    "binary",
    "bool",
];

/// Rules of new and changed CRDs alike.
pub(crate) fn check(crd: &At<'_>, faults: &mut Faults) {
    let spec = crd.field("spec");
    let wanted = format!(
        "{}.{}",
        spec.field("names").field("plural").text(),
        spec.field("group").text()
    );
    let meta = crd.field("metadata");
    let name = meta.field("name");
    if name.text() != wanted {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        faults.add(FieldError::invalid(&name.path, name.text(), detail));
    }
    check_group(&spec.field("group"), faults);
    faults.require_one_of(&spec.field("scope"), &["Cluster", "Namespaced"]);
    check_versions(&spec, faults);
    check_names(&spec.field("names"), faults);
    check_hoisted(&spec, faults);
    check_conversion(&spec.field("conversion"), faults);
    check_approval(crd, faults);
    let status = crd.field("status");
    check_stored(
        &spec.field("versions"),
        &status.field("storedVersions"),
        faults,
    );
    if spec.field("preserveUnknownFields").is_true() {
        if has_defaults(&spec.value["versions"]) {
            let detail = "must be false in order to use defaults in the schema";
            faults.add(spec.field("preserveUnknownFields").invalid(detail));
        }
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        faults.add(spec.field("preserveUnknownFields").invalid(detail));
    }
}

/// What of a CRD may not change.
pub(crate) fn check_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let (spec, before) = (new.field("spec"), old.field("spec"));
    let (names, names_before) = (spec.field("names"), before.field("names"));
    if is_established(old) {
        faults.immutable(&spec.field("scope"), &before.field("scope"));
        faults.immutable(&names.field("kind"), &names_before.field("kind"));
    }
    faults.immutable(&spec.field("group"), &before.field("group"));
    faults.immutable(&names.field("plural"), &names_before.field("plural"));
}

fn is_established(crd: &At<'_>) -> bool {
    let status = crd.field("status");
    let conditions = status.field("conditions");
    conditions
        .items()
        .any(|c| c.field("type").text() == "Established" && c.field("status").text() == "True")
}

/// The versions in which objects may be stored: the marked one among them, and none unknown.
fn check_stored(versions: &At<'_>, stored: &At<'_>, faults: &mut Faults) {
    if stored.is_empty() {
        faults.add(stored.invalid("must have at least one stored version"));
        return;
    }
    for version in versions.items().filter(|v| v.field("storage").is_true()) {
        let name = text(version.value, "name");
        if stored.items().all(|v| v.text() != name) {
            faults.add(stored.invalid(format!("must have the storage version {name}")));
        }
    }
    let known: Vec<&str> = versions.items().map(|v| text(v.value, "name")).collect();
    for version in stored.items().filter(|v| !known.contains(&v.text())) {
        let name = version.text();
        faults.add(version.invalid(format!(
            "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
        )));
    }
}

fn versions_marked(versions: &At<'_>) -> usize {
    let marked = |v: &At<'_>| v.field("storage").is_true();
    versions.items().filter(marked).count()
}

fn has_defaults(node: &Value) -> bool {
    match node {
        Value::Object(fields) => {
            fields.contains_key("default") || fields.values().any(has_defaults)
        }
        Value::Array(items) => items.iter().any(has_defaults),
        _ => false,
    }
}

fn check_group(group: &At<'_>, faults: &mut Faults) {
    if !faults.require(group, "") {
        return;
    }
    let wrong = names::dns1123_subdomain(group.text());
    if !wrong.is_empty() {
        faults.add(group.invalid(wrong.join(",")));
    } else if !group.text().contains('.') {
        faults.add(group.invalid("should be a domain with at least one dot"));
    }
}

fn check_versions(spec: &At<'_>, faults: &mut Faults) {
    let versions = spec.field("versions");
    for version in versions.items() {
        let schema = version.field("schema");
        let schema = schema.field("openAPIV3Schema");
        if !schema.is_set() {
            faults.add(schema.required(""));
        }
    }
    for version in versions.items() {
        joined(&version.field("name"), names::dns1035_label, "", faults);
        check_version(&version, spec, faults);
    }
    // The server's inner form repeats the name of the first version in a field of its own.
    if let Some(first) = versions.items().next() {
        let name = first.field("name");
        let path = spec.path.child("version");
        joined(
            &At {
                value: name.value,
                path,
            },
            names::dns1035_label,
            "",
            faults,
        );
    }
    let mut seen = HashSet::new();
    if !versions.items().all(|v| seen.insert(text(v.value, "name"))) {
        let detail = "must contain unique version names";
        faults.add(
            versions
                .invalid(detail)
                .showing(internal_versions(&versions)),
        );
    }
    if versions_marked(&versions) != 1 {
        let detail = "must have exactly one version marked as storage version";
        faults.add(
            versions
                .invalid(detail)
                .showing(internal_versions(&versions)),
        );
    }
}

fn check_version(version: &At<'_>, spec: &At<'_>, faults: &mut Faults) {
    check_deprecation(version, faults);
    let subresources = version.field("subresources");
    if !is_hoisted(spec, "schema") {
        let schema = version.field("schema");
        check_schema(&schema.field("openAPIV3Schema"), faults);
    }
    if !is_hoisted(spec, "subresources") {
        check_subresources(&subresources, faults);
    }
    if !is_hoisted(spec, "additionalPrinterColumns") {
        check_columns(&version.field("additionalPrinterColumns"), faults);
    }
}

/// The real server moves what all versions have in common to the top of the spec before it
/// looks at it, so its messages name that place.
fn is_hoisted(spec: &At<'_>, field: &str) -> bool {
    let versions = spec.field("versions");
    let mut all = versions.items().map(|v| v.value.get(field));
    match all.next() {
        Some(Some(first)) if !first.is_null() => all.all(|other| other == Some(first)),
        _ => false,
    }
}

fn check_hoisted(spec: &At<'_>, faults: &mut Faults) {
    let first = spec.value["versions"].get(0).unwrap_or(&Value::Null);
    let hoisted = |field: &str, name: &'static str| -> Option<(&Value, &'static str)> {
        is_hoisted(spec, field).then(|| (&first[field], name))
    };
    if let Some((value, name)) = hoisted("schema", "validation") {
        let at = At {
            value,
            path: spec.path.child(name),
        };
        check_schema(&at.field("openAPIV3Schema"), faults);
    }
    if let Some((value, name)) = hoisted("subresources", "subresources") {
        check_subresources(
            &At {
                value,
                path: spec.path.child(name),
            },
            faults,
        );
    }
    if let Some((value, name)) = hoisted("additionalPrinterColumns", "additionalPrinterColumns") {
        check_columns(
            &At {
                value,
                path: spec.path.child(name),
            },
            faults,
        );
    }
}

fn check_schema(schema: &At<'_>, faults: &mut Faults) {
    if !schema.is_set() {
        return;
    }
    if schema.field("nullable").is_true() {
        let path = schema.path.child("nullable");
        faults.add(FieldError::forbidden(
            &path,
            "nullable cannot be true at the root",
        ));
    }
    let before = faults.0.len();
    structure::check(schema, faults);
    if faults.0.len() == before {
        check_defaults(schema, faults);
    }
    openapi::check(schema, true, faults);
    if faults.0.len() == before {
        rule_checks::check_expressions(schema, faults);
    }
}

/// A default must itself fit the schema it belongs to.
fn check_defaults(node: &At<'_>, faults: &mut Faults) {
    let default = node.field("default");
    if default.is_set() {
        let compiled = schema::read(node.value);
        let mut pruned = default.value.clone();
        if !structural::prune(&compiled, &mut pruned).is_empty() {
            faults.add(default.invalid("must not have unknown fields"));
        }
        faults.0.extend(default_errors(&compiled, &default));
    }
    for (_, property) in node.field("properties").entries() {
        check_defaults(&property, faults);
    }
    for name in ["items", "additionalProperties"] {
        if node.field(name).value.is_object() {
            check_defaults(&node.field(name), faults);
        }
    }
}

/// Messages about defaults name places inside the default.
fn default_errors(schema: &Schema, default: &At<'_>) -> Vec<FieldError> {
    let mut errors = structural::validate(schema, default.value, &Path::root());
    for error in &mut errors {
        let inside = std::mem::take(&mut error.field);
        error.field = match inside.as_str() {
            "<nil>" => default.path.to_string(),
            inside => format!("{}.{inside}", default.path),
        };
    }
    errors
}

fn check_deprecation(version: &At<'_>, faults: &mut Faults) {
    let warning = version.field("deprecationWarning");
    if !warning.is_set() {
        return;
    }
    if !version.field("deprecated").is_true() {
        return faults.add(warning.invalid("can only be set for deprecated versions"));
    }
    match warning.text().len() {
        0 => faults.add(warning.invalid("must not be an empty string")),
        257.. => faults.add(warning.invalid("must be <= 256 characters long")),
        _ => {}
    }
}

fn check_subresources(subresources: &At<'_>, faults: &mut Faults) {
    let scale = subresources.field("scale");
    if !scale.is_set() {
        return;
    }
    for (name, root) in [
        ("specReplicasPath", ".spec."),
        ("statusReplicasPath", ".status."),
    ] {
        let path = scale.field(name);
        if faults.require(&path, "") && !path.text().starts_with(root) {
            let words = format!("should be a json path under {}", root.trim_end_matches('.'));
            faults.add(path.invalid(words));
        }
    }
    let selector = scale.field("labelSelectorPath");
    let text = selector.text();
    if !text.is_empty() && !text.starts_with(".spec.") && !text.starts_with(".status.") {
        faults.add(selector.invalid("should be a json path under either .spec or .status"));
    }
}

fn check_columns(columns: &At<'_>, faults: &mut Faults) {
    for column in columns.items() {
        faults.require(&column.field("name"), "");
        let kind = column.field("type");
        let words = format!("must be one of {}", COLUMN_TYPES.join(","));
        if faults.require(&kind, &words) && !COLUMN_TYPES.contains(&kind.text()) {
            faults.add(kind.invalid(words));
        }
        let format = column.field("format");
        if !format.is_empty() && !COLUMN_FORMATS.contains(&format.text()) {
            let mut known = COLUMN_FORMATS;
            known.sort_unstable();
            faults.add(format.invalid(format!("must be one of {}", known.join(","))));
        }
        if text(column.value, "jsonPath").is_empty() {
            faults.add(FieldError::required(&column.path.child("JSONPath"), ""));
        }
    }
}

fn check_names(names: &At<'_>, faults: &mut Faults) {
    for name in ["plural", "singular", "kind", "listKind"] {
        faults.require(&names.field(name), "");
    }
    for name in ["plural", "singular"] {
        joined(&names.field(name), names::dns1035_label, "", faults);
    }
    for name in ["kind", "listKind"] {
        let words = "may have mixed case, but should otherwise match: ";
        let rule = |text: &str| names::dns1035_label(&text.to_lowercase());
        joined(&names.field(name), rule, words, faults);
    }
    for short in names.field("shortNames").items() {
        joined(&short, names::dns1035_label, "", faults);
    }
    let (kind, list) = (names.field("kind"), names.field("listKind"));
    if !kind.is_empty() && kind.text() == list.text() {
        faults.add(list.invalid("kind and listKind may not be the same"));
    }
    for category in names.field("categories").items() {
        joined(&category, names::dns1035_label, "", faults);
    }
}

/// All faults of a name in one message; an empty name is another rule's matter.
fn joined(at: &At<'_>, rule: impl Fn(&str) -> Vec<String>, words: &str, faults: &mut Faults) {
    let wrong = rule(at.text());
    if !at.is_empty() && !wrong.is_empty() {
        faults.add(at.invalid(format!("{words}{}", wrong.join(","))));
    }
}

fn check_conversion(conversion: &At<'_>, faults: &mut Faults) {
    if !conversion.is_set() {
        return;
    }
    let strategy = conversion.field("strategy");
    faults.require_one_of(&strategy, &["None", "Webhook"]);
    let webhook = conversion.field("webhook");
    let client = webhook.field("clientConfig");
    // The server's own name for the field is not the one that users write.
    let path = conversion.path.child("webhookClientConfig");
    if strategy.text() == "Webhook" && webhook.field("conversionReviewVersions").is_empty() {
        let path = conversion.path.child("conversionReviewVersions");
        faults.add(FieldError::required(&path, ""));
    }
    match (strategy.text(), client.is_set()) {
        ("Webhook", false) => {
            let detail = "required when strategy is set to Webhook";
            faults.add(FieldError::required(&path, detail));
        }
        ("Webhook", true) if client.field("url").is_set() == client.field("service").is_set() => {
            let detail = "exactly one of url or service is required";
            faults.add(FieldError::required(&path, detail));
        }
        ("Webhook", true) => {}
        (_, true) => {
            let detail = "should not be set when strategy is not set to Webhook";
            faults.add(FieldError::forbidden(&path, detail));
        }
        _ => {}
    }
}

/// Groups of the Kubernetes community are reserved.
fn check_approval(crd: &At<'_>, faults: &mut Faults) {
    let spec = crd.field("spec");
    let group = spec.field("group").text();
    let reserved = [".k8s.io", ".kubernetes.io"]
        .iter()
        .any(|end| group.ends_with(end))
        || matches!(group, "k8s.io" | "kubernetes.io");
    let meta = crd.field("metadata");
    let annotations = meta.field("annotations");
    let name = "api-approved.kubernetes.io";
    let approval = annotations
        .value
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default();
    let approved = approval.starts_with("https://") || approval.starts_with("unapproved");
    if reserved && approval.is_empty() {
        let detail = "protected groups must have approval annotation \"api-approved.kubernetes.io\", see https://github.com/kubernetes/enhancements/pull/1111";
        faults.add(FieldError::required(&annotations.path.key(name), detail));
    } else if reserved && !approved {
        let detail = "protected groups must have approval annotation \"api-approved.kubernetes.io\" with either a URL or a reason starting with \"unapproved\", see https://github.com/kubernetes/enhancements/pull/1111";
        faults.add(FieldError::invalid(
            &annotations.path.key(name),
            approval,
            detail,
        ));
    }
}

/// The versions as the server's messages show them: in its inner form, without what it hoisted.
fn internal_versions(versions: &At<'_>) -> String {
    let inner = |v: At<'_>| {
        format!(
            "{{\"Name\":{:?},\"Served\":{},\"Storage\":{},\"Deprecated\":{},\"DeprecationWarning\":{},\"Schema\":null,\"Subresources\":null,\"AdditionalPrinterColumns\":null,\"SelectableFields\":null}}",
            v.field("name").text(),
            v.field("served").is_true(),
            v.field("storage").is_true(),
            v.field("deprecated").is_true(),
            v.field("deprecationWarning").value,
        )
    };
    let shown: Vec<String> = versions.items().map(inner).collect();
    format!("[{}]", shown.join(","))
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
