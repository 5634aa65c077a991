//! What is read of an object's metadata, and nothing more of it.
//!
//! Who owns which fields is often most of an object's text, comes with every answer and every
//! event, and is nearly always only compared. So it stays the text that the server sent until
//! somebody asks what it says.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// An object as far as its metadata tell.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Seen {
    #[serde(default)]
    pub(crate) metadata: Metadata,
}

/// The metadata of an object, as far as anybody here looks at them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Metadata {
    pub(crate) name: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
    pub(crate) deletion_timestamp: Option<Time>,
    pub(crate) annotations: Option<BTreeMap<String, String>>,
    pub(crate) owner_references: Option<Vec<OwnerReference>>,
    pub(crate) managed_fields: Option<Vec<Managed>>,
}

impl Metadata {
    /// Who owns which fields.
    pub(crate) fn managed(&self) -> &[Managed] {
        self.managed_fields.as_deref().unwrap_or_default()
    }
}

/// What one manager owns of an object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Managed {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) manager: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) operation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) api_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) time: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fields_type: Option<String>,
    #[serde(rename = "fieldsV1", skip_serializing_if = "Option::is_none")]
    pub(crate) fields: Option<Fields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subresource: Option<String>,
}

/// A set of fields, as the text that the server sent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Fields(Box<RawValue>);

impl Fields {
    pub(crate) fn text(&self) -> &str {
        self.0.get()
    }

    /// The tree that the text stands for.
    pub(crate) fn tree(&self) -> Value {
        serde_json::from_str(self.text()).unwrap_or_default()
    }
}

impl From<Value> for Fields {
    fn from(tree: Value) -> Self {
        Self(to_raw_value(&tree).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}

impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

#[cfg(test)]
mod tests {
    use kube::api::WatchEvent;
    use serde_json::json;

    use super::*;

    const OBJECT: &str = r#"{"kind":"PartialObjectMetadata","metadata":{"name":"a","managedFields":[
        {"manager":"us","operation":"Apply","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:x":{}}}}]}}"#;

    fn own(seen: &Seen) -> &Managed {
        &seen.metadata.managed()[0]
    }

    #[test]
    fn fields_are_read_from_replies_events_and_values_alike() {
        let reply: Seen = serde_json::from_str(OBJECT).unwrap();
        let line = format!(r#"{{"type":"ADDED","object":{OBJECT}}}"#);
        let Ok(WatchEvent::Added(event)) = serde_json::from_str::<WatchEvent<Seen>>(&line) else {
            panic!("not read: {line}");
        };
        let value: Value = serde_json::from_str(OBJECT).unwrap();
        let value: Seen = serde_json::from_value(value).unwrap();
        assert_eq!(own(&reply), own(&event));
        assert_eq!(own(&reply), own(&value));
        let fields = own(&reply).fields.as_ref().unwrap();
        assert_eq!(fields.tree(), json!({"f:data": {"f:x": {}}}));
    }

    #[test]
    fn an_entry_is_written_as_it_was_read() {
        let seen: Seen = serde_json::from_str(OBJECT).unwrap();
        let written = serde_json::to_value(own(&seen)).unwrap();
        let whole: Value = serde_json::from_str(OBJECT).unwrap();
        assert_eq!(written, whole["metadata"]["managedFields"][0]);
    }
}
