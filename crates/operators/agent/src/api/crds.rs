//! The definitions of the resources, made from the types.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt;
use kube::core::crd::merge_crds;

use super::{Agent, MCPServer, ModelConfig, RemoteMCPServer, v1alpha1};

/// The version in which resources with several versions are kept.
const STORED: &str = "v1alpha2";

/// The definitions that the operator needs.
pub fn all() -> Vec<CustomResourceDefinition> {
    let agents = served_twice(v1alpha1::Agent::crd(), Agent::crd());
    let models = served_twice(v1alpha1::ModelConfig::crd(), ModelConfig::crd());
    [agents, models, RemoteMCPServer::crd(), MCPServer::crd()]
        .into_iter()
        .map(tidy)
        .collect()
}

fn served_twice(
    old: CustomResourceDefinition,
    new: CustomResourceDefinition,
) -> CustomResourceDefinition {
    let fallback = new.clone();
    merge_crds(vec![old, new], STORED).unwrap_or(fallback)
}

/// Optional is not nullable, and the fields of pods need no explaining: with their texts the
/// definitions would not fit into the annotation that `kubectl apply` writes.
fn tidy(mut definition: CustomResourceDefinition) -> CustomResourceDefinition {
    for version in &mut definition.spec.versions {
        let schema = version.schema.as_mut();
        if let Some(schema) = schema.and_then(|schema| schema.open_api_v3_schema.as_mut()) {
            tidy_schema(schema, 0);
        }
    }
    definition
}

/// How deep our own words reach: `spec`, its blocks, and their fields.
const EXPLAINED: usize = 4;

fn tidy_schema(schema: &mut JSONSchemaProps, depth: usize) {
    schema.nullable = None;
    if schema
        .default
        .as_ref()
        .is_some_and(|value| value.0.is_null())
    {
        schema.default = None;
    }
    if depth > EXPLAINED {
        schema.description = None;
    }
    for property in schema
        .properties
        .iter_mut()
        .flat_map(|all| all.values_mut())
    {
        tidy_schema(property, depth + 1);
    }
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = schema.items.as_mut() {
        tidy_schema(items, depth + 1);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = schema.additional_properties.as_mut() {
        tidy_schema(values, depth + 1);
    }
}
