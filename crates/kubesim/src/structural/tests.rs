//! What must hold for any schema and any value.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{canonicalise, default, prune, type_mismatch, validate};
use crate::crd;
use crate::field_error::Path;
use crate::schema::{Schema, builtin};
use crate::strategy::{Nothing, Part};

/// JSON of moderate size, with names that schemas know among its keys.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z0-9./-]{0,8}".prop_map(Value::from),
        Just(json!("1Gi")),
    ];
    let key = prop_oneof![
        "[a-z]{1,3}",
        prop::sample::select(vec![
            "spec",
            "metadata",
            "name",
            "labels",
            "containers",
            "template",
            "ports",
            "versions",
            "schema",
            "openAPIV3Schema",
            "properties",
            "items",
            "type",
            "default",
            "names",
            "kind",
            "rules",
            "selector",
            "data",
            "anyOf",
            "required",
            "enum",
            "pattern",
            "status",
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(6, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_kind() -> impl Strategy<Value = (&'static str, &'static str, &'static str)> {
    prop::sample::select(vec![
        ("", "v1", "Pod"),
        ("", "v1", "ConfigMap"),
        ("", "v1", "Secret"),
        ("", "v1", "Service"),
        ("", "v1", "Node"),
        ("", "v1", "PersistentVolume"),
        ("apps", "v1", "Deployment"),
        ("apps", "v1", "StatefulSet"),
        ("apps", "v1", "DaemonSet"),
        ("batch", "v1", "Job"),
        ("batch", "v1", "CronJob"),
        ("networking.k8s.io", "v1", "Ingress"),
        ("networking.k8s.io", "v1", "NetworkPolicy"),
        ("rbac.authorization.k8s.io", "v1", "RoleBinding"),
        ("autoscaling", "v2", "HorizontalPodAutoscaler"),
        ("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
    ])
}

/// The schema that a CRD with this root would get, if the server took it.
fn schema_of(root: &Value) -> Option<std::sync::Arc<Schema>> {
    let version =
        json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": root}});
    let spec = json!({
        "group": "x.io",
        "scope": "Namespaced",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
        "versions": [version],
    });
    let status = json!({"storedVersions": ["v1"]});
    let crd = json!({"metadata": {"name": "things.x.io"}, "spec": spec, "status": status});
    let definition = crd::compile(&crd).ok()?;
    Some(definition.versions.first()?.schema.clone())
}

fn rich_root() -> Value {
    json!({"type": "object", "properties": {
        "spec": {"type": "object", "default": {}, "properties": {
            "name": {"type": "string", "default": "n", "pattern": "^[a-z]*$"},
            "items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"}, "kind": {"type": "string", "default": "k"}}}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "rules": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        }},
    }})
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_json_makes_built_in_kinds_panic((group, version, kind) in any_kind(), mut value in any_json()) {
        let schema = builtin(group, version, kind).expect("a kind of the table");
        let strategy = crate::builtin::strategy(group, version, kind, true);
        prune(&schema, &mut value);
        type_mismatch(&schema, &value, kind);
        strategy.default(&mut value);
        strategy.validate_create(&value);
        validate(&schema, &value, &Path::root());
    }

    #[test]
    fn whatever_decodes_can_be_prepared_and_judged(
        (group, version, kind) in any_kind(),
        new in any_json(),
        old in any_json(),
    ) {
        let strategy = crate::builtin::strategy(group, version, kind, true);
        let schema = strategy.schema();
        let decoded = [new, old].map(|mut value| {
            prune(&schema, &mut value);
            let fits = value.is_object() && type_mismatch(&schema, &value, kind).is_none();
            if !fits {
                value = json!({});
            }
            strategy.default(&mut value);
            value
        });
        let [mut created, old] = decoded;
        let mut updated = created.clone();
        strategy.prepare_create(&mut created, &Nothing);
        strategy.validate_create(&created);
        for part in [Part::Main, Part::Status] {
            strategy.prepare_update(part, &mut updated, &old, &Nothing);
            strategy.validate_update(part, &updated, &old);
        }
    }

    #[test]
    fn no_json_makes_a_definition_panic(root in any_json(), value in any_json()) {
        crd::compile(&root).ok();
        if let Some(schema) = schema_of(&root) {
            let mut value = value;
            prune(&schema, &mut value);
            default(&schema, &mut value);
            validate(&schema, &value, &Path::root());
        }
    }

    #[test]
    fn pruning_twice_finds_nothing((group, version, kind) in any_kind(), mut value in any_json()) {
        let schema = builtin(group, version, kind).expect("a kind of the table");
        prune(&schema, &mut value);
        prop_assert_eq!(prune(&schema, &mut value), Vec::<String>::new());
    }

    #[test]
    fn canonical_form_is_kept((group, version, kind) in any_kind(), mut once in any_json()) {
        let schema = builtin(group, version, kind).expect("a kind of the table");
        prune(&schema, &mut once);
        if type_mismatch(&schema, &once, kind).is_none() {
            canonicalise(&schema, &mut once);
            let mut twice = once.clone();
            canonicalise(&schema, &mut twice);
            prop_assert_eq!(once, twice);
        }
    }

    #[test]
    fn defaulting_a_custom_resource_twice_changes_nothing(spec in any_json()) {
        let schema = schema_of(&rich_root()).expect("a good schema");
        let mut once = json!({"spec": spec});
        prune(&schema, &mut once);
        default(&schema, &mut once);
        let mut twice = once.clone();
        default(&schema, &mut twice);
        prop_assert_eq!(once, twice);
    }
}

#[test]
fn unknown_fields_are_named_as_clients_are_told() {
    let pod = builtin("", "v1", "Pod").expect("pods");
    let mut value = json!({
        "bogus": 1,
        "metadata": {"labels": {"a": "b"}, "nope": 1},
        "spec": {"containers": [{"name": "c", "foo": {}}]},
    });
    let unknown = prune(&pod, &mut value);
    assert_eq!(
        unknown,
        ["bogus", "metadata.nope", "spec.containers[0].foo"]
    );
    assert_eq!(value["metadata"], json!({"labels": {"a": "b"}}));
}

#[test]
fn values_of_the_wrong_type_are_named_as_the_decoder_does() {
    let deployment = builtin("apps", "v1", "Deployment").expect("deployments");
    let cases = [
        (
            json!({"spec": {"replicas": "1"}}),
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            json!({"metadata": {"labels": {"a": 1}}}),
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            json!({"spec": {"template": {"spec": {"containers": "x"}}}}),
            "json: cannot unmarshal string into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
        ),
    ];
    for (value, expected) in cases {
        let found = type_mismatch(&deployment, &value, "Deployment");
        assert_eq!(found.as_deref(), Some(expected));
    }
}
