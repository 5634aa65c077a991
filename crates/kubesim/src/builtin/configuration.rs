//! ConfigMaps, Secrets, ServiceAccounts and Namespaces.

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};

use super::at::At;
use super::fill;
use super::kind::Kind;
use super::names;
use super::rules::Faults;
use crate::field_error::FieldError;
use crate::strategy::Surroundings;

/// The most that one ConfigMap or Secret may hold.
const SIZE_LIMIT: usize = 1024 * 1024;

pub(super) const KINDS: [Kind; 4] = [
    Kind::plain("", "ConfigMap")
        .checks(check_config_map)
        .checks_update(check_config_map_update),
    Kind::plain("", "Secret")
        .defaults(default_secret)
        .checks(check_secret)
        .checks_update(check_secret_update),
    Kind::plain("", "ServiceAccount").prepares(|_, _| {}),
    Kind::plain("", "Namespace")
        .named(names::label_name)
        .defaults(default_namespace)
        .prepares(prepare_namespace)
        .prepares_update(keep_finalizers)
        .checks(check_namespace),
];

fn check_config_map(map: &At<'_>, faults: &mut Faults) {
    let (data, binary) = (map.field("data"), map.field("binaryData"));
    let mut size = 0;
    for (key, value) in data.entries() {
        check_key(key, &value, faults);
        if binary.value.get(key).is_some() {
            let words = "duplicate of key present in binaryData";
            faults.add(FieldError::invalid(&value.path, key, words));
        }
        size += value.text().len();
    }
    for (key, value) in binary.entries() {
        check_key(key, &value, faults);
        size += decoded_length(value.text());
    }
    if size > SIZE_LIMIT {
        faults.add(FieldError::too_long(&map.path, SIZE_LIMIT));
    }
}

fn check_key(key: &str, entry: &At<'_>, faults: &mut Faults) {
    for fault in names::config_key(key) {
        faults.add(FieldError::invalid(&entry.path, key, fault));
    }
}

fn decoded_length(text: &str) -> usize {
    BASE64_STANDARD
        .decode(text)
        .map_or(text.len(), |bytes| bytes.len())
}

fn check_config_map_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    check_immutable(new, old, &["data", "binaryData"], faults);
}

fn check_immutable(new: &At<'_>, old: &At<'_>, fields: &[&str], faults: &mut Faults) {
    if !old.field("immutable").is_true() {
        return;
    }
    let words = "field is immutable when `immutable` is set";
    if !new.field("immutable").is_true() {
        faults.add(new.field("immutable").forbidden(words));
    }
    for name in fields {
        if new.field(name).value != old.field(name).value {
            faults.add(new.field(name).forbidden(words));
        }
    }
}

fn default_secret(secret: &mut Value) {
    merge_string_data(secret);
    fill::empty(secret, "type", "Opaque");
}

/// `stringData` is a way to write `data` without base64; it is never stored.
fn merge_string_data(secret: &mut Value) {
    let Some(Value::Object(texts)) = secret.as_object_mut().and_then(|s| s.remove("stringData"))
    else {
        return;
    };
    fill::absent(secret, "data", json!({}));
    for (key, text) in texts {
        let bytes = text.as_str().unwrap_or_default();
        secret["data"][key] = BASE64_STANDARD.encode(bytes).into();
    }
}

fn check_secret(secret: &At<'_>, faults: &mut Faults) {
    let data = secret.field("data");
    let mut size = 0;
    for (key, value) in data.entries() {
        check_key(key, &value, faults);
        size += decoded_length(value.text());
    }
    if size > SIZE_LIMIT {
        faults.add(FieldError::too_long(&data.path, SIZE_LIMIT));
    }
    check_secret_type(secret, &data, faults);
}

fn check_secret_type(secret: &At<'_>, data: &At<'_>, faults: &mut Faults) {
    let require = |key: &str, faults: &mut Faults| {
        if data.value.get(key).is_none() {
            faults.add(FieldError::required(&data.path.key(key), ""));
        }
    };
    match secret.field("type").text() {
        "kubernetes.io/service-account-token" => {
            let meta = secret.field("metadata");
            let annotations = meta.field("annotations");
            let name = "kubernetes.io/service-account.name";
            if annotations.value.get(name).is_none_or(|value| value == "") {
                faults.add(FieldError::required(&annotations.path.key(name), ""));
            }
        }
        "kubernetes.io/dockercfg" => check_json(data, ".dockercfg", faults),
        "kubernetes.io/dockerconfigjson" => check_json(data, ".dockerconfigjson", faults),
        "kubernetes.io/basic-auth" => {
            let present = |key: &str| data.value.get(key).is_some();
            if !present("username") && !present("password") {
                require("username", faults);
                require("password", faults);
            }
        }
        "kubernetes.io/ssh-auth" => {
            let key = data.value.get("ssh-privatekey");
            if key.is_none_or(|value| value == "") {
                faults.add(FieldError::required(&data.path.key("ssh-privatekey"), ""));
            }
        }
        "kubernetes.io/tls" => {
            require("tls.crt", faults);
            require("tls.key", faults);
        }
        _ => {}
    }
}

fn check_json(data: &At<'_>, key: &str, faults: &mut Faults) {
    let path = data.path.key(key);
    let Some(text) = data.value.get(key).and_then(Value::as_str) else {
        return faults.add(FieldError::required(&path, ""));
    };
    let bytes = BASE64_STANDARD.decode(text).unwrap_or_default();
    if let Err(error) = serde_json::from_slice::<Value>(&bytes) {
        let words = match error.is_eof() {
            true => "unexpected end of JSON input".to_owned(),
            false => error.to_string(),
        };
        faults.add(FieldError::invalid(
            &path,
            "<secret contents redacted>",
            words,
        ));
    }
}

fn check_secret_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    faults.immutable(&new.field("type"), &old.field("type"));
    check_immutable(new, old, &["data"], faults);
}

/// Every namespace can be selected by its own name.
fn default_namespace(namespace: &mut Value) {
    let name = namespace["metadata"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    if name.is_empty() {
        return;
    }
    let Some(meta) = fill::part(namespace, "metadata") else {
        return;
    };
    fill::absent(meta, "labels", json!({}));
    meta["labels"]["kubernetes.io/metadata.name"] = name.into();
}

fn prepare_namespace(namespace: &mut Value, _around: &dyn Surroundings) {
    namespace["status"] = json!({"phase": "Active"});
    if !namespace["spec"].is_object() {
        namespace["spec"] = json!({});
    }
    let spec = &mut namespace["spec"];
    fill::absent(spec, "finalizers", json!([]));
    if let Some(list) = spec["finalizers"].as_array_mut()
        && !list.contains(&json!("kubernetes"))
    {
        list.push(json!("kubernetes"));
    }
}

/// Only the `finalize` subresource changes the finalizers of the spec.
fn keep_finalizers(new: &mut Value, old: &Value, _around: &dyn Surroundings) {
    if let Some(spec) = old.get("spec") {
        new["spec"] = spec.clone();
    }
}

fn check_namespace(namespace: &At<'_>, faults: &mut Faults) {
    let spec = namespace.field("spec");
    for finalizer in spec.field("finalizers").items() {
        faults.name(&finalizer, names::qualified_name);
    }
}
