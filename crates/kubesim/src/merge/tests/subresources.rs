//! Writes through the status endpoint.

use serde_json::json;

use super::*;

fn status(world: &mut World) -> &mut World {
    world.at("status", ResetFields::custom("status", true))
}

fn main(world: &mut World) -> &mut World {
    world.at("", ResetFields::custom("", true))
}

#[test]
fn each_endpoint_owns_only_its_part() {
    let mut world = World::custom();
    let both = |status: &str| json!({"spec": {"text": "a"}, "status": {"text": status}});
    main(&mut world).apply("m", both("s"));
    assert_eq!(
        world.fields_of("m Apply"),
        json!({"f:spec": {"f:text": {}}})
    );
    status(&mut world).apply("m", both("t"));
    assert_eq!(
        world.managers(),
        [
            ("m Apply".to_owned(), json!({"f:spec": {"f:text": {}}})),
            (
                "m Apply status".to_owned(),
                json!({"f:status": {"f:text": {}}})
            ),
        ]
    );
}

#[test]
fn what_is_reset_raises_no_conflict() {
    let mut world = World::custom();
    main(&mut world).put("hand", json!({"spec": {"text": "a"}}));
    status(&mut world).put(
        "ctl",
        json!({"spec": {"text": "a"}, "status": {"text": "s"}}),
    );
    main(&mut world).apply("m", json!({"spec": {"number": 1}, "status": {"text": "t"}}));
    assert_eq!(
        world.fields_of("ctl Update status"),
        json!({"f:status": {".": {}, "f:text": {}}})
    );
    status(&mut world).apply(
        "m",
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"text": "z"}}),
    );
    assert_eq!(world.fields_of("m Apply status"), json!(null));
}

#[test]
fn managers_cannot_be_reset_through_a_subresource() {
    let mut world = World::custom();
    main(&mut world).apply("m", json!({"spec": {"text": "a"}}));
    status(&mut world).put(
        "ctl",
        json!({"metadata": {"managedFields": []}, "spec": {"text": "a"}}),
    );
    assert_eq!(
        world.managers(),
        [("m Apply".to_owned(), json!({"f:spec": {"f:text": {}}}))]
    );
}

#[test]
fn the_table_of_built_in_endpoints() {
    let of = ResetFields::built_in;
    assert_eq!(of("", "configmaps", "", false), ResetFields::none());
    assert_eq!(
        of("apps", "deployments", "", true),
        ResetFields::custom("", true)
    );
    assert_eq!(
        of(
            "flowcontrol.apiserver.k8s.io",
            "flowschemas",
            "status",
            true
        ),
        ResetFields::custom("status", true)
    );
    assert_ne!(
        of("apps", "deployments", "status", true),
        of("apps", "replicasets", "status", true)
    );
    assert_eq!(
        of("apps", "deployments", "scale", true),
        ResetFields::none()
    );
}
