//! Who manages what after which write.

use serde_json::json;

use super::*;

#[test]
fn the_same_value_is_shared() {
    let mut world = World::custom();
    world.apply("m1", json!({"spec": {"text": "a"}}));
    world.apply("m2", json!({"spec": {"text": "a"}}));
    let text = json!({"f:spec": {"f:text": {}}});
    assert_eq!(world.fields_of("m1 Apply"), text);
    assert_eq!(world.fields_of("m2 Apply"), text);
}

#[test]
fn a_shared_field_goes_with_its_last_owner() {
    let mut world = World::custom();
    let both = json!({"spec": {"map": {"a": "1", "b": "2"}}});
    world.apply("m1", both.clone()).apply("m2", both);
    world.apply("m1", json!({"spec": {"map": {"a": "1"}}}));
    assert_eq!(
        world.content(),
        json!({"spec": {"map": {"a": "1", "b": "2"}}})
    );
    world.apply("m2", json!({"spec": {"map": {"a": "1"}}}));
    assert_eq!(world.content(), json!({"spec": {"map": {"a": "1"}}}));
}

#[test]
fn a_dropped_field_stays_while_somebody_owns_beneath_it() {
    let mut world = World::custom();
    world.apply("m1", json!({"spec": {"nested": {"x": {"a": "1"}}}}));
    world.apply("m2", json!({"spec": {"nested": {"x": {"b": "2"}}}}));
    world.apply("m1", json!({"spec": {"text": "t"}}));
    assert_eq!(
        world.content(),
        json!({"spec": {"nested": {"x": {"b": "2"}}, "text": "t"}})
    );
}

#[test]
fn dropping_all_takes_the_empty_parents_along() {
    let mut world = World::custom();
    world.apply(
        "m1",
        json!({"spec": {"group": {"a": "1"}, "map": {"k": "v"}, "any": {"x": {"y": 1}}}}),
    );
    world.apply("m1", nothing());
    assert_eq!(world.content(), nothing());
    assert_eq!(world.managers(), []);
}

#[test]
fn what_an_update_added_is_not_dropped_by_an_applier() {
    let mut world = World::custom();
    world.apply("m1", json!({"spec": {"map": {"a": "1"}}}));
    world.put("hand", json!({"spec": {"map": {"a": "1", "b": "2"}}}));
    world.apply("m1", json!({"spec": {"text": "t"}}));
    assert_eq!(
        world.content(),
        json!({"spec": {"map": {"b": "2"}, "text": "t"}})
    );
}

#[test]
fn an_update_takes_what_it_changes() {
    let mut world = World::custom();
    world.apply("m1", json!({"spec": {"text": "a", "number": 1}}));
    world.put("hand", json!({"spec": {"text": "b", "number": 1}}));
    assert_eq!(
        world.fields_of("m1 Apply"),
        json!({"f:spec": {"f:number": {}}})
    );
    assert_eq!(
        world.fields_of("hand Update"),
        json!({"f:spec": {"f:text": {}}})
    );
    assert_eq!(
        world.refused("m1", json!({"spec": {"text": "a", "number": 1}})),
        "Apply failed with 1 conflict: conflict with \"hand\" using ex.io/v1: .spec.text"
    );
}

#[test]
fn an_update_that_removes_a_field_ends_its_ownership() {
    let mut world = World::custom();
    world.apply("m1", json!({"spec": {"text": "a", "number": 1}}));
    world.put("hand", json!({"spec": {"number": 1}}));
    assert_eq!(
        world.managers(),
        [("m1 Apply".to_owned(), json!({"f:spec": {"f:number": {}}}))]
    );
}

#[test]
fn apply_and_update_of_one_name_are_two_managers() {
    let mut world = World::custom();
    world.apply("m", json!({"spec": {"text": "a"}}));
    world.put("m", json!({"spec": {"text": "b"}}));
    assert_eq!(
        world.managers(),
        [("m Update".to_owned(), json!({"f:spec": {"f:text": {}}}))]
    );
}

#[test]
fn updaters_of_two_versions_are_two_managers_and_appliers_one() {
    let mut world = World::custom();
    world
        .apply("m", json!({"spec": {"text": "a"}}))
        .put("h", json!({"spec": {"text": "a", "number": 1}}));
    world.api_version = "ex.io/v2";
    world.apply("m", json!({"spec": {"text": "a", "map": {"k": "v"}}}));
    world.put(
        "h",
        json!({"spec": {"text": "a", "number": 1, "map": {"k": "v", "l": "w"}}}),
    );
    let who: Vec<_> = world
        .entries()
        .iter()
        .map(|e| format!("{} {}", e["manager"], e["apiVersion"]))
        .collect();
    assert_eq!(
        who,
        [
            "\"m\" \"ex.io/v2\"",
            "\"h\" \"ex.io/v1\"",
            "\"h\" \"ex.io/v2\""
        ]
    );
}

#[test]
fn several_conflicts_are_listed_by_manager() {
    let mut world = World::custom();
    world.apply("m2", json!({"spec": {"text": "a", "map": {"k": "v"}}}));
    world.put(
        "hand",
        json!({"spec": {"text": "a", "map": {"k": "v"}, "number": 1}}),
    );
    world.at("status", ResetFields::none()).put(
        "ctl",
        json!({"spec": world_spec(), "status": {"text": "s"}}),
    );
    world.at("", ResetFields::none());
    assert_eq!(
        world.refused(
            "m1",
            json!({"spec": {"text": "b", "number": 2, "map": {"k": "w"}}, "status": {"text": "t"}})
        ),
        "Apply failed with 4 conflicts: conflicts with \"ctl\" with subresource \"status\" using ex.io/v1:\n\
         - .status.text\n\
         conflicts with \"hand\" using ex.io/v1:\n\
         - .spec.number\n\
         conflicts with \"m2\":\n\
         - .spec.text\n\
         - .spec.map.k"
    );
}

fn world_spec() -> Value {
    json!({"text": "a", "map": {"k": "v"}, "number": 1})
}

#[test]
fn times_move_only_with_the_object() {
    let mut world = World::custom();
    world.apply("m1", json!({"spec": {"text": "a"}}));
    let first = world.time_of("m1").map(str::to_owned);
    world.apply("m1", json!({"spec": {"text": "a"}}));
    assert_eq!(world.time_of("m1").map(str::to_owned), first);
    world.apply("m1", json!({"spec": {"text": "b"}}));
    assert_ne!(world.time_of("m1").map(str::to_owned), first);
    world.put("hand", json!({"spec": {"text": "b", "number": 1}}));
    let (mine, others) = (
        world.time_of("hand").map(str::to_owned),
        world.time_of("m1").map(str::to_owned),
    );
    world.put("other", json!({"spec": {"text": "b", "number": 1}}));
    assert_eq!(world.time_of("hand").map(str::to_owned), mine);
    assert_eq!(world.time_of("m1").map(str::to_owned), others);
    assert_eq!(world.time_of("other"), None);
}

#[test]
fn ten_updaters_are_kept() {
    let mut world = World::custom();
    let names = [
        "u00", "u01", "u02", "u03", "u04", "u05", "u06", "u07", "u08", "u09", "u10", "u11", "u12",
    ];
    let mut content = Map::new();
    for name in names {
        content.insert(name.to_owned(), json!("v"));
        world.put(name, json!({"spec": {"map": content}}));
    }
    let managers = world.managers();
    assert_eq!(managers.len(), 10);
    assert_eq!(
        managers[0],
        (
            "ancient-changes Update".to_owned(),
            json!({"f:spec": {".": {}, "f:map": {
                ".": {}, "f:u00": {}, "f:u01": {}, "f:u02": {}, "f:u03": {}
            }}})
        )
    );
    assert_eq!(managers[9].0, "u12 Update");
}

#[test]
fn managers_can_be_reset() {
    for reset in [json!([]), json!([{}])] {
        let mut world = World::custom();
        world.apply("m1", json!({"spec": {"text": "a"}}));
        world.put(
            "hand",
            json!({"metadata": {"managedFields": reset}, "spec": {"text": "a"}}),
        );
        assert_eq!(world.managers(), []);
        // Nobody is tracked until the next apply, which finds all that is there to be foreign.
        world.put("hand", json!({"spec": {"text": "b"}}));
        assert_eq!(world.managers(), []);
        world.apply("m1", json!({"spec": {"number": 1}}));
        assert_eq!(
            world.fields_of("before-first-apply Update"),
            json!({"f:spec": {".": {}, "f:text": {}}})
        );
        assert_eq!(
            world.refused("m1", json!({"spec": {"text": "c"}})),
            "Apply failed with 1 conflict: conflict with \"before-first-apply\" using ex.io/v1: .spec.text"
        );
    }
}

#[test]
fn unreadable_managers_of_a_client_are_ignored() {
    let bad = [
        json!([{"manager": "x", "operation": "Dance", "apiVersion": "v1", "fieldsType": "FieldsV1"}]),
        json!([{"manager": "x", "operation": "Update", "fieldsType": "FieldsV1"}]),
        json!([{"manager": "x", "operation": "Update", "apiVersion": "v1"}]),
        json!([{"manager": "x", "operation": "Update", "apiVersion": "v1", "fieldsType": "V2"}]),
        json!([{"manager": "x", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "fieldsV1": {"no": {}}}]),
        json!("x"),
        json!(null),
    ];
    for managers in bad {
        let mut world = World::custom();
        world.apply("m1", json!({"spec": {"text": "a"}}));
        world.put(
            "hand",
            json!({"metadata": {"managedFields": managers}, "spec": {"text": "a"}}),
        );
        assert_eq!(
            world.managers(),
            [("m1 Apply".to_owned(), json!({"f:spec": {"f:text": {}}}))]
        );
    }
}

#[test]
fn a_client_may_rewrite_managers() {
    let mut world = World::custom();
    world.apply("m1", json!({"spec": {"text": "a"}}));
    let mut managers = world.entries().to_vec();
    managers[0]["manager"] = json!("m2");
    world.put(
        "hand",
        json!({"metadata": {"managedFields": managers}, "spec": {"text": "a"}}),
    );
    assert_eq!(
        world.managers(),
        [("m2 Apply".to_owned(), json!({"f:spec": {"f:text": {}}}))]
    );
}

#[test]
fn built_in_structs_are_not_owned_by_those_who_fill_them() {
    let mut world = World::deployment();
    let container = json!({"name": "c", "image": "x", "resources": {}, "ports": [{"containerPort": 80, "protocol": "TCP"}]});
    world.put(
        "m",
        json!({"spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [container], "securityContext": {}}
            }
        }}),
    );
    assert_eq!(
        world.fields_of("m Update"),
        json!({"f:spec": {
            "f:selector": {},
            "f:strategy": {"f:rollingUpdate": {".": {}, "f:maxSurge": {}}, "f:type": {}},
            "f:template": {
                "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
                "f:spec": {
                    "f:containers": {"k:{\"name\":\"c\"}": {
                        ".": {},
                        "f:image": {},
                        "f:name": {},
                        "f:ports": {
                            ".": {},
                            "k:{\"containerPort\":80,\"protocol\":\"TCP\"}":
                                {".": {}, "f:containerPort": {}, "f:protocol": {}}
                        },
                        "f:resources": {}
                    }},
                    "f:securityContext": {}
                }
            }
        }})
    );
}

#[test]
fn a_custom_resource_owns_the_objects_it_brings() {
    let mut world = World::custom();
    world.put(
        "m",
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"group": {"a": "1"}}}),
    );
    assert_eq!(
        world.fields_of("m Update"),
        json!({
            "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
            "f:spec": {".": {}, "f:group": {".": {}, "f:a": {}}}
        })
    );
}

#[test]
fn without_a_schema_objects_merge_and_lists_do_not() {
    let mut world = World::custom();
    world.apply("m1", json!({"spec": {"any": {"a": {"b": 1}, "l": [1, 2]}}}));
    assert_eq!(
        world.fields_of("m1 Apply"),
        json!({"f:spec": {"f:any": {"f:a": {".": {}, "f:b": {}}, "f:l": {}}}})
    );
    world.apply("m2", json!({"spec": {"any": {"a": {"c": 2}}}}));
    assert_eq!(
        world.content(),
        json!({"spec": {"any": {"a": {"b": 1, "c": 2}, "l": [1, 2]}}})
    );
    world.force("m2", json!({"spec": {"any": {"a": "leaf", "l": [3]}}}));
    assert_eq!(
        world.content(),
        json!({"spec": {"any": {"a": "leaf", "l": [3]}}})
    );
}

#[test]
fn atomics_are_owned_whole() {
    let mut world = World::custom();
    world.apply(
        "m1",
        json!({"spec": {"atomicMap": {"a": "1"}, "atomicList": [{"name": "x"}]}}),
    );
    assert_eq!(
        world.fields_of("m1 Apply"),
        json!({"f:spec": {"f:atomicList": {}, "f:atomicMap": {}}})
    );
    assert_eq!(
        world.refused("m2", json!({"spec": {"atomicMap": {"b": "2"}}})),
        "Apply failed with 1 conflict: conflict with \"m1\": .spec.atomicMap"
    );
    world.force("m2", json!({"spec": {"atomicMap": {"b": "2"}}}));
    assert_eq!(world.content()["spec"]["atomicMap"], json!({"b": "2"}));
}

#[test]
fn nulls_and_empties_are_owned() {
    let mut world = World::custom();
    world.apply(
        "m1",
        json!({"spec": {"text": null, "map": null, "group": {}, "set": null}}),
    );
    assert_eq!(
        world.fields_of("m1 Apply"),
        json!({"f:spec": {"f:group": {}, "f:map": {}, "f:set": {}, "f:text": {}}})
    );
    world.apply("m2", json!({"spec": {"map": {"a": "1"}}}));
    world.apply("m1", json!({"spec": {"map": null}}));
    assert_eq!(world.content()["spec"]["map"], json!({"a": "1"}));
}

#[test]
fn types_are_checked_with_the_servers_words() {
    let refused = |spec: Value| World::custom().refused("m", json!({"spec": spec}));
    let prefix = "failed to create typed patch object (/a; ex.io/v1, Kind=Thing): ";
    for (spec, problem) in [
        (
            json!({"number": "1"}),
            ".spec.number: expected numeric (int or float), got string",
        ),
        (
            json!({"text": 1}),
            ".spec.text: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (
            json!({"map": ["a", 1]}),
            ".spec.map: expected map, got &{[a 1]}",
        ),
        (
            json!({"set": {"a": 1}}),
            ".spec.set: expected list, got &{map[a:1]}",
        ),
        (
            json!({"set": ["a", "a"]}),
            ".spec.set: duplicate entries for key [=\"a\"]",
        ),
        (
            json!({"items": [{"value": "x"}]}),
            ".spec.items: element 0: associative list with keys has an element that omits all key \
             fields [\"name\"] (and doesn't have default values for any key fields)",
        ),
        (
            json!({"number": "1", "text": true}),
            "errors:\n  .spec.number: expected numeric (int or float), got string\n  \
             .spec.text: expected string, got &value.valueUnstructured{Value:true}",
        ),
    ] {
        assert_eq!(refused(spec), format!("{prefix}{problem}"));
    }
}
