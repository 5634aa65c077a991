//! The types in OpenAPI documents: those of the built-in kinds as a real server publishes them, and
//! those that definitions define.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::registry::ResourceType;

/// Types of a real server, recorded by `data/record_openapi.py`.
const RECORDED: &[u8] = include_bytes!("../../data/openapi.gz");

/// Unpacked when somebody first asks for a document.
static TEXT: LazyLock<String> = LazyLock::new(|| {
    let mut text = String::new();
    let read = GzDecoder::new(RECORDED).read_to_string(&mut text);
    read.map(|_| text).unwrap_or_default()
});
static TYPES: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    TEXT.lines()
        .filter_map(|line| line.split_once('\t'))
        .collect()
});

const REFERENCE: &str = r##""$ref":"#/components/schemas/"##;
const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

/// The types of one version of a built-in group that are kinds of their own.
pub(super) fn of_version(group: &str, version: &str) -> BTreeMap<String, String> {
    let wanted = format!(r#""group":{},"#, Value::from(group));
    let version = format!(r#""version":{}"#, Value::from(version));
    let own = TYPES.iter().filter(|(_, schema)| {
        let Some((_, kinds)) = schema.split_once(r#""x-kubernetes-group-version-kind":"#) else {
            return false;
        };
        // Types that belong to every group are found by those that use them.
        let kinds = kinds.split(']').next().unwrap_or_default();
        kinds.matches('{').count() == 1 && kinds.contains(&wanted) && kinds.contains(&version)
    });
    own.map(|(name, schema)| ((*name).to_owned(), (*schema).to_owned()))
        .collect()
}

/// Adds everything that the types refer to.
pub(super) fn close(schemas: &mut BTreeMap<String, String>) {
    let mut open: Vec<String> = schemas.values().cloned().collect();
    while let Some(schema) = open.pop() {
        for name in references(&schema) {
            if let (false, Some(found)) = (schemas.contains_key(name), TYPES.get(name)) {
                schemas.insert(name.to_owned(), (*found).to_owned());
                open.push((*found).to_owned());
            }
        }
    }
}

fn references(schema: &str) -> impl Iterator<Item = &str> {
    let rest = schema.split(REFERENCE).skip(1);
    rest.filter_map(|rest| rest.split('"').next())
}

/// The types that a definition defines: of its objects and of lists of them.
pub(super) fn custom(resource: &ResourceType, definition: &Value) -> BTreeMap<String, String> {
    let mut group: Vec<&str> = resource.id.group.split('.').collect();
    group.reverse();
    let name = |kind: &str| format!("{}.{}.{kind}", group.join("."), resource.version);
    let object = with_kind(object_type(resource, definition), resource, &resource.kind);
    let items = json!({"$ref": format!("#/components/schemas/{}", name(&resource.kind))});
    let list = json!({
        "description": format!("{} is a list of {}", resource.list_kind, resource.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": shared("apiVersion"),
            "items": {
                "description": format!("List of {}. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md", resource.id.plural),
                "type": "array",
                "items": {"allOf": [items]},
            },
            "kind": shared("kind"),
            "metadata": {"allOf": [reference(LIST_METADATA)]},
        },
    });
    let list = with_kind(list, resource, &resource.list_kind);
    let types = [
        (name(&resource.kind), object),
        (name(&resource.list_kind), list),
    ];
    types
        .map(|(name, schema)| (name, schema.to_string()))
        .into()
}

fn object_type(resource: &ResourceType, definition: &Value) -> Value {
    let versions = definition["spec"]["versions"]
        .as_array()
        .into_iter()
        .flatten();
    let mut own = versions.filter(|version| version["name"] == *resource.version);
    let schema = own
        .next()
        .map(|version| &version["schema"]["openAPIV3Schema"]);
    let mut schema = schema
        .filter(|schema| schema.is_object())
        .cloned()
        .unwrap_or_else(|| json!({"type": "object"}));
    let mut metadata = shared("metadata");
    metadata["allOf"] = json!([reference(METADATA)]);
    for (name, field) in [
        ("apiVersion", shared("apiVersion")),
        ("kind", shared("kind")),
        ("metadata", metadata),
    ] {
        schema["properties"][name] = field;
    }
    schema
}

fn with_kind(mut schema: Value, resource: &ResourceType, kind: &str) -> Value {
    schema["x-kubernetes-group-version-kind"] = json!([{
        "group": *resource.id.group,
        "kind": kind,
        "version": *resource.version,
    }]);
    schema
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// A field that all objects have, in the words of a built-in type.
fn shared(name: &str) -> Value {
    let any = TYPES
        .get("io.k8s.api.core.v1.ConfigMap")
        .copied()
        .unwrap_or_default();
    let any: Value = serde_json::from_str(any).unwrap_or_default();
    let field = &any["properties"][name];
    json!({"description": field["description"], "type": field.get("type").unwrap_or(&json!("object"))})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_of_the_record_leads_somewhere() {
        assert!(TYPES.len() > 500);
        for (name, schema) in TYPES.iter() {
            for reference in references(schema) {
                assert!(TYPES.contains_key(reference), "{name}: {reference}");
            }
        }
    }

    #[test]
    fn a_version_has_its_kinds_and_what_they_need() {
        let mut apps = of_version("apps", "v1");
        assert!(apps.contains_key("io.k8s.api.apps.v1.Deployment"));
        assert!(!apps.contains_key("io.k8s.api.core.v1.Pod"));
        close(&mut apps);
        assert!(apps.contains_key("io.k8s.api.core.v1.PodSpec"));
        assert!(apps.contains_key(METADATA));
    }
}
