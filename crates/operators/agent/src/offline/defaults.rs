//! What is filled in where authors left something out, from the definitions of the resources: by an
//! API server its defaults, by Go, whose types know no absence, nothing much.

use std::sync::LazyLock;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::{Map, Value, json};

use crate::api::crds;

/// Made once: they are long.
static DEFINITIONS: LazyLock<Vec<CustomResourceDefinition>> = LazyLock::new(crds::all);

/// Who fills in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// An API server, which has seen to it that nothing is missing that must be there.
    Server,
    /// Go, which takes what must be there and is not for empty.
    Go,
}

/// Fills in what the author of a resource of ours left out; other documents stay as they are.
pub(super) fn fill(object: &mut Map<String, Value>, by: By) {
    let text = |field: &str| object.get(field).and_then(Value::as_str);
    let (Some(api_version), Some(kind)) = (text("apiVersion"), text("kind")) else {
        return;
    };
    if let Some(schema) = schema_of(api_version, kind) {
        by.fill_fields(schema, object);
    }
}

fn schema_of(api_version: &str, kind: &str) -> Option<&'static JSONSchemaProps> {
    let (group, version) = api_version.split_once('/')?;
    let mut specs = DEFINITIONS.iter().map(|definition| &definition.spec);
    let spec = specs.find(|spec| spec.group == group && spec.names.kind == kind)?;
    let mut versions = spec.versions.iter();
    let version = versions.find(|each| each.name == version)?;
    version.schema.as_ref()?.open_api_v3_schema.as_ref()
}

impl By {
    fn fill_fields(self, schema: &JSONSchemaProps, fields: &mut Map<String, Value>) {
        for (name, property) in schema.properties.iter().flatten() {
            if !fields.contains_key(name)
                && let Some(value) = self.missing(schema, name, property)
            {
                fields.insert(name.clone(), value);
            }
            if let Some(value) = fields.get_mut(name) {
                self.fill_value(property, value);
            }
        }
        if let Some(JSONSchemaPropsOrBool::Schema(each)) = &schema.additional_properties {
            let values = fields.values_mut();
            values.for_each(|value| self.fill_value(each, value));
        }
    }

    fn fill_value(self, schema: &JSONSchemaProps, value: &mut Value) {
        match (value, &schema.items) {
            (Value::Object(fields), _) => self.fill_fields(schema, fields),
            (Value::Array(items), Some(JSONSchemaPropsOrArray::Schema(each))) => {
                items
                    .iter_mut()
                    .for_each(|item| self.fill_value(each, item));
            }
            _ => {}
        }
    }

    fn missing(
        self,
        schema: &JSONSchemaProps,
        name: &String,
        property: &JSONSchemaProps,
    ) -> Option<Value> {
        let required = schema.required.iter().flatten().any(|each| each == name);
        match self {
            Self::Server => property.default.as_ref().map(|default| default.0.clone()),
            Self::Go => required.then(|| empty(property)),
        }
    }
}

fn empty(property: &JSONSchemaProps) -> Value {
    if property.x_kubernetes_int_or_string == Some(true) {
        return json!(0);
    }
    match property.type_.as_deref() {
        Some("string") => json!(""),
        Some("integer" | "number") => json!(0),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        _ => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_missing_is_filled_in_and_nothing_else() {
        let filled = |mut document: Value| {
            fill(document.as_object_mut().expect("an object"), By::Server);
            document["spec"].clone()
        };
        let agent = |spec: Value| json!({"apiVersion": "kagent.dev/v1alpha2", "kind": "Agent", "spec": spec});
        let bare = filled(agent(json!({"declarative": {"systemMessage": "hi"}})));
        assert_eq!(bare["type"], "Declarative");
        assert_eq!(bare["declarative"]["runtime"], "go");
        assert!(bare["declarative"].get("context").is_none(), "{bare}");
        let python = filled(agent(json!({"declarative": {"runtime": "python"}})));
        assert_eq!(python["declarative"]["runtime"], "python");
        let skills = json!({"skills": {"gitRefs": [{"url": "u"}]}});
        assert_eq!(filled(agent(skills))["skills"]["gitRefs"][0]["ref"], "main");
        let other = json!({"apiVersion": "v1", "kind": "Secret", "spec": {}});
        assert_eq!(filled(other), json!({}));
    }

    #[test]
    fn what_must_be_there_and_is_not_is_empty_to_go() {
        let mut server = json!({"apiVersion": "kagent.dev/v1alpha2", "kind": "RemoteMCPServer",
            "spec": {"url": "u", "headersFrom": [{"value": "v"}]}});
        fill(server.as_object_mut().expect("an object"), By::Go);
        let wanted =
            json!({"url": "u", "description": "", "headersFrom": [{"name": "", "value": "v"}]});
        assert_eq!(server["spec"], wanted);
    }
}
