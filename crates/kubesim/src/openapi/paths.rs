//! The requests by which objects are reached, as far as clients look for them: which kind a path
//! is about, and which options a write takes.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::registry::{ResourceType, Verb};

/// The paths of a version's resources.
pub(super) fn of(resources: &[Arc<ResourceType>]) -> Value {
    let mut paths = Map::new();
    for resource in resources {
        let base = match &*resource.id.group {
            "" => format!("/api/{}", resource.version),
            group => format!("/apis/{group}/{}", resource.version),
        };
        let plural = &resource.id.plural;
        let home = match resource.namespaced {
            true => format!("{base}/namespaces/{{namespace}}/{plural}"),
            false => format!("{base}/{plural}"),
        };
        paths.insert(home.clone(), collection(resource));
        paths.insert(format!("{home}/{{name}}"), object(resource));
        if resource.namespaced {
            paths.insert(
                format!("{base}/{plural}"),
                only(resource, "get", Verb::List),
            );
        }
    }
    Value::Object(paths)
}

fn collection(resource: &ResourceType) -> Value {
    operations(
        resource,
        &[
            ("get", Verb::List),
            ("post", Verb::Create),
            ("delete", Verb::DeleteCollection),
        ],
    )
}

fn object(resource: &ResourceType) -> Value {
    let verbs = [
        ("get", Verb::Get),
        ("put", Verb::Update),
        ("patch", Verb::Patch),
        ("delete", Verb::Delete),
    ];
    operations(resource, &verbs)
}

fn only(resource: &ResourceType, method: &'static str, verb: Verb) -> Value {
    operations(resource, &[(method, verb)])
}

fn operations(resource: &ResourceType, methods: &[(&'static str, Verb)]) -> Value {
    let known = methods
        .iter()
        .filter(|(_, verb)| resource.verbs.contains(verb));
    let operations = known.map(|(method, verb)| ((*method).to_owned(), operation(resource, *verb)));
    Value::Object(operations.collect())
}

fn operation(resource: &ResourceType, verb: Verb) -> Value {
    let writes: &[&str] = match verb {
        Verb::Create | Verb::Update => &["dryRun", "fieldManager", "fieldValidation"],
        Verb::Patch => &["dryRun", "fieldManager", "fieldValidation", "force"],
        Verb::Delete | Verb::DeleteCollection => {
            &["dryRun", "gracePeriodSeconds", "propagationPolicy"]
        }
        Verb::Get | Verb::List | Verb::Watch => &[],
    };
    let parameters: Vec<Value> = writes.iter().map(|name| parameter(name)).collect();
    json!({
        "operationId": format!("{}{}", verb.as_str(), resource.kind),
        "parameters": parameters,
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": verb.as_str(),
        "x-kubernetes-group-version-kind": {
            "group": *resource.id.group,
            "kind": *resource.kind,
            "version": *resource.version,
        },
    })
}

fn parameter(name: &str) -> Value {
    json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}})
}
