//! A fleet in one process: a broker, many simulated clusters, an agent in each, and how long a
//! revision takes to be everywhere.

use std::time::Duration;

use clap::Parser;
use evenkeel_bench::{Table, grouped, resident_bytes};
use evenkeel_model::SequenceId;
use evenkeel_testfleet::{Fleet, Site, Stack, maps};
use evenkeel_testkit::Cluster;
use futures::{StreamExt, stream};
use serde_json::json;
use tokio::time::{Instant, sleep};

/// How many agents are made or asked at once.
const AT_ONCE: usize = 16;
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
    let (fleet, shop) = founded().await;
    let sites = started(&fleet, &shop, clusters).await;
    row("agents started and tied to a stack", begun.elapsed());

    let text = maps("fleet", OBJECTS - 1);
    row("first revision everywhere", delivered(&shop, &text).await);
    row(
        "an update everywhere",
        delivered(&shop, &text.replace("\"1\"", "\"2\"")).await,
    );
    row(
        "the same content again",
        delivered(&shop, &text.replace("\"1\"", "\"2\"")).await,
    );
    row("a change by hand in each repaired", repaired(&sites).await);
    row(
        "a prune of half everywhere",
        delivered(&shop, &maps("fleet", OBJECTS / 2)).await,
    );
    let begun = Instant::now();
    shop.delete().await;
    each(&sites, async |site| site.confirms_removal(&shop).await).await;
    row("the stack removed everywhere", begun.elapsed());
    table.print();
    Ok(())
}

async fn founded() -> (Fleet, Stack) {
    let fleet = Fleet::start().await;
    let shop = fleet.stack("shop").await;
    (fleet, shop)
}

async fn started(fleet: &Fleet, shop: &Stack, clusters: usize) -> Vec<Site> {
    let start = async |number: usize| {
        let cluster = Cluster::simulated();
        let site = fleet.quiet_site(&format!("site-{number}"), &cluster).await;
        // As in production: news comes by waiting, not by asking often.
        site.settings.lock().await.polling_interval = Duration::from_secs(30);
        site.serves(shop).await;
        site.start().await;
        site
    };
    stream::iter(0..clusters)
        .map(start)
        .buffer_unordered(AT_ONCE)
        .collect()
        .await
}

/// Submits a revision and waits until every agent has reported success.
async fn delivered(shop: &Stack, text: &str) -> Duration {
    let begun = Instant::now();
    let object = shop.submit(text).await;
    // The whole status is a large answer: it is asked for seldom, so as not to be measured itself.
    while !is_everywhere(shop, object.sequence_id).await {
        sleep(Duration::from_millis(100)).await;
    }
    begun.elapsed()
}

async fn is_everywhere(shop: &Stack, sequence: SequenceId) -> bool {
    let status = shop.status().await;
    status.iter().all(|one| one.applied == Some(sequence))
}

async fn repaired(sites: &[Site]) -> Duration {
    let begun = Instant::now();
    each(sites, async |site| {
        let maps = site.maps("fleet");
        maps.merge("m0", json!({"data": {"value": "theirs"}})).await;
        maps.becomes("m0", "/data/value", "2").await;
    })
    .await;
    begun.elapsed()
}

async fn each(sites: &[Site], work: impl AsyncFn(&Site)) {
    let works = stream::iter(sites)
        .map(|site| work(site))
        .buffer_unordered(AT_ONCE);
    works.collect::<Vec<()>>().await;
}
