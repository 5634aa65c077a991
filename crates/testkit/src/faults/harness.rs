//! One story, every fault.

use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

use evenkeel_kubesim::Cluster;
use evenkeel_kubesim::faults::{Moment, Stale, View};
use futures::future::{BoxFuture, select_all};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::world::World;

/// An operator, its worlds, and what happens to them; made anew for every run.
pub trait Subject {
    /// What the worlds look like in the end, without what differs from run to run.
    type End: PartialEq + Debug;

    /// How long, in virtual time, everything takes to come to rest: at least two resyncs.
    const SETTLES_IN: Duration;

    /// Where the operator writes to.
    fn worlds(&self) -> Vec<&dyn World>;

    /// The cluster and the operator's view of it.
    fn cluster(&self) -> (&Cluster, &View);

    /// The operator as a process that was just started. Dropping it kills it.
    fn operator(&self) -> BoxFuture<'static, ()>;

    /// What people do, through connections of their own.
    fn story(&self) -> impl Future<Output = ()>;

    /// What the worlds look like. Panics when something happened that must never happen.
    fn end(&self) -> impl Future<Output = Self::End>;
}

/// What was explored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Explored {
    /// How many writes the undisturbed story takes.
    pub writes: u64,
    /// How many times the story was told with a fault.
    pub runs: usize,
}

/// Tells the story with a crash before, after, and with a lost reply at every write to every world.
pub async fn crash_everywhere<S: Subject>(begin: impl AsyncFn() -> S) -> Explored {
    const MOMENTS: [Moment; 3] = [
        Moment::BeforeCommit,
        Moment::BeforeReply,
        Moment::AfterReply,
    ];
    let undisturbed = begin().await;
    let end = tell(&undisturbed).await;
    let counts: Vec<_> = undisturbed
        .worlds()
        .iter()
        .map(|world| world.writes())
        .collect();
    rests(&undisturbed, "the undisturbed story").await;
    let mut explored = Explored {
        writes: counts.iter().sum(),
        runs: 0,
    };
    for (at, writes) in counts.iter().enumerate() {
        for write in 1..=*writes {
            for moment in MOMENTS {
                let subject = begin().await;
                let world = subject.worlds()[at];
                world.crash_at(write, moment);
                let what = format!("a crash {moment:?} at write {write} to {}", world.name());
                assert_eq!(tell(&subject).await, end, "after {what}");
                rests(&subject, &what).await;
                explored.runs += 1;
            }
        }
    }
    explored
}

/// Tells the story, then starts the operator on a view of the cluster as it was at each revision
/// of the story. Nothing may change by that.
pub async fn old_views<S: Subject>(begin: impl AsyncFn() -> S) -> Explored {
    let subject = begin().await;
    let (cluster, view) = subject.cluster();
    let first = cluster.store().revision();
    let end = tell(&subject).await;
    let last = cluster.store().revision();
    let mut explored = Explored::default();
    for revision in first..last {
        for stale in [Stale::AllReads, Stale::CachedReads] {
            if view.freeze_at(revision, stale).is_err() {
                continue;
            }
            let process = started(&subject);
            sleep(S::SETTLES_IN).await;
            view.catch_up();
            sleep(S::SETTLES_IN).await;
            drop(process);
            assert_eq!(
                subject.end().await,
                end,
                "after a view of {revision} ({stale:?})"
            );
            explored.runs += 1;
        }
    }
    rests(&subject, "old views").await;
    explored
}

/// Tells the story to an operator that misses events: the first ones, more each time; and to one
/// that hears of everything only in the end.
pub async fn lost_events<S: Subject>(begin: impl AsyncFn() -> S, most: usize) -> Explored {
    let end = tell(&begin().await).await;
    let mut explored = Explored::default();
    for lost in 0..=most {
        let subject = begin().await;
        let view = subject.cluster().1;
        let what = match lost {
            0 => "events that came late and as one".to_owned(),
            lost => format!("{lost} lost events"),
        };
        let process = started(&subject);
        sleep(Duration::from_secs(1)).await;
        match lost {
            0 => view.hold_events(),
            lost => view.drop_events(None, lost),
        }
        subject.story().await;
        view.release_events();
        sleep(S::SETTLES_IN).await;
        drop(process);
        // What nobody heard of is found at the latest by the next process.
        let process = started(&subject);
        sleep(S::SETTLES_IN).await;
        drop(process);
        assert_eq!(subject.end().await, end, "after {what}");
        rests(&subject, &what).await;
        explored.runs += 1;
    }
    explored
}

/// Tells the story to an operator that is started again whenever it dies.
async fn tell<S: Subject>(subject: &S) -> S::End {
    subject.worlds().iter().for_each(|world| world.reset());
    let story = async {
        subject.story().await;
        sleep(S::SETTLES_IN).await;
    };
    tokio::select! {
        () = story => {}
        () = supervised(subject) => {}
    }
    subject.end().await
}

async fn supervised<S: Subject>(subject: &S) {
    loop {
        let process = started(subject);
        let worlds = subject.worlds();
        select_all(worlds.iter().map(|world| world.crashed())).await;
        drop(process);
        worlds.iter().for_each(|world| world.heal());
    }
}

/// A further start of the operator writes nothing.
async fn rests<S: Subject>(subject: &S, after: &str) {
    subject.worlds().iter().for_each(|world| world.heal());
    subject.worlds().iter().for_each(|world| world.reset());
    let process = started(subject);
    sleep(S::SETTLES_IN).await;
    drop(process);
    for world in subject.worlds() {
        let written = world.written();
        assert!(
            written.is_empty(),
            "writes to {} at rest, after {after}: {written:?}",
            world.name()
        );
    }
}

/// A process that dies when it is dropped.
struct Process(JoinHandle<()>);

impl Drop for Process {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn started<S: Subject>(subject: &S) -> Process {
    Process(tokio::spawn(subject.operator()))
}
