//! Many Databases in one simulated cluster: how long until all are reconciled, what they cost in
//! memory and requests, and that nothing is asked at rest.

use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_bench::{Table, grouped, resident_bytes};
use evenkeel_controller::{Ended, Manager};
use evenkeel_database_operator::passwords::OverTheNetwork;
use evenkeel_database_operator::{Database, controller};
use evenkeel_kubesim::faults::View;
use evenkeel_kubesim::{Cluster, Workloads};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::PostParams;
use kube::{Api, Client, CustomResourceExt};
use prometheus_client::registry::Registry;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// How many share a namespace.
const NEIGHBOURS: usize = 10;
/// How long the operator is watched at rest.
const REST: Duration = Duration::from_secs(60);

/// What many Databases cost.
#[derive(Parser)]
struct Options {
    /// How many.
    #[arg(long, default_value_t = 1_000)]
    databases: usize,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Options { databases: count } = Options::parse();
    let cluster = Cluster::builder().workloads(Workloads::instant()).build();
    let people = Client::new(cluster.view("people"), "default");
    let definitions: Api<CustomResourceDefinition> = Api::all(people.clone());
    let definition = Database::crd();
    definitions
        .create(&PostParams::default(), &definition)
        .await?;

    let mut sheet = Sheet::new(count);
    let view = cluster.view("operator");
    let (process, stop) = operate(&view);
    let took = declared(&people, count).await?;
    sheet.row("declared until all are ready", took, &view);
    sleep(Duration::from_secs(5)).await;
    view.reset_log();
    sleep(REST).await;
    sheet.row("a minute at rest", REST, &view);
    stop.cancel();
    let _ended = process.await?;

    let view = cluster.view("successor");
    let began = Instant::now();
    let (process, stop) = operate(&view);
    quiet(&view).await;
    sheet.row(
        "another process looks at them, then 2 s of silence",
        began.elapsed(),
        &view,
    );
    stop.cancel();
    let _ended = process.await?;
    sheet.table.print();
    Ok(())
}

/// What is measured, for each Database.
struct Sheet {
    count: usize,
    before: u64,
    table: Table,
}

impl Sheet {
    fn new(count: usize) -> Self {
        let title = format!("{count} Databases, one operator, one simulated cluster, one process");
        let columns = ["what", "seconds", "requests for each", "KiB for each"];
        Self {
            count,
            before: resident_bytes().unwrap_or_default(),
            table: Table::new(&title, columns),
        }
    }

    /// What was asked through `view` since the last row.
    fn row(&mut self, what: &str, took: Duration, view: &View) {
        let requests = view.reset_log().requests() as f64 / self.count as f64;
        let memory = resident_bytes().unwrap_or_default();
        let memory = memory.saturating_sub(self.before);
        self.table.row([
            what.into(),
            format!("{:.2}", took.as_secs_f64()),
            format!("{requests:.1}"),
            grouped((memory >> 10) / self.count as u64),
        ]);
    }
}

/// Declares all of them and waits until they are ready; how long that took.
async fn declared(people: &Client, count: usize) -> anyhow::Result<Duration> {
    let began = Instant::now();
    for number in 0..count {
        let place = format!("team-{}", number / NEIGHBOURS);
        if number % NEIGHBOURS == 0 {
            let namespaces: Api<Namespace> = Api::all(people.clone());
            namespaces
                .create(&PostParams::default(), &namespace(&place))
                .await?;
        }
        let databases: Api<Database> = Api::namespaced(people.clone(), &place);
        databases
            .create(&PostParams::default(), &database(number))
            .await?;
    }
    ready(&Api::all(people.clone()), count).await?;
    Ok(began.elapsed())
}

fn namespace(name: &str) -> Namespace {
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some(name.to_owned());
    namespace
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
        sleep(Duration::from_millis(500)).await;
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
