//! What a client reads from a watch.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::{Lens, Start, Terms, watch};
use crate::body::Body;
use crate::faults::Sight;
use crate::store::{Key, ResourceId, Store};

/// Selects by the label `app`, if one is asked for, and shows all or only metadata.
#[derive(Default)]
struct Asked {
    app: Option<&'static str>,
    metadata_only: bool,
}

impl Lens for Asked {
    fn selects(&self, key: &Key, object: &Value) -> bool {
        let app = &object["metadata"]["labels"]["app"];
        key.is_in(Some("shop")) && self.app.is_none_or(|asked| app == asked)
    }

    fn show<'a>(&self, object: &'a Value) -> Cow<'a, Value> {
        if !self.metadata_only {
            return Cow::Borrowed(object);
        }
        let (api_version, kind) = self.kind();
        Cow::Owned(
            json!({ "kind": kind, "apiVersion": api_version, "metadata": object["metadata"] }),
        )
    }

    fn kind(&self) -> (&str, &str) {
        match self.metadata_only {
            true => ("meta.k8s.io/v1", "PartialObjectMetadata"),
            false => ("v1", "ConfigMap"),
        }
    }
}

fn maps() -> ResourceId {
    ResourceId::new("", "configmaps")
}

fn map(app: &str, x: u32) -> Value {
    json!({
        "kind": "ConfigMap", "apiVersion": "v1",
        "metadata": { "name": "a", "labels": { "app": app } }, "data": { "x": x },
    })
}

/// A store in which `shop/a` belongs to app `web` (revision 1).
fn store_with_web() -> Store {
    let store = Store::new();
    store
        .create(&maps(), &Key::namespaced("shop", "a"), map("web", 1))
        .unwrap();
    store
}

fn update(store: &Store, app: &str, x: u32) {
    let key = Key::namespaced("shop", "a");
    let revision = store.get(&maps(), &key).unwrap()["metadata"]["resourceVersion"].clone();
    store
        .update(
            &maps(),
            &key,
            revision.as_str().unwrap().parse().unwrap(),
            map(app, x),
        )
        .unwrap();
}

fn terms(start: Start) -> Terms {
    Terms {
        start,
        bookmarks: false,
        timeout: Some(Duration::from_secs(10)),
    }
}

fn start(store: &Store, terms: Terms, asked: Asked) -> Body {
    watch(
        &Sight::clear(store.clone()),
        &maps(),
        terms,
        Arc::new(asked),
    )
}

/// Everything until the end of the stream, line by line.
async fn lines(body: Body) -> Vec<String> {
    let bytes = body.collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec())
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Type, revision and `x` of each event.
async fn events(body: Body) -> Vec<(String, String, Value)> {
    let read = |line: String| {
        let event: Value = serde_json::from_str(&line).unwrap();
        let object = &event["object"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (
            text(&event["type"]),
            text(&object["metadata"]["resourceVersion"]),
            object["data"]["x"].clone(),
        )
    };
    lines(body).await.into_iter().map(read).collect()
}

fn event(kind: &str, revision: &str, x: u32) -> (String, String, Value) {
    (kind.into(), revision.into(), x.into())
}

#[tokio::test(start_paused = true)]
async fn what_enters_the_selection_is_added_and_what_leaves_it_is_deleted() {
    let store = store_with_web();
    let body = start(
        &store,
        terms(Start::After(0)),
        Asked {
            app: Some("web"),
            ..Asked::default()
        },
    );
    update(&store, "web", 2);
    update(&store, "db", 3);
    update(&store, "db", 4);
    update(&store, "web", 5);
    store
        .delete(&maps(), &Key::namespaced("shop", "a"), 5)
        .unwrap();
    let expected = [
        event("ADDED", "1", 1),
        event("MODIFIED", "2", 2),
        event("DELETED", "3", 2),
        event("ADDED", "5", 5),
        event("DELETED", "6", 5),
    ];
    assert_eq!(events(body).await, expected);
}

#[tokio::test(start_paused = true)]
async fn other_namespaces_do_not_show() {
    let store = store_with_web();
    store
        .create(&maps(), &Key::namespaced("else", "a"), map("web", 9))
        .unwrap();
    assert_eq!(
        events(start(&store, terms(Start::State), Asked::default())).await,
        [event("ADDED", "1", 1)]
    );
}

#[tokio::test(start_paused = true)]
async fn a_start_that_was_forgotten_is_an_error_in_the_stream() {
    let store = store_with_web();
    store.compact();
    let told = lines(start(&store, terms(Start::After(0)), Asked::default())).await;
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "too old resource version: 0 (1)", "reason": "Expired", "code": 410,
    });
    assert_eq!(told, [format!(r#"{{"type":"ERROR","object":{status}}}"#)]);
}

#[tokio::test(start_paused = true)]
async fn a_streamed_list_ends_with_a_marked_bookmark_and_goes_on_as_a_watch() {
    let store = store_with_web();
    let terms = Terms {
        bookmarks: true,
        ..terms(Start::StateWithEnd)
    };
    let body = start(&store, terms, Asked::default());
    update(&store, "web", 2);
    let told = lines(body).await;
    let end: Value = serde_json::from_str(&told[1]).unwrap();
    let mark = json!({ "kind": "ConfigMap", "apiVersion": "v1", "metadata": {
        "resourceVersion": "1", "annotations": { "k8s.io/initial-events-end": "true" } } });
    assert_eq!(end, json!({ "type": "BOOKMARK", "object": mark }));
    let kinds: Vec<&str> = told
        .iter()
        .map(|line| line.split('"').nth(3).unwrap())
        .collect();
    assert_eq!(kinds, ["ADDED", "BOOKMARK", "MODIFIED", "BOOKMARK"]);
}

#[tokio::test(start_paused = true)]
async fn an_idle_watch_gets_a_bookmark_each_minute_and_one_before_its_end() {
    let store = store_with_web();
    let timeout = Some(Duration::from_secs(150));
    let body = start(
        &store,
        Terms {
            bookmarks: true,
            timeout,
            start: Start::After(1),
        },
        Asked::default(),
    );
    let began = Instant::now();
    let others = tokio::spawn({
        let store = store.clone();
        async move {
            sleep(Duration::from_secs(90)).await;
            store
                .create(
                    &ResourceId::new("", "secrets"),
                    &Key::cluster("s"),
                    json!({}),
                )
                .unwrap();
        }
    });
    let told: Vec<Value> = lines(body)
        .await
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    others.await.unwrap();
    let revisions: Vec<_> = told
        .iter()
        .map(|event| &event["object"]["metadata"]["resourceVersion"])
        .collect();
    assert_eq!(revisions, ["1", "2", "2"], "at 60, 120 and 148 seconds");
    assert_eq!(began.elapsed(), Duration::from_secs(150));
}

#[tokio::test(start_paused = true)]
async fn metadata_is_all_that_a_client_gets_who_asked_for_no_more() {
    let store = store_with_web();
    let asked = Asked {
        metadata_only: true,
        ..Asked::default()
    };
    let terms = Terms {
        bookmarks: true,
        ..terms(Start::StateWithEnd)
    };
    let told = lines(start(&store, terms, asked)).await;
    let first: Value = serde_json::from_str(&told[0]).unwrap();
    assert_eq!(first["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(first["object"]["metadata"]["name"], "a");
    assert!(first["object"].get("data").is_none());
    let bookmark: Value = serde_json::from_str(&told[1]).unwrap();
    assert_eq!(bookmark["object"]["apiVersion"], "meta.k8s.io/v1");
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_the_future_waits() {
    let store = store_with_web();
    let body = start(&store, terms(Start::After(99)), Asked::default());
    update(&store, "web", 2);
    assert!(lines(body).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_event_is_sent_when_it_happens() {
    let store = store_with_web();
    let mut body = start(&store, terms(Start::After(1)), Asked::default());
    assert!(timeout(Duration::from_secs(1), body.frame()).await.is_err());
    update(&store, "web", 2);
    let frame = timeout(Duration::from_millis(1), body.frame())
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    let line = frame.into_data().unwrap();
    assert!(line.starts_with(br#"{"type":"MODIFIED","object":{"#) && line.ends_with(b"}\n"));
}

#[tokio::test(start_paused = true)]
async fn many_watchers_read_the_same_and_each_in_its_own_form() {
    let store = store_with_web();
    let metadata_only = || Asked {
        metadata_only: true,
        ..Asked::default()
    };
    let alone = start(&store, terms(Start::State), Asked::default());
    let others = [Asked::default(), metadata_only(), metadata_only()];
    let [full, one, two] = others.map(|asked| start(&store, terms(Start::State), asked));
    update(&store, "web", 2);
    let (alone, full) = (lines(alone).await, lines(full).await);
    assert_eq!(alone.len(), 2);
    assert_eq!(alone, full);
    let (one, two) = (lines(one).await, lines(two).await);
    assert!(one == two && one[1].contains("PartialObjectMetadata"));
}
