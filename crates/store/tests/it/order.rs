//! Numbers are seen in order, however many write at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use evenkeel_model::{ChangeNumber, NewRevision, SequenceId, StackId};
use evenkeel_store::{Changes, Database, Deployments, Since};

use crate::world::{World, on_every_database};

const WRITERS: usize = 8;
const EACH: usize = 25;

on_every_database! {
    a_reader_who_has_seen_43_has_seen_42,
    changes_are_read_without_holes,
}

/// Several brokers where the database can be shared, several callers of one where it cannot.
async fn brokers(w: &World) -> Vec<Database> {
    if w.url.contains(":memory:") {
        return vec![w.store.clone()];
    }
    vec![w.store.clone(), w.another().await, w.another().await]
}

async fn write(store: Database, stack: StackId, writer: usize) {
    let by = evenkeel_model::Actor::SYSTEM;
    for number in 0..EACH {
        let new = NewRevision::of(stack, format!("writer: {writer}\nnumber: {number}\n"));
        store.deployment_submit(&by, new).await.unwrap();
    }
}

async fn race(w: &World, brokers: &[Database]) {
    let generator = w.generator("ci").await;
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let stack = w.stack(generator, &format!("stack-{writer}")).await;
        writers.spawn(write(
            brokers[writer % brokers.len()].clone(),
            stack,
            writer,
        ));
    }
    while let Some(ended) = writers.join_next().await {
        ended.unwrap();
    }
}

async fn a_reader_who_has_seen_43_has_seen_42(w: World) {
    let brokers = brokers(&w).await;
    let done = Arc::new(AtomicBool::new(false));
    let reader = tokio::spawn(poll(brokers[brokers.len() - 1].clone(), done.clone()));
    race(&w, &brokers).await;
    done.store(true, Ordering::SeqCst);
    assert_eq!(reader.await.unwrap(), SequenceId((WRITERS * EACH) as i64));
}

/// Reads on from the last number it saw, and fails at the first hole.
async fn poll(store: Database, done: Arc<AtomicBool>) -> SequenceId {
    let mut seen = SequenceId(0);
    loop {
        let last_look = done.load(Ordering::SeqCst);
        for object in store.deployments_after(seen, 1000).await.unwrap() {
            assert_eq!(object.sequence_id, seen.next());
            seen = object.sequence_id;
        }
        if last_look {
            return seen;
        }
        tokio::task::yield_now().await;
    }
}

async fn changes_are_read_without_holes(w: World) {
    let brokers = brokers(&w).await;
    let store = brokers[brokers.len() - 1].clone();
    let mut newest = store.change_newest();
    let reader = tokio::spawn(async move {
        let mut seen = ChangeNumber(0);
        while seen.0 < (WRITERS * EACH) as i64 {
            newest.wait_for(|number| *number > seen).await.unwrap();
            let Since::Changes(changes) = store.changes_since(seen, 10).await.unwrap() else {
                panic!("changes after {seen} are gone")
            };
            for change in changes {
                assert_eq!(change.number, seen.next());
                seen = change.number;
            }
        }
    });
    race(&w, &brokers).await;
    reader.await.unwrap();
}
