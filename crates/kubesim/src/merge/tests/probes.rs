//! What a real 1.36.4 server answered to the same writes.

use serde_json::json;

use super::*;

#[test]
fn a_create_owns_all_it_brings() {
    let mut world = World::config_map();
    world.put("", json!({"data": {"x": "1"}}));
    assert_eq!(
        world.managers(),
        [(
            "unknown Update".to_owned(),
            json!({"f:data": {".": {}, "f:x": {}}})
        )]
    );
}

#[test]
fn a_generated_name_is_owned() {
    let mut world = World::config_map();
    world.put("", json!({"metadata": {"generateName": "g-"}}));
    assert_eq!(
        world.fields_of("unknown Update"),
        json!({"f:metadata": {"f:generateName": {}}})
    );
}

#[test]
fn finalizers_are_a_set() {
    let mut world = World::config_map();
    world.put("", json!({"metadata": {"finalizers": ["ex.io/f"]}}));
    assert_eq!(
        world.fields_of("unknown Update"),
        json!({"f:metadata": {"f:finalizers": {".": {}, "v:\"ex.io/f\"": {}}}})
    );
}

#[test]
fn an_update_of_a_value_keeps_the_set() {
    let mut world = World::config_map();
    world.put("", json!({"data": {"x": "1"}}));
    world.put("", json!({"data": {"x": "2"}}));
    assert_eq!(
        world.managers(),
        [(
            "unknown Update".to_owned(),
            json!({"f:data": {".": {}, "f:x": {}}})
        )]
    );
}

#[test]
fn conflict_force_and_drop() {
    let mut world = World::config_map();
    world.put("", json!({"data": {"x": "2"}}));
    assert_eq!(
        world.refused("m1", json!({"data": {"x": "9"}})),
        "Apply failed with 1 conflict: conflict with \"unknown\" using v1: .data.x"
    );

    world.force("m1", json!({"data": {"x": "9"}}));
    assert_eq!(world.content(), json!({"data": {"x": "9"}}));
    assert_eq!(
        world.managers(),
        [
            ("m1 Apply".to_owned(), json!({"f:data": {"f:x": {}}})),
            ("unknown Update".to_owned(), json!({"f:data": {}})),
        ]
    );

    world.apply("m1", json!({"data": {"y": "1"}}));
    assert_eq!(world.content(), json!({"data": {"y": "1"}}));
    assert_eq!(
        world.managers(),
        [
            ("m1 Apply".to_owned(), json!({"f:data": {"f:y": {}}})),
            ("unknown Update".to_owned(), json!({"f:data": {}})),
        ]
    );
}

#[test]
fn the_cause_of_a_conflict() {
    let mut world = World::config_map();
    world.put("", json!({"data": {"x": "2"}}));
    let Err(ApplyError::Conflicts(conflicts)) =
        world.try_apply("m1", &json!({"data": {"x": "9"}}), false)
    else {
        panic!("no conflict");
    };
    let causes: Vec<_> = conflicts
        .iter()
        .map(|c| (c.message(), c.path.clone()))
        .collect();
    assert_eq!(
        causes,
        [(
            "conflict with \"unknown\" using v1".to_owned(),
            ".data.x".to_owned()
        )]
    );
}

#[test]
fn an_intent_must_not_have_managers() {
    let intent = json!({"metadata": {"managedFields": []}});
    assert_eq!(
        World::config_map().refused("m1", intent),
        "metadata.managedFields must be nil"
    );
}

#[test]
fn an_unknown_field() {
    assert_eq!(
        World::config_map().refused("m1", json!({"bogus": 1})),
        "failed to create typed patch object (/a; /v1, Kind=Thing): .bogus: field not declared in schema"
    );
}

#[test]
fn an_apply_of_nothing_leaves_no_manager() {
    let mut world = World::config_map();
    world.apply("m1", nothing());
    assert_eq!(world.managers(), []);
}

#[test]
fn a_deployment_applied() {
    let mut world = World::deployment();
    world.apply(
        "m1",
        json!({"spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "x"}]}
            }
        }}),
    );
    assert_eq!(
        world.fields_of("m1 Apply"),
        json!({"f:spec": {
            "f:replicas": {},
            "f:selector": {},
            "f:template": {
                "f:metadata": {"f:labels": {"f:a": {}}},
                "f:spec": {"f:containers": {
                    "k:{\"name\":\"c\"}": {".": {}, "f:image": {}, "f:name": {}}
                }}
            }
        }})
    );
}

#[test]
fn conditions_written_by_a_controller() {
    let mut world = World::built_in("", "v1", "Namespace");
    world.put(
        "unknown",
        json!({"metadata": {"labels": {"kubernetes.io/metadata.name": "tt"}}}),
    );
    world.at(
        "status",
        ResetFields::built_in("", "namespaces", "status", true),
    );
    let condition = json!({"type": "Remaining", "status": "True", "reason": "R", "message": "m"});
    world.put("kcm", json!({"status": {"conditions": [condition]}}));
    assert_eq!(
        world.managers(),
        [
            (
                "unknown Update".to_owned(),
                json!({"f:metadata": {"f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}}}})
            ),
            (
                "kcm Update status".to_owned(),
                json!({"f:status": {"f:conditions": {
                    ".": {},
                    "k:{\"type\":\"Remaining\"}":
                        {".": {}, "f:message": {}, "f:reason": {}, "f:status": {}, "f:type": {}}
                }}})
            ),
        ]
    );
}
