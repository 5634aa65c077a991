//! The runner: how many events a second, how much memory a key.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use evenkeel_ambient::{SeededRandom, SharedRandom};
use evenkeel_bench::{Table, grouped, median_time, per_second, resident_bytes, timed};
use evenkeel_reconcile::runner::{
    Ended, Failure, FailureKind, Handle, Moment, Queue, Request, Runner, Settings,
};
use evenkeel_reconcile::{Delays, ErrorClass, Outcome};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

type Key = Arc<str>;

fn main() -> anyhow::Result<()> {
    memory().print();
    queue_alone().print();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_time()
        .build()?;
    runtime.block_on(whole_runner())?.print();
    Ok(())
}

fn keys(count: usize) -> impl Iterator<Item = Key> {
    (0..count).map(|key| format!("namespace-{:03}/object-{key:07}", key % 997).into())
}

fn dice() -> SharedRandom {
    Arc::new(SeededRandom::new(1))
}

/// What a million keys take, key text included, as they go from state to state. Measured first:
/// memory that an earlier queue gave back would hide what this one takes.
fn memory() -> Table {
    const KEYS: usize = 1_000_000;
    let mut table = Table::new("a million keys of 30 characters", ["state", "bytes/key"]);
    let before = resident_bytes();
    let mut row = |state: &str| table.row([state.to_owned(), bytes_per_key(before, KEYS)]);
    let mut queue = filled(KEYS);
    row("queued");
    run_all(&mut queue, &Ended::Done);
    row("done, resting until the resync");
    add_all(&mut queue, KEYS);
    run_all(&mut queue, &failure());
    row("failed, backing off, the error kept");
    table
}

fn failure() -> Ended {
    let kind = FailureKind::Error(ErrorClass::Transient);
    Ended::Failed(Failure {
        kind,
        text: "the other side does not answer".into(),
    })
}

fn filled(count: usize) -> Queue<Key> {
    let delays = Delays::resync_every(Duration::from_secs(36_000));
    let mut queue = Queue::new(delays, None, dice());
    add_all(&mut queue, count);
    queue
}

/// The queue as a data structure.
fn queue_alone() -> Table {
    let heads = ["keys", "adds/s", "repeated adds/s", "runs/s"];
    let mut table = Table::new("queue alone, one thread", heads);
    for count in [1_000, 10_000, 100_000, 1_000_000] {
        table.row(measure_queue(count));
    }
    table
}

fn measure_queue(count: usize) -> [String; 4] {
    let adding = median_time(3, || filled(count));
    let mut queue = filled(count);
    let repeating = median_time(3, || add_all(&mut queue, count));
    let running = timed(|| run_all(&mut queue, &Ended::Done)).1;
    [
        grouped(count as u64),
        rate(count, adding),
        rate(count, repeating),
        rate(count, running),
    ]
}

fn add_all(queue: &mut Queue<Key>, count: usize) {
    keys(count).for_each(|key| queue.add(key, Request::changed().generation(1), Moment::START));
}

fn run_all(queue: &mut Queue<Key>, ended: &Ended) {
    while let Some(run) = queue.next(Moment::START) {
        queue.finish(run.slot, ended.clone(), Moment::START);
    }
}

fn bytes_per_key(before: Option<u64>, count: usize) -> String {
    let grown = resident_bytes()
        .zip(before)
        .map(|(after, before)| after.saturating_sub(before));
    grown.map_or("unknown".to_owned(), |bytes| {
        (bytes / count as u64).to_string()
    })
}

fn rate(count: usize, time: Duration) -> String {
    grouped(per_second(count, time) as u64)
}

/// The runner with its tasks, time limits and locks, around work that does nothing.
async fn whole_runner() -> anyhow::Result<Table> {
    let heads = ["workers", "keys", "events", "runs", "events/s", "runs/s"];
    let mut table = Table::new("whole runner, empty work", heads);
    for (workers, count, events) in [
        (1, 100_000, 100_000),
        (8, 100_000, 100_000),
        (8, 1_000, 1_000_000),
    ] {
        table.row(measure_runner(workers, count, events).await?);
    }
    Ok(table)
}

async fn measure_runner(
    workers: usize,
    count: usize,
    events: usize,
) -> anyhow::Result<[String; 6]> {
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&runs);
    let work = move |_key: Key| {
        counter.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Outcome::<Infallible>::Done)
    };
    let runner = Runner::new(
        Settings {
            workers,
            ..Settings::default()
        },
        dice(),
    );
    let (handle, shutdown) = (runner.handle(), CancellationToken::new());
    let names: Vec<Key> = keys(count).collect();
    let began = Instant::now();
    let running = tokio::spawn(runner.run(work, shutdown.clone()));
    for event in 0..events {
        handle.add(Arc::clone(&names[event % count]), Request::changed());
    }
    until_empty(&handle).await;
    let took = began.elapsed();
    shutdown.cancel();
    running.await?;
    let ran = runs.load(Ordering::Relaxed);
    Ok([
        workers.to_string(),
        grouped(count as u64),
        grouped(events as u64),
        grouped(ran as u64),
        rate(events, took),
        rate(ran, took),
    ])
}

async fn until_empty(handle: &Handle<Key>) {
    loop {
        let load = handle.load();
        if load.changes + load.routine + load.delayed + load.running == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
