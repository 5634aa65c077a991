//! Caches that follow the changes stay true.

use std::collections::BTreeMap;
use std::time::Duration;

use evenkeel_model::*;
use evenkeel_store::*;
use jiff::SignedDuration;
use sqlx::Connection as _;

use crate::world::{World, label, on_every_database};

on_every_database! {
    a_cache_that_follows_the_changes_is_the_truth,
    a_reader_that_slept_too_long_is_told,
}

type Cache = BTreeMap<(AgentId, StackId), Assignment>;

fn cache(assignments: Vec<Assignment>) -> Cache {
    assignments
        .into_iter()
        .map(|a| ((a.agent_id, a.stack_id), a))
        .collect()
}

/// Looks again wherever a change points to.
async fn follow(store: &Database, cached: &mut Cache, subject: Subject) {
    let fresh = match subject {
        Subject::Agent { id } => {
            cached.retain(|(agent, _), _| *agent != id);
            store.assignments_of_agent(id).await.unwrap()
        }
        Subject::Stack { id } => {
            cached.retain(|(_, stack), _| *stack != id);
            store.assignments_of_stack(id).await.unwrap()
        }
        Subject::Assignment { agent_id, stack_id } => {
            cached.remove(&(agent_id, stack_id));
            store
                .assignment_get(agent_id, stack_id)
                .await
                .unwrap()
                .into_iter()
                .collect()
        }
        Subject::Generator { .. } | Subject::Key { .. } | Subject::Webhook { .. } => vec![],
    };
    cached.extend(cache(fresh));
}

/// Everything that moves assignments, from a broker of its own.
async fn stir(w: &World, store: &Database, agents: &[AgentId], stacks: &[StackId]) {
    let by = &w.by;
    for (round, &stack) in stacks.iter().enumerate() {
        let agent = agents[round % agents.len()];
        store
            .label_add(by, Owner::Stack(stack), label("blue"))
            .await
            .unwrap();
        let new = NewRevision::of(stack, format!("round: {round}"));
        let object = store.deployment_submit(by, new).await.unwrap().object;
        let event = crate::world::event(agent, &object, EventStatus::Success);
        store.event_record(event).await.unwrap();
        store.target_create(by, agent, stack).await.unwrap();
        if round % 2 == 0 {
            store
                .label_remove(by, Owner::Stack(stack), label("blue"))
                .await
                .unwrap();
        }
        if round % 3 == 0 {
            store.stack_delete(by, stack).await.unwrap();
        }
    }
}

async fn a_cache_that_follows_the_changes_is_the_truth(w: World) {
    let generator = w.generator("ci").await;
    let mut agents = Vec::new();
    for text in ["east", "west", "north"] {
        let agent = w.agent(text, &[generator]).await;
        w.store
            .label_add(&w.by, Owner::Agent(agent), label("blue"))
            .await
            .unwrap();
        agents.push(agent);
    }
    let mut stacks = Vec::new();
    for number in 0..9 {
        stacks.push(w.stack(generator, &format!("s{number}")).await);
    }
    let other = if w.url.contains(":memory:") {
        w.store.clone()
    } else {
        w.another().await
    };
    let on_postgres = w.url.starts_with("postgres");
    // SQLite belongs to one process, so its followers share the store with the writer.
    let reader = if on_postgres {
        w.store.clone()
    } else {
        other.clone()
    };

    let snapshot = reader.assignment_snapshot().await.unwrap();
    let (mut seen, mut cached) = (snapshot.at, cache(snapshot.assignments));
    let mut newest = reader.change_newest();
    let (writers_done, stop) = tokio::sync::oneshot::channel();
    let following = async {
        let mut stop = std::pin::pin!(stop);
        let mut target = None;
        while target != Some(seen) {
            tokio::select! {
                changed = newest.wait_for(|number| *number > seen) => drop(changed.unwrap()),
                last = &mut stop, if target.is_none() => {
                    target = Some(last.unwrap());
                    continue;
                }
            }
            let Since::Changes(changes) = reader.changes_since(seen, 4).await.unwrap() else {
                panic!("the changes after {seen} are gone")
            };
            for change in changes {
                assert_eq!(change.number, seen.next());
                follow(&reader, &mut cached, change.subject).await;
                seen = change.number;
            }
        }
    };
    let writing = async {
        tokio::join!(
            stir(&w, &other, &agents, &stacks[..5]),
            stir(&w, &other, &agents, &stacks[5..])
        );
        let last = other.assignment_snapshot().await.unwrap().at;
        writers_done.send(last).unwrap();
    };
    let both = async { tokio::join!(following, writing) };
    tokio::time::timeout(Duration::from_secs(60), both)
        .await
        .expect("the follower hears of it");
    let truth = w.store.assignment_snapshot().await.unwrap();
    assert_eq!((seen, cached), (truth.at, cache(truth.assignments)));
}

async fn a_reader_that_slept_too_long_is_told(w: World) {
    w.small_fleet().await;
    let newest = *w.store.change_newest().borrow();
    w.clock.advance(SignedDuration::from_hours(1));
    let now = evenkeel_ambient::Clock::now(&w.clock);
    assert!(
        w.store
            .forget(Expendable::Changes, now, 1000)
            .await
            .unwrap()
            > 0
    );
    let since = |seen| w.store.changes_since(seen, 10);
    assert_eq!(
        since(newest).await.unwrap(),
        Since::Changes(vec![]),
        "nothing was missed"
    );
    assert_eq!(since(ChangeNumber(0)).await.unwrap(), Since::TooLongAgo);
    w.generator("later").await;
    assert_eq!(
        since(ChangeNumber(newest.0 - 1)).await.unwrap(),
        Since::TooLongAgo
    );
    let Since::Changes(changes) = since(newest).await.unwrap() else {
        panic!()
    };
    assert_eq!(changes.len(), 1);
}

/// The notification is only a hint: when it is lost, the number is found by looking.
#[tokio::test]
async fn a_lost_notification_is_made_good() {
    let Some(w) = World::on_postgres().await else {
        return;
    };
    let other = w.another().await;
    let mut admin = sqlx::PgConnection::connect(&w.url).await.unwrap();
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    let cut = sqlx::query(cut).fetch_all(&mut admin).await.unwrap();
    assert_eq!(cut.len(), 2, "one listener for each broker");
    let mut newest = other.change_newest();
    w.generator("ci").await;
    let heard = newest.wait_for(|number| number.0 > 0);
    tokio::time::timeout(Duration::from_secs(60), heard)
        .await
        .unwrap()
        .unwrap();
}
