//! The store's promises.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::event::revision_of;
use super::{CommitError, Expired, Key, ResourceId, Revision, Snapshot, Store};

fn maps() -> ResourceId {
    ResourceId::new("", "configmaps")
}

fn key(name: &str) -> Key {
    Key::namespaced("shop", name)
}

fn object(x: u32) -> Value {
    json!({ "metadata": { "name": "a" }, "data": { "x": x } })
}

/// A store with `a` created and updated: revisions 1 and 2.
fn store_with_a() -> Store {
    let store = Store::new();
    store.create(&maps(), &key("a"), object(1)).unwrap();
    store.update(&maps(), &key("a"), 1, object(2)).unwrap();
    store
}

fn names(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.objects.keys().map(Key::as_str).collect()
}

#[test]
fn every_commit_raises_the_one_revision_and_writes_it_into_the_object() {
    let store = store_with_a();
    let other = ResourceId::new("apps", "deployments");
    let stored = store.create(&other, &key("d"), object(1)).unwrap();
    assert_eq!((store.revision(), revision_of(&stored)), (3, Some(3)));
    assert_eq!(
        revision_of(&store.get(&maps(), &key("a")).unwrap()),
        Some(2)
    );
    assert_eq!(store.resources(), [maps(), other]);
}

#[test]
fn a_write_that_expects_something_else_changes_nothing() {
    let store = store_with_a();
    let again = store.create(&maps(), &key("a"), object(9));
    assert!(matches!(again, Err(CommitError::Exists(_))));
    let stale = store.update(&maps(), &key("a"), 1, object(9));
    assert!(matches!(stale, Err(CommitError::Changed(now)) if revision_of(&now) == Some(2)));
    let missing = store.delete(&maps(), &key("b"), 1);
    assert!(matches!(missing, Err(CommitError::Missing)));
    assert_eq!(store.revision(), 2);
    assert_eq!(store.get(&maps(), &key("a")).unwrap()["data"]["x"], 2);
}

#[tokio::test]
async fn a_deletion_has_a_revision_of_its_own_and_says_so() {
    let store = store_with_a();
    assert_eq!(store.delete(&maps(), &key("a"), 2).unwrap(), 3);
    let event = store.subscribe(&maps(), 2).unwrap().next().await;
    assert_eq!((event.revision, event.after.clone()), (3, None));
    let departed = event.departed().unwrap();
    assert_eq!(revision_of(&departed), Some(3));
    assert_eq!(departed["data"]["x"], 2);
    assert_eq!(revision_of(event.before.as_ref().unwrap()), Some(2));
}

#[test]
fn later_commits_do_not_touch_a_snapshot() {
    let store = store_with_a();
    let before = store.snapshot(&maps());
    store.create(&maps(), &key("b"), object(1)).unwrap();
    store.delete(&maps(), &key("a"), 2).unwrap();
    assert_eq!((before.revision, names(&before)), (2, vec!["shop/a"]));
    assert_eq!(names(&store.snapshot(&maps())), ["shop/b"]);
}

#[test]
fn the_past_can_be_seen_as_far_as_the_log_reaches() {
    let store = store_with_a();
    store.delete(&maps(), &key("a"), 2).unwrap();
    assert!(store.snapshot_at(&maps(), 0).unwrap().objects.is_empty());
    assert_eq!(
        store.snapshot_at(&maps(), 1).unwrap().objects[&key("a")]["data"]["x"],
        1
    );
    assert_eq!(
        store.pin(2).unwrap().snapshot(&maps()).objects[&key("a")]["data"]["x"],
        2
    );
    store.compact();
    let expired = Expired {
        requested: 2,
        oldest: 3,
    };
    assert_eq!(store.snapshot_at(&maps(), 2).unwrap_err(), expired);
    assert_eq!(store.subscribe(&maps(), 2).unwrap_err(), expired);
    assert!(store.subscribe(&maps(), 3).is_ok());
}

#[tokio::test]
async fn the_log_is_bounded_but_running_subscriptions_miss_nothing() {
    let store = Store::with_log_limit(2);
    let mut early = store.subscribe(&maps(), 0).unwrap();
    for name in ["a", "b", "c", "d"] {
        store.create(&maps(), &key(name), object(1)).unwrap();
    }
    let late = store.subscribe(&maps(), 1).unwrap_err();
    assert_eq!(late.to_string(), "too old resource version: 1 (2)");
    for revision in 1..=4 {
        assert_eq!(early.next().await.revision, revision);
    }
    assert_eq!(early.progress(), 4);
}

#[tokio::test]
async fn a_subscription_may_start_in_the_future() {
    let store = Store::new();
    let mut future = store.subscribe(&maps(), 2).unwrap();
    for name in ["a", "b", "c"] {
        store.create(&maps(), &key(name), object(1)).unwrap();
    }
    assert_eq!(future.next().await.revision, 3);
}

#[test]
fn progress_stops_before_what_was_not_handed_out() {
    let store = store_with_a();
    let mut subscription = store.subscribe(&maps(), 1).unwrap();
    assert_eq!(subscription.progress(), 1);
    assert!(subscription.try_next().is_some());
    store
        .create(&ResourceId::new("", "secrets"), &key("s"), object(1))
        .unwrap();
    assert_eq!(subscription.progress(), 3);
}

#[test]
fn a_namespace_is_one_stretch_of_the_list() {
    let store = Store::new();
    for (namespace, name) in [("a", "x"), ("a-b", "x"), ("a", "y"), ("b", "x")] {
        store
            .create(&maps(), &Key::namespaced(namespace, name), object(1))
            .unwrap();
    }
    let all = store.snapshot(&maps());
    let of = |namespace| {
        all.in_namespace(namespace)
            .map(|(key, _)| key.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(of(Some("a")), ["a/x", "a/y"]);
    assert_eq!(of(None), ["a-b/x", "a/x", "a/y", "b/x"]);
}

/// One step of a random history over a handful of objects.
#[derive(Debug, Clone)]
enum Step {
    Put(u8, u32),
    Delete(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..6_u8, any::<u32>()).prop_map(|(name, x)| Step::Put(name, x)),
        1 => (0..6_u8).prop_map(Step::Delete),
    ];
    prop::collection::vec(step, 0..60)
}

fn run(store: &Store, step: &Step) {
    let (name, new) = match step {
        Step::Put(name, x) => (name, Some(object(*x))),
        Step::Delete(name) => (name, None),
    };
    let key = key(&format!("o{name}"));
    let revision = store
        .get(&maps(), &key)
        .and_then(|object| revision_of(&object));
    match (revision, new) {
        (None, None) => {}
        (None, Some(new)) => drop(store.create(&maps(), &key, new).unwrap()),
        (Some(revision), Some(new)) => drop(store.update(&maps(), &key, revision, new).unwrap()),
        (Some(revision), None) => drop(store.delete(&maps(), &key, revision).unwrap()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// From any list, the events that follow lead to the list of the end; and the list of any
    /// revision is what it was at the time.
    #[test]
    fn replaying_a_watch_gives_the_list(steps in steps()) {
        let store = Store::new();
        let mut lists = vec![store.snapshot(&maps())];
        for step in &steps {
            run(&store, step);
            lists.push(store.snapshot(&maps()));
        }
        for list in &lists {
            prop_assert_eq!(&store.snapshot_at(&maps(), list.revision).unwrap().objects, &list.objects);
            prop_assert_eq!(replay(&store, list), store.snapshot(&maps()).objects);
        }
    }
}

fn replay(store: &Store, list: &Snapshot) -> super::Objects {
    let mut objects = list.objects.clone();
    let mut events = store.subscribe(&maps(), list.revision).unwrap();
    let mut last: Revision = list.revision;
    while let Some(event) = events.try_next() {
        assert!(event.revision > last, "revisions only grow");
        last = event.revision;
        match event.after.clone() {
            Some(object) => objects.insert_mut(event.key.clone(), object),
            None => {
                objects.remove_mut(&event.key);
            }
        }
    }
    objects
}

mod in_a_file {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::store::FileError;

    fn names_in(path: &Path) -> (Revision, Vec<String>) {
        let store = Store::open(path).unwrap();
        let names = store
            .snapshot(&maps())
            .objects
            .keys()
            .map(ToString::to_string)
            .collect();
        (store.revision(), names)
    }

    #[test]
    fn a_store_is_still_there_when_it_is_opened_again() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("cluster");
        {
            let store = Store::open(&path).unwrap();
            store.create(&maps(), &key("a"), object(1)).unwrap();
            store.create(&maps(), &key("b"), object(1)).unwrap();
            store.update(&maps(), &key("b"), 2, object(2)).unwrap();
            store.delete(&maps(), &key("a"), 1).unwrap();
        }
        let store = Store::open(&path).unwrap();
        assert_eq!(names(&store.snapshot(&maps())), ["shop/b"]);
        let b = store.get(&maps(), &key("b")).unwrap();
        assert_eq!((revision_of(&b), &b["data"]["x"]), (Some(3), &json!(2)));
        assert_eq!(
            store.revision(),
            4,
            "a deletion counts although nothing is left of it"
        );
        assert_eq!(store.subscribe(&maps(), 3).unwrap_err().oldest, 4);
        store.create(&maps(), &key("c"), object(1)).unwrap();
        assert_eq!(store.revision(), 5);
    }

    #[test]
    fn a_process_that_dies_between_any_two_bytes_loses_only_what_was_not_acknowledged() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("cluster");
        let store = Store::open(&path).unwrap();
        store.create(&maps(), &key("a"), object(1)).unwrap();
        let acknowledged = fs::metadata(&path).unwrap().len();
        store.create(&maps(), &key("b"), object(1)).unwrap();
        drop(store);
        let whole = fs::read(&path).unwrap();
        for length in acknowledged as usize..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(
                names_in(&path),
                (1, vec!["shop/a".to_owned()]),
                "cut at {length}"
            );
            let store = Store::open(&path).unwrap();
            store.create(&maps(), &key("c"), object(1)).unwrap();
            drop(store);
            assert_eq!(
                names_in(&path).1,
                ["shop/a", "shop/c"],
                "written on after a cut at {length}"
            );
        }
    }

    #[test]
    fn history_is_left_out_when_there_is_much_of_it() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("cluster");
        let store = Store::open(&path).unwrap();
        store.create(&maps(), &key("a"), object(0)).unwrap();
        for x in 1..3_000 {
            store
                .update(&maps(), &key("a"), u64::from(x), object(x))
                .unwrap();
        }
        drop(store);
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines < 1_100, "{lines} lines for one object");
        let store = Store::open(&path).unwrap();
        assert_eq!(store.revision(), 3_000);
        assert_eq!(store.get(&maps(), &key("a")).unwrap()["data"]["x"], 2_999);
        let files: Vec<_> = fs::read_dir(place.path()).unwrap().collect();
        assert_eq!(files.len(), 1, "no draft is left behind");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_refused_with_the_reason() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("cluster");
        let open = |content: &str| {
            fs::write(&path, content).unwrap();
            Store::open(&path).unwrap_err()
        };
        let newer = open("{\"kubesim\":99,\"revision\":1}\n");
        assert!(matches!(newer, FileError::Newer { found: 99, .. }));
        assert!(
            newer
                .to_string()
                .contains("has format 99, this program reads up to 1")
        );
        assert!(matches!(
            open("apiVersion: v1\n"),
            FileError::Foreign { .. }
        ));
        let damaged = open("{\"kubesim\":1,\"revision\":1}\nrubbish\n{}\n");
        assert!(matches!(damaged, FileError::Damaged { line: 2, .. }));
    }

    #[test]
    fn two_processes_cannot_have_one_file() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("cluster");
        let _first = Store::open(&path).unwrap();
        assert!(matches!(Store::open(&path), Err(FileError::InUse { .. })));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn what_a_store_held_is_what_it_holds_again(steps in steps()) {
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join("cluster");
            let store = Store::open(&path).unwrap();
            steps.iter().for_each(|step| run(&store, step));
            let before = store.snapshot(&maps());
            drop(store);
            let after = Store::open(&path).unwrap().snapshot(&maps());
            prop_assert_eq!((after.revision, after.objects), (before.revision, before.objects));
        }
    }
}
