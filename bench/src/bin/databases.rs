//! Many Databases in one simulated cluster: how long until all are reconciled, what they cost in
//! memory and requests, and that nothing is asked at rest. `--databases N`, 1,000 unless said.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_bench::{Table, grouped, resident_bytes};
use evenkeel_controller::{Ended, Manager};
use evenkeel_database_operator::passwords::OverTheNetwork;
use evenkeel_database_operator::{Database, controller};
use evenkeel_kubesim::faults::{RequestLog, View};
use evenkeel_kubesim::{Cluster, Workloads};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::PostParams;
use kube::{Api, Client, CustomResourceExt};
use prometheus_client::registry::Registry;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// How long the operator is watched at rest.
const REST: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let count = databases()?;
    let cluster = Cluster::builder().workloads(Workloads::instant()).build();
    let people = Client::new(cluster.view("people"), "default");
    let definitions: Api<CustomResourceDefinition> = Api::all(people.clone());
    definitions
        .create(&PostParams::default(), &Database::crd())
        .await?;
    let before = resident_bytes().unwrap_or_default();

    let title = format!("{count} Databases, one operator, one simulated cluster, one process");
    let mut table = Table::new(
        &title,
        ["what", "seconds", "requests for each", "KiB for each"],
    );
    let mut row = |what: &str, took: Duration, log: &RequestLog| {
        let requests = log.requests() as f64 / count as f64;
        let memory = resident_bytes().unwrap_or_default().saturating_sub(before);
        table.row([
            what.into(),
            format!("{:.2}", took.as_secs_f64()),
            format!("{requests:.1}"),
            grouped((memory >> 10) / count as u64),
        ]);
    };

    let view = cluster.view("operator");
    let (process, stop) = operate(&view);
    let began = Instant::now();
    let all: Api<Database> = Api::default_namespaced(people);
    for number in 0..count {
        all.create(&PostParams::default(), &database(number))
            .await?;
    }
    ready(&all, count).await?;
    row(
        "declared until all are ready",
        began.elapsed(),
        &view.reset_log(),
    );

    sleep(Duration::from_secs(5)).await;
    view.reset_log();
    sleep(REST).await;
    row("a minute at rest", REST, &view.reset_log());
    stop.cancel();
    let _ended = process.await?;

    let view = cluster.view("successor");
    let began = Instant::now();
    let (process, stop) = operate(&view);
    quiet(&view).await;
    row(
        "another process looks at all of them",
        began.elapsed(),
        &view.reset_log(),
    );
    stop.cancel();
    let _ended = process.await?;
    table.print();
    Ok(())
}

fn databases() -> anyhow::Result<usize> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => Ok(1_000),
        (Some("--databases"), Some(count)) => count.parse().context("--databases takes a number"),
        _ => bail!("usage: databases [--databases N]"),
    }
}

fn database(number: usize) -> Database {
    let spec = json!({"version": "17", "storage": {"size": "1Gi"}});
    let spec = serde_json::from_value(spec).unwrap_or_else(|error| panic!("{error}"));
    Database::new(&format!("database-{number}"), spec)
}

fn operate(view: &View) -> (JoinHandle<Ended>, CancellationToken) {
    let client = Client::new(view.clone(), "default");
    let mut registry = Registry::default();
    let (clock, dice) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    let manager = Manager::new(client, clock, dice, &mut registry);
    let stop = CancellationToken::new();
    let running = manager.with(controller(OverTheNetwork)).run(stop.clone());
    (tokio::spawn(running), stop)
}

async fn ready(all: &Api<Database>, count: usize) -> anyhow::Result<()> {
    loop {
        let listed = all.list(&Default::default()).await?;
        let is_ready = |database: &&Database| {
            let status = database.status.as_ref();
            status.is_some_and(|status| status.ready_replicas == 1 && status.version.is_some())
        };
        if listed.items.iter().filter(is_ready).count() == count {
            return Ok(());
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// Waits until nothing was asked for two seconds.
async fn quiet(view: &View) {
    let mut known = 0;
    loop {
        sleep(Duration::from_secs(2)).await;
        let now = view.log().requests();
        if now == known {
            return;
        }
        known = now;
    }
}
