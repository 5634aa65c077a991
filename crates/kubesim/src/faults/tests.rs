//! What faults do to one client and not to another.

use std::time::Duration;

use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::{Cut, Fault, Lost, Moment, Refusal, Stale, View, Which};
use crate::body::Body;
use crate::registry::Verb;
use crate::store::ResourceId;
use crate::toy::{Toy, create, delete, get};

async fn names(view: &View) -> Value {
    read(view, "").await
}

async fn read(view: &View, rest: &str) -> Value {
    let answer = view.handle(get(rest)).await.unwrap();
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

async fn make(view: &View, name: &str) {
    assert_eq!(view.handle(create(name)).await.unwrap().status(), 200);
}

/// A watch, read event by event.
struct Watching(Body);

impl Watching {
    async fn start(view: &View) -> Self {
        Self(view.handle(get("?watch=1")).await.unwrap().into_body())
    }

    /// `ADDED a` and so on for what is told within a (virtual) second, `reset` for a broken
    /// connection, `end` for the end.
    async fn told(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        loop {
            match timeout(Duration::from_secs(1), self.0.frame()).await {
                Err(_) => return told,
                Ok(None) => told.push("end".to_owned()),
                Ok(Some(Err(_))) => told.push("reset".to_owned()),
                Ok(Some(Ok(frame))) => told.extend(summaries(&frame.into_data().unwrap())),
            }
            if told
                .last()
                .is_some_and(|last| ["end", "reset"].contains(&last.as_str()))
            {
                return told;
            }
        }
    }
}

fn summaries(lines: &[u8]) -> Vec<String> {
    let events = lines
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let summary = |line| {
        let event: Value = serde_json::from_slice(line).unwrap();
        let name = event["object"]["metadata"]["name"]
            .as_str()
            .unwrap()
            .to_owned();
        format!("{} {name}", event["type"].as_str().unwrap())
    };
    events.map(summary).collect()
}

#[tokio::test(start_paused = true)]
async fn a_frozen_view_shows_the_past_while_its_writes_are_real() {
    let (frozen, clear) = Toy::two_views();
    make(&frozen, "a").await;
    let mut watching = Watching::start(&frozen).await;
    frozen.freeze(Stale::AllReads);
    make(&frozen, "b").await;
    make(&clear, "c").await;
    assert_eq!(names(&frozen).await, json!(["a"]));
    assert_eq!(read(&frozen, "/b").await, Value::Null);
    assert_eq!(names(&clear).await, json!(["a", "b", "c"]));
    assert_eq!(watching.told().await, ["ADDED a"]);
    frozen.catch_up();
    assert_eq!(names(&frozen).await, json!(["a", "b", "c"]));
    assert_eq!(watching.told().await, ["ADDED b", "ADDED c"]);
}

#[tokio::test(start_paused = true)]
async fn a_view_can_travel_back_and_a_hanging_cache_still_answers_reads_of_the_latest() {
    let (view, _) = Toy::two_views();
    make(&view, "a").await;
    make(&view, "b").await;
    view.freeze_at(1, Stale::CachedReads).unwrap();
    assert_eq!(names(&view).await, json!(["a", "b"]));
    assert_eq!(read(&view, "?resourceVersion=0").await, json!(["a"]));
    assert_eq!(Watching::start(&view).await.told().await, ["ADDED a"]);
}

#[tokio::test(start_paused = true)]
async fn a_lagging_view_misses_the_latest_events_until_others_follow() {
    let (lagging, clear) = Toy::two_views();
    lagging.lag(2, Stale::AllReads);
    let mut watching = Watching::start(&lagging).await;
    for name in ["a", "b", "c"] {
        make(&clear, name).await;
    }
    assert_eq!(names(&lagging).await, json!(["a"]));
    assert_eq!(watching.told().await, ["ADDED a"]);
    make(&clear, "d").await;
    assert_eq!(watching.told().await, ["ADDED b"]);
    lagging.catch_up();
    assert_eq!(watching.told().await, ["ADDED c", "ADDED d"]);
}

#[tokio::test(start_paused = true)]
async fn held_events_are_told_as_one_change_for_each_object() {
    let (view, clear) = Toy::two_views();
    make(&clear, "a").await;
    make(&clear, "gone").await;
    let mut watching = Watching::start(&view).await;
    assert_eq!(watching.told().await, ["ADDED a", "ADDED gone"]);
    view.hold_events();
    for request in [
        delete("a"),
        create("a"),
        create("b"),
        delete("b"),
        delete("gone"),
    ] {
        clear.handle(request).await.unwrap();
    }
    assert!(watching.told().await.is_empty());
    view.release_events();
    assert_eq!(watching.told().await, ["MODIFIED a", "DELETED gone"]);
}

#[tokio::test(start_paused = true)]
async fn dropped_events_are_never_told() {
    let (view, clear) = Toy::two_views();
    let mut watching = Watching::start(&view).await;
    view.drop_events(Some(&ResourceId::new("", "secrets")), 9);
    view.drop_events(None, 1);
    for name in ["a", "b"] {
        make(&clear, name).await;
    }
    assert_eq!(watching.told().await, ["ADDED b"]);
    assert_eq!(
        Watching::start(&view).await.told().await,
        ["ADDED a", "ADDED b"]
    );
}

#[tokio::test(start_paused = true)]
async fn watches_can_be_ended_or_broken_and_those_of_others_go_on() {
    let (view, clear) = Toy::two_views();
    let (mut one, mut other) = (Watching::start(&view).await, Watching::start(&clear).await);
    make(&clear, "a").await;
    view.cut_watches(Some(&ResourceId::new("", "secrets")), Cut::Reset);
    assert_eq!(one.told().await, ["ADDED a"]);
    view.cut_watches(None, Cut::Reset);
    assert_eq!(one.told().await, ["reset"]);
    let mut again = Watching::start(&view).await;
    assert_eq!(again.told().await, ["ADDED a"]);
    view.cut_watches(None, Cut::Close);
    assert_eq!(again.told().await, ["end"]);
    assert_eq!(other.told().await, ["ADDED a"]);
}

#[tokio::test(start_paused = true)]
async fn events_and_answers_can_be_late() {
    let (view, clear) = Toy::two_views();
    let mut watching = Watching::start(&view).await;
    view.delay_events(Duration::from_secs(5));
    make(&clear, "a").await;
    let began = Instant::now();
    while watching.told().await.is_empty() {}
    assert_eq!(began.elapsed().as_secs(), 6, "five, and a silent one after");
    view.fault(
        Which::all().verbs(&[Verb::List]),
        Fault::Delay(Duration::from_secs(7)),
    );
    let began = Instant::now();
    assert_eq!(names(&view).await, json!(["a"]));
    assert_eq!(began.elapsed().as_secs(), 7);
}

#[tokio::test]
async fn refusals_come_as_often_as_ordered_and_change_nothing() {
    let (view, clear) = Toy::two_views();
    view.fault_times(
        Which::writes(),
        Fault::Refuse(Refusal::retry_after(429, 3)),
        2,
    );
    for _ in 0..2 {
        let refused = view.handle(create("a")).await.unwrap();
        assert_eq!(
            (refused.status().as_u16(), &refused.headers()["retry-after"]),
            (429, &"3".parse().unwrap())
        );
    }
    assert_eq!(names(&clear).await, json!([]));
    make(&view, "a").await;
}

#[tokio::test]
async fn a_refusal_is_a_status_object_that_says_when_to_try_again() {
    let (view, _) = Toy::two_views();
    view.fault(Which::all(), Fault::Refuse(Refusal::retry_after(503, 1)));
    let status = names(&view).await;
    assert_eq!(
        (&status["reason"], &status["code"]),
        (&json!("ServiceUnavailable"), &json!(503))
    );
    assert_eq!(status["details"]["retryAfterSeconds"], 1);
}

#[tokio::test]
async fn one_kind_can_be_forbidden_to_one_client() {
    let (view, clear) = Toy::two_views();
    view.fault(Which::all().of("", "secrets"), Fault::Forbid);
    assert_eq!(names(&view).await, json!([]));
    view.fault(Which::all().of("", "configmaps"), Fault::Forbid);
    let status = names(&view).await;
    let message = "configmaps is forbidden: User \"one\" cannot list resource \"configmaps\" \
                   in API group \"\" in the namespace \"shop\"";
    assert_eq!(status["message"], message);
    assert_eq!(status["code"], 403);
    make(&clear, "a").await;
}

#[tokio::test]
async fn an_answer_can_be_lost_although_the_write_was_done() {
    let (view, clear) = Toy::two_views();
    view.fault_times(Which::writes(), Fault::LoseReply, 1);
    assert_eq!(view.handle(create("a")).await.unwrap_err(), Lost);
    view.fault_times(Which::writes(), Fault::LoseRequest, 1);
    assert_eq!(view.handle(create("b")).await.unwrap_err(), Lost);
    view.fault_times(
        Which::writes(),
        Fault::RefuseAfterwards(Refusal::code(504)),
        1,
    );
    assert_eq!(view.handle(create("c")).await.unwrap().status(), 504);
    assert_eq!(names(&clear).await, json!(["a", "c"]));
}

#[tokio::test(start_paused = true)]
async fn a_client_dies_at_its_kth_write_before_or_after_it_is_done() {
    let moments = [
        (Moment::BeforeCommit, json!(["a"]), false),
        (Moment::BeforeReply, json!(["a", "b"]), false),
        (Moment::AfterReply, json!(["a", "b"]), true),
    ];
    for (moment, left, answered) in moments {
        let (view, clear) = Toy::two_views();
        view.crash_at(2, moment);
        let mut watching = Watching::start(&view).await;
        make(&view, "a").await;
        names(&view).await;
        assert_eq!(
            view.handle(create("b")).await.is_ok(),
            answered,
            "{moment:?}"
        );
        view.crashed().await;
        assert_eq!(view.handle(get("")).await.unwrap_err(), Lost);
        assert_eq!(watching.told().await.last().unwrap(), "reset");
        assert_eq!(names(&clear).await, left, "{moment:?}");
        view.heal();
        assert_eq!(names(&view).await, left);
    }
}

#[tokio::test]
async fn what_a_client_asked_for_can_be_counted() {
    let (view, other) = Toy::two_views();
    make(&view, "a").await;
    names(&view).await;
    names(&view).await;
    view.handle(create("dry")).await.unwrap();
    view.fault_times(Which::all(), Fault::LoseReply, 1);
    view.handle(delete("a")).await.unwrap_err();
    let log = view.reset_log();
    let maps = ResourceId::new("", "configmaps");
    assert_eq!(
        (log.count(Verb::List, &maps), log.count(Verb::Watch, &maps)),
        (2, 0)
    );
    assert_eq!((log.requests(), log.writes()), (5, 3));
    let last = log.entries().last().unwrap();
    assert_eq!(
        (last.call.to_string().as_str(), last.code),
        ("delete configmaps shop/a", None)
    );
    assert_eq!((view.log().requests(), other.log().requests()), (0, 0));
}
