//! The store: how many revisions a second are durably submitted, and whether old ones slow it.

use std::sync::Arc;

use clap::Parser;
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_bench::{Table, grouped, per_second};
use evenkeel_model::{Actor, Name, NewGenerator, NewRevision, NewStack, StackId};
use evenkeel_store::{Database, Deployments, Generators, Stacks};
use evenkeel_testkit::Postgres;
use evenkeel_testkit::postgres::Durability;
use tokio::time::Instant;

const MEASURED: usize = 2_000;
/// As many as one group commit takes, to be done with the preloading soon.
const PRELOADERS: usize = 64;
/// About the size of a small Deployment.
const MANIFEST_BYTES: usize = 1_800;

/// How many revisions a second are durably submitted.
#[derive(Parser)]
struct Options {
    /// How many are stored before it is measured again.
    #[arg(long, default_value_t = 100_000)]
    revisions: usize,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Options {
        revisions: preloaded,
    } = Options::parse();
    let mut table = Table::new(
        "Revisions submitted, each on disk before it is acknowledged (1.8 KB each)",
        ["database", "stored before", "writers", "per second"],
    );
    let directory = tempfile::tempdir()?;
    let file = format!("sqlite://{}/fleet.db", directory.path().display());
    measure("SQLite", &file, preloaded, &mut table).await?;
    match Postgres::start_private(Durability::Disk).await {
        Ok(server) => measure("PostgreSQL", server.url(), preloaded, &mut table).await?,
        Err(error) => table.row([
            "PostgreSQL".into(),
            error.to_string(),
            String::new(),
            String::new(),
        ]),
    }
    table.print();
    Ok(())
}

async fn measure(name: &str, url: &str, preloaded: usize, table: &mut Table) -> anyhow::Result<()> {
    let store = Database::open(url, Arc::new(SystemClock), Arc::new(SystemRandom)).await?;
    let stack = make_stack(&store).await?;
    let mut stored = 0;
    for preload in [0, preloaded] {
        submit(&store, stack, PRELOADERS, preload, stored).await?;
        stored += preload;
        for writers in [1, 8] {
            let begin = Instant::now();
            submit(&store, stack, writers, MEASURED, stored).await?;
            let rate = per_second(MEASURED, begin.elapsed());
            table.row([
                name.to_owned(),
                grouped(stored as u64),
                writers.to_string(),
                grouped(rate as u64),
            ]);
            stored += MEASURED;
        }
    }
    store.close().await;
    Ok(())
}

async fn make_stack(store: &Database) -> anyhow::Result<StackId> {
    let by = Actor::SYSTEM;
    let new = NewGenerator {
        name: Name::new("bench")?,
        description: None,
        is_system: false,
    };
    let generator_id = store.generator_create(&by, new, None).await?.id;
    let new = NewStack {
        name: Name::new("bench")?,
        description: None,
        generator_id,
    };
    Ok(store.stack_create(&by, new).await?.id)
}

/// Submits `count` different revisions from so many writers at once.
async fn submit(
    store: &Database,
    stack: StackId,
    writers: usize,
    count: usize,
    first: usize,
) -> anyhow::Result<()> {
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..writers {
        let store = store.clone();
        tasks.spawn(async move {
            for number in (writer..count).step_by(writers) {
                let new = NewRevision::of(stack, manifest(first + number));
                store.deployment_submit(&Actor::SYSTEM, new).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(())
}

fn manifest(number: usize) -> String {
    format!("number: {number:0MANIFEST_BYTES$}\n")
}
