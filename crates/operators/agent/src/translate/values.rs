//! Values that are written down in ConfigMaps and Secrets.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};

use super::error::TranslateError;
use super::resources::{Kind, Reference, Resources};
use crate::api::values::{ValueRef, ValueSource};

/// The headers of requests, with their values looked up in `namespace`.
pub(crate) fn headers(
    refs: Option<&[ValueRef]>,
    namespace: &str,
    resources: &Resources,
) -> Result<BTreeMap<String, String>, TranslateError> {
    let refs = refs.unwrap_or_default().iter();
    refs.map(|each| Ok((each.name.clone(), header(each, namespace, resources)?)))
        .collect()
}

fn header(
    value: &ValueRef,
    namespace: &str,
    resources: &Resources,
) -> Result<String, TranslateError> {
    match (value.value.as_deref(), &value.value_from) {
        (None | Some(""), Some(source)) => value_of(source, namespace, resources),
        (text, _) => Ok(text.unwrap_or_default().to_owned()),
    }
}

/// One entry of a ConfigMap or Secret.
pub(super) fn value_of(
    source: &ValueSource,
    namespace: &str,
    resources: &Resources,
) -> Result<String, TranslateError> {
    match source.r#type.as_str() {
        "ConfigMap" => config_map_value(namespace, &source.name, &source.key, resources),
        "Secret" => secret_value(namespace, &source.name, &source.key, resources),
        other => Err(TranslateError::UnknownWord {
            what: "value source type",
            word: other.to_owned(),
        }),
    }
}

pub(super) fn config_map_value(
    namespace: &str,
    name: &str,
    key: &str,
    resources: &Resources,
) -> Result<String, TranslateError> {
    let data = &resources.need::<ConfigMap>(namespace, name)?.data;
    let value = data.as_ref().and_then(|data| data.get(key));
    value
        .cloned()
        .ok_or_else(|| key_missing(Kind::ConfigMap, namespace, name, key))
}

pub(crate) fn secret_value(
    namespace: &str,
    name: &str,
    key: &str,
    resources: &Resources,
) -> Result<String, TranslateError> {
    let data = &resources.need::<Secret>(namespace, name)?.data;
    let value = data.as_ref().and_then(|data| data.get(key));
    let value = value.ok_or_else(|| key_missing(Kind::Secret, namespace, name, key))?;
    Ok(String::from_utf8_lossy(&value.0).into_owned())
}

pub(crate) fn key_missing(kind: Kind, namespace: &str, name: &str, key: &str) -> TranslateError {
    TranslateError::KeyMissing {
        reference: Reference::new(kind, namespace, name),
        key: key.to_owned(),
    }
}
