//! A fleet in one process: a broker, many simulated clusters, an agent in each, and how long a
//! revision takes to be everywhere.

use std::time::Duration;

use clap::Parser;
use evenkeel_bench::{Table, grouped, resident_bytes};
use evenkeel_testfleet::crowd::Crowd;
use evenkeel_testfleet::maps;
use tokio::time::Instant;

/// How many objects a revision has, its namespace included.
const OBJECTS: usize = 11;

/// How long a revision takes to be everywhere.
#[derive(Parser)]
struct Options {
    /// How many clusters, each with an agent.
    #[arg(long, default_value_t = 100)]
    clusters: usize,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Options { clusters } = Options::parse();
    let title = format!("{clusters} clusters, {OBJECTS} objects each, one broker, one process");
    let mut table = Table::new(&title, ["what", "seconds", "clusters/s", "MiB in all"]);
    let mut row = |what: &str, took: Duration| {
        let rate = clusters as f64 / took.as_secs_f64();
        let memory = grouped(resident_bytes().unwrap_or_default() >> 20);
        table.row([
            what.into(),
            format!("{:.2}", took.as_secs_f64()),
            format!("{rate:.0}"),
            memory,
        ]);
    };

    let begun = Instant::now();
    let crowd = Crowd::start(clusters).await;
    row("agents started and tied to a stack", begun.elapsed());

    let text = maps("fleet", OBJECTS - 1);
    let changed = text.replace("\"1\"", "\"2\"");
    row("first revision everywhere", crowd.delivers(&text).await);
    row("an update everywhere", crowd.delivers(&changed).await);
    row("the same content again", crowd.delivers(&changed).await);
    let repaired = crowd.repairs("fleet", "m0", "2").await;
    row("a change by hand in each repaired", repaired);
    let half = maps("fleet", OBJECTS / 2);
    row("a prune of half everywhere", crowd.delivers(&half).await);
    row("the stack removed everywhere", crowd.removes().await);
    table.print();
    Ok(())
}
