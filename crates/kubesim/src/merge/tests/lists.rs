//! Lists that merge by item.

use serde_json::json;

use super::*;

fn names(world: &World) -> Vec<String> {
    let content = world.content();
    let items = content["spec"]["items"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    items
        .iter()
        .map(|item| item["name"].as_str().unwrap().to_owned())
        .collect()
}

fn items(names: &str) -> Value {
    let items: Vec<_> = names
        .chars()
        .map(|name| json!({"name": name.to_string()}))
        .collect();
    json!({"spec": {"items": items}})
}

#[test]
fn items_merge_by_key() {
    let mut world = World::custom();
    world.apply(
        "m1",
        json!({"spec": {"items": [{"name": "a", "value": "1"}]}}),
    );
    world.apply(
        "m2",
        json!({"spec": {"items": [{"name": "a", "tags": ["t"]}, {"name": "b"}]}}),
    );
    assert_eq!(
        world.content()["spec"]["items"],
        json!([{"name": "a", "value": "1", "tags": ["t"]}, {"name": "b"}])
    );
    assert_eq!(
        world.fields_of("m2 Apply"),
        json!({"f:spec": {"f:items": {
            "k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:tags": {"v:\"t\"": {}}},
            "k:{\"name\":\"b\"}": {".": {}, "f:name": {}}
        }}})
    );
}

#[test]
fn a_dropped_item_goes_unless_shared() {
    let mut world = World::custom();
    world.apply("m1", items("ab")).apply("m2", items("b"));
    world.apply("m1", items("c"));
    assert_eq!(names(&world), ["b", "c"]);
    world.apply("m2", nothing());
    assert_eq!(names(&world), ["c"]);
}

#[test]
fn an_absent_key_counts_as_its_default() {
    let mut world = World::custom();
    world.apply("m1", json!({"spec": {"ports": [{"port": 80}]}}));
    assert_eq!(
        world.fields_of("m1 Apply"),
        json!({"f:spec": {"f:ports": {
            "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}
        }}})
    );
    world.apply("m2", json!({"spec": {"ports": [{"port": 80, "protocol": "TCP", "name": "x"}, {"port": 80, "protocol": "UDP"}]}}));
    assert_eq!(
        world.content()["spec"]["ports"],
        json!([{"port": 80, "protocol": "TCP", "name": "x"}, {"port": 80, "protocol": "UDP"}])
    );
}

#[test]
fn sets_join() {
    let mut world = World::custom();
    world
        .apply("m1", json!({"spec": {"set": ["a", "b"]}}))
        .apply("m2", json!({"spec": {"set": ["c", "a"]}}));
    world.apply("m1", json!({"spec": {"set": ["d"]}}));
    assert_eq!(world.content(), json!({"spec": {"set": ["c", "a", "d"]}}));
    assert_eq!(
        world.fields_of("m2 Apply"),
        json!({"f:spec": {"f:set": {"v:\"a\"": {}, "v:\"c\"": {}}}})
    );
}

#[test]
fn the_order_of_merged_lists() {
    for (live, intent, merged) in [
        ("abc", "d", "abcd"),
        ("abc", "cb", "acb"),
        ("abc", "bd", "abcd"),
        ("abc", "dcba", "dcba"),
        ("abcde", "edc", "abedc"),
        ("bd", "abcde", "abcde"),
    ] {
        let mut world = World::custom();
        world.put("m1", items(live)).apply("m2", items(intent));
        assert_eq!(names(&world).concat(), merged, "{live} {intent}");
    }
}

#[test]
fn duplicates_are_owned_as_one() {
    let mut world = World::custom();
    let twice =
        json!({"spec": {"items": [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}]}});
    world.put("m1", twice.clone());
    assert_eq!(
        world.fields_of("m1 Update"),
        json!({"f:spec": {".": {}, "f:items": {".": {}, "k:{\"name\":\"a\"}": {}}}})
    );
    let mut changed = twice;
    changed["spec"]["items"][1]["value"] = json!("3");
    world.put("m2", changed);
    assert_eq!(
        world.fields_of("m2 Update"),
        json!({"f:spec": {"f:items": {"k:{\"name\":\"a\"}": {}}}})
    );
    world.force(
        "m3",
        json!({"spec": {"items": [{"name": "a", "value": "4"}]}}),
    );
    assert_eq!(
        world.content()["spec"]["items"],
        json!([{"name": "a", "value": "4"}])
    );
}

#[test]
fn a_list_without_identities_is_not_tracked() {
    let mut world = World::custom();
    world.apply("m1", json!({"spec": {"text": "a"}}));
    world.put("hand", json!({"spec": {"items": [{"value": "nameless"}]}}));
    assert_eq!(world.managers(), []);
}

#[test]
fn containers_of_a_deployment() {
    let mut world = World::deployment();
    let containers = |list: Value| json!({"spec": {"template": {"spec": {"containers": list}}}});
    world.apply(
        "m1",
        containers(json!([{"name": "app", "image": "v1", "env": [{"name": "A", "value": "1"}]}])),
    );
    world.apply("m2", containers(json!([{"name": "sidecar", "image": "s"}])));
    assert_eq!(
        world.refused(
            "m2",
            containers(
                json!([{"name": "app", "image": "v2", "env": [{"name": "A", "value": "2"}]}])
            )
        ),
        "Apply failed with 2 conflicts: conflicts with \"m1\":\n\
         - .spec.template.spec.containers[name=\"app\"].image\n\
         - .spec.template.spec.containers[name=\"app\"].env[name=\"A\"].value"
    );
    world.apply("m1", containers(json!([{"name": "app", "image": "v3"}])));
    assert_eq!(
        world.content()["spec"]["template"]["spec"]["containers"],
        json!([{"name": "app", "image": "v3"}, {"name": "sidecar", "image": "s"}])
    );
}
