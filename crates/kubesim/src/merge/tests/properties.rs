//! What holds for any sequence of writes.

use proptest::prelude::*;
use serde_json::json;

use super::super::managers::Managers;
use super::super::{fields_v1, owned, set::FieldSet};
use super::*;

const MANAGERS: [&str; 3] = ["m1", "m2", "m3"];

/// A spec with some of the fields of every sort, of few distinct values.
fn spec() -> impl Strategy<Value = Value> {
    let text = || prop::option::of("[a-c]");
    let map = || prop::option::of(prop::collection::btree_map("[a-c]", "[a-c]", 1..3));
    let names = || {
        prop::collection::btree_set("[a-d]", 1..4)
            .prop_map(Vec::from_iter)
            .prop_shuffle()
    };
    let items = (names(), text()).prop_map(|(names, value)| {
        names
            .into_iter()
            .map(|name| without_nulls(json!({"name": name, "value": value})))
            .collect::<Vec<_>>()
    });
    let any = prop_oneof![
        Just(json!(null)),
        Just(json!({"p": {"q": 1}})),
        Just(json!({"p": 2, "r": {}})),
        Just(json!({"p": [1]})),
    ];
    (
        text(),
        text(),
        map(),
        map(),
        prop::option::of(names()),
        prop::option::of(items),
        any,
    )
        .prop_map(|(text, a, map, atomic, set, items, any)| {
            without_nulls(json!({
                "text": text,
                "group": a.map(|a| json!({"a": a})),
                "map": map,
                "atomicMap": atomic,
                "set": set,
                "items": items,
                "any": any,
            }))
        })
}

fn without_nulls(mut object: Value) -> Value {
    drop_nulls(&mut object);
    object
}

fn writes() -> impl Strategy<Value = Vec<(usize, bool, Value)>> {
    prop::collection::vec((0..MANAGERS.len(), any::<bool>(), spec()), 1..6)
}

/// The object after the writes. Updates keep a number in the spec, so that it is never empty.
fn after(writes: &[(usize, bool, Value)]) -> World {
    let mut world = world();
    world.put("base", json!({"spec": {"number": 1}}));
    for (manager, update, spec) in writes {
        let mut spec = spec.clone();
        if *update {
            spec["number"] = json!(1);
            world.put(MANAGERS[*manager], json!({"spec": spec}));
        } else {
            world.force(MANAGERS[*manager], json!({"spec": spec}));
        }
    }
    world
}

/// What is emptied is gone, as for nearly all types.
fn world() -> World {
    World {
        drops_nulls: true,
        ..World::custom()
    }
}

fn owned_by_all(world: &World) -> FieldSet {
    Managers::of(world.live.as_ref().unwrap())
        .unwrap()
        .all_fields()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn applying_twice_changes_nothing(writes in writes(), spec in spec()) {
        let mut world = after(&writes);
        world.force("m1", json!({"spec": spec}));
        let once = world.live.clone();
        world.apply("m1", json!({"spec": spec}));
        prop_assert_eq!(once, world.live);
    }

    #[test]
    fn every_leaf_is_owned(writes in writes()) {
        let world = after(&writes);
        let fields = owned::fields(&world.schema, world.live.as_ref().unwrap()).without_identity();
        let unowned = leaves(&fields.difference(&owned_by_all(&world)));
        prop_assert!(unowned.is_empty(), "{:?}", unowned.paths());
    }

    #[test]
    fn what_an_applier_says_is_so(writes in writes(), spec in spec()) {
        prop_assume!(spec != nothing());
        let mut world = after(&writes);
        world.force("m1", json!({"spec": spec}));
        let said = owned::fields(&world.schema, &json!({"spec": spec}));
        let live = owned::fields(&world.schema, world.live.as_ref().unwrap());
        prop_assert!(leaves(&said.difference(&live)).is_empty());
        prop_assert_eq!(world.managers().is_empty(), owned_by_all(&world).is_empty());
    }

    #[test]
    fn what_only_an_applier_owned_goes_with_it(writes in writes(), spec in spec()) {
        let mut world = after(&writes);
        world.force("m1", json!({"spec": spec}));
        world.apply("m1", nothing());
        let left = leaves(&owned::fields(&world.schema, world.live.as_ref().unwrap()).without_identity());
        prop_assert!(left.difference(&owned_by_all(&world)).is_empty());
    }

    #[test]
    fn appliers_that_do_not_conflict_may_come_in_any_order(mine in spec(), theirs in spec()) {
        let (mut one, mut two) = (world(), world());
        let (mine, theirs) = (json!({"spec": mine}), json!({"spec": theirs}));
        let first = one.apply("m1", mine.clone()).try_apply("m2", &theirs, false).is_ok();
        let second = two.apply("m2", theirs).try_apply("m1", &mine, false).is_ok();
        prop_assert_eq!(first, second);
        if first {
            prop_assert_eq!(sorted(one.content()), sorted(two.content()));
        }
    }

    #[test]
    fn sets_of_real_objects_survive_a_round_trip(spec in spec()) {
        let set = owned::fields(&everything(), &json!({"spec": spec}));
        prop_assert_eq!(fields_v1::decode(Some(&fields_v1::encode(&set))).unwrap(), set);
    }

    #[test]
    fn sets_combine_as_sets_do(a in spec(), b in spec()) {
        let [a, b] = [a, b].map(|spec| owned::fields(&everything(), &json!({"spec": spec})));
        let both = a.intersection(&b);
        prop_assert_eq!(&both, &b.intersection(&a));
        prop_assert_eq!(&a.difference(&b).union(both), &a);
        prop_assert_eq!(a.clone().union(b.clone()), b.clone().union(a.clone()));
        prop_assert!(a.difference(&a.clone().union(b)).is_empty());
    }

    #[test]
    fn no_bytes_break_the_readers(bytes in prop::collection::vec(any::<u8>(), 0..64), key in ".{0,12}") {
        let text = String::from_utf8_lossy(&bytes);
        let _ = super::super::path::Step::parse(&text);
        let _ = super::super::path::Step::parse(&key);
        let _ = serde_json::from_slice::<Value>(&bytes).map(|value| fields_v1::decode(Some(&value)).is_ok());
        let _ = fields_v1::decode(Some(&json!({key: {".": {}}})));
        let _ = crate::patch::JsonPatch::decode(&bytes).map(|patch| patch.apply(&json!({})).is_ok());
        let _ = crate::patch::MergePatch::decode(&bytes).map(|patch| patch.apply(&json!({})));
    }

    #[test]
    fn no_values_break_the_writers(live in junk(), new in junk(), managers in junk()) {
        let mut live = json!({"metadata": {"managedFields": managers}, "spec": live});
        let writer = World::custom().writer("m");
        let tracked = track(Some(&live), json!({"metadata": {}, "spec": new}), &everything(), &writer, ResetFields::none());
        let _ = apply(Some(&live), &json!({"spec": new}), &everything(), &writer, ResetFields::none(), true);
        keep_times(&tracked, &mut live);
        let _ = track(None, new, &everything(), &writer, ResetFields::none());
    }
}

/// Values that follow no schema but use its names.
fn junk() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
        Just(
            json!({"manager": "m", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:items": {"k:{\"name\":\"a\"}": {}}}}})
        ),
    ];
    let name = prop_oneof![
        "[a-c]",
        Just("items".to_owned()),
        Just("set".to_owned()),
        Just("map".to_owned()),
        Just("name".to_owned()),
        Just("metadata".to_owned()),
        Just("any".to_owned())
    ];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name.clone(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// The members that have nothing beneath them.
fn leaves(set: &FieldSet) -> FieldSet {
    let nodes = set.nodes().iter().map(|node| super::super::set::Node {
        step: node.step.clone(),
        member: node.member && node.below.is_empty(),
        below: leaves(&node.below),
    });
    nodes.collect()
}

/// With every list in one order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<_> = items.into_iter().map(sorted).collect();
            items.sort_by_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(name, value)| (name, sorted(value)))
                .collect(),
        ),
        other => other,
    }
}
