//! Diffs: questions to the live clusters.

use evenkeel_model::*;
use evenkeel_store::*;
use jiff::{SignedDuration, Timestamp};

use crate::world::{World, on_every_database};

on_every_database! {
    every_active_agent_of_the_stack_is_asked,
    an_answer_is_kept_once,
    a_question_ends_with_its_time,
    questions_are_bounded,
    a_question_raises_the_inbox_of_those_asked_only,
}

fn now(w: &World) -> Timestamp {
    evenkeel_ambient::Clock::now(&w.clock)
}

async fn start(w: &World, agent: AgentId) {
    let update = AgentUpdate {
        status: Some(AgentStatus::Active),
        ..AgentUpdate::default()
    };
    w.store.agent_update(&w.by, agent, update).await.unwrap();
}

async fn ask(w: &World, stack: StackId) -> Result<Diff> {
    let new = NewDiff {
        stack_id: stack,
        yaml_content: "kind: Two".to_owned(),
        lasting: SignedDuration::from_mins(10),
    };
    w.store.diff_create(&w.by, new).await
}

fn found(name: &str) -> DiffAnswer {
    let object = ObjectDiff {
        object: ObjectKey {
            group: "apps".to_owned(),
            kind: "Deployment".to_owned(),
            namespace: Some("shop".to_owned()),
            name: name.to_owned(),
        },
        change: DiffChange::Update,
        before: Some(serde_json::json!({ "spec": { "replicas": 1 } })),
        after: Some(serde_json::json!({ "spec": { "replicas": 2 } })),
        message: None,
    };
    DiffAnswer {
        objects: vec![object],
        error: None,
    }
}

async fn every_active_agent_of_the_stack_is_asked(w: World) {
    let (generator, east, stack, _) = w.small_fleet().await;
    let west = w.agent("west", &[generator]).await;
    w.target(west, stack).await;
    w.agent("elsewhere", &[generator]).await;
    start(&w, east).await;
    let diff = ask(&w, stack).await.unwrap();
    assert_eq!(diff.missing, [east], "the other does not work");
    let pending = w.store.diffs_of_agent(east, now(&w)).await.unwrap();
    assert_eq!(
        (pending[0].id, pending[0].yaml_content.as_str()),
        (diff.id, "kind: Two")
    );
    assert!(
        w.store
            .diffs_of_agent(west, now(&w))
            .await
            .unwrap()
            .is_empty()
    );
    let refused = w.store.diff_answer(west, diff.id, found("web")).await;
    assert!(
        matches!(refused, Err(Error::NotFound { .. })),
        "{refused:?}"
    );
}

async fn an_answer_is_kept_once(w: World) {
    let (_, agent, stack, _) = w.small_fleet().await;
    start(&w, agent).await;
    let id = ask(&w, stack).await.unwrap().id;
    for name in ["first", "second"] {
        w.store.diff_answer(agent, id, found(name)).await.unwrap();
    }
    let diff = w.store.diff_get(stack, id, now(&w)).await.unwrap().unwrap();
    assert!(diff.missing.is_empty());
    assert_eq!(diff.answers.len(), 1);
    assert_eq!(
        (diff.answers[0].agent_id, &diff.answers[0].answer),
        (agent, &found("first"))
    );
    assert!(
        w.store
            .diffs_of_agent(agent, now(&w))
            .await
            .unwrap()
            .is_empty()
    );
    let elsewhere = StackId(uuid::Uuid::nil());
    assert_eq!(
        w.store.diff_get(elsewhere, id, now(&w)).await.unwrap(),
        None
    );
}

async fn a_question_ends_with_its_time(w: World) {
    let (_, agent, stack, _) = w.small_fleet().await;
    start(&w, agent).await;
    let id = ask(&w, stack).await.unwrap().id;
    w.clock.advance(SignedDuration::from_secs(601));
    assert!(
        w.store
            .diffs_of_agent(agent, now(&w))
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(w.store.diff_get(stack, id, now(&w)).await.unwrap(), None);
    let late = w.store.diff_answer(agent, id, found("web")).await;
    assert!(matches!(late, Err(Error::NotFound { .. })), "{late:?}");
    let forgotten = w.store.forget(Expendable::Diffs, now(&w), 10).await;
    assert_eq!(forgotten.unwrap(), 1);
}

async fn questions_are_bounded(w: World) {
    let (_, agent, stack, _) = w.small_fleet().await;
    start(&w, agent).await;
    for _ in 0..10 {
        ask(&w, stack).await.unwrap();
    }
    let refused = ask(&w, stack).await;
    assert!(
        matches!(refused, Err(Error::TooManyDiffs { open: 10, .. })),
        "{refused:?}"
    );
    let shown = w.store.diffs_of_agent(agent, now(&w)).await.unwrap();
    assert!(shown.len() < 10, "{}", shown.len());
}

async fn a_question_raises_the_inbox_of_those_asked_only(w: World) {
    let (generator, east, stack, _) = w.small_fleet().await;
    let west = w.agent("west", &[generator]).await;
    w.target(west, stack).await;
    start(&w, east).await;
    ask(&w, stack).await.unwrap();
    let first = w.assignment(east, stack).await.asked;
    ask(&w, stack).await.unwrap();
    assert!(w.assignment(east, stack).await.asked > first && first > 0);
    assert_eq!(w.assignment(west, stack).await.asked, 0);
}
