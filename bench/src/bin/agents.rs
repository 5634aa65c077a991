//! The Agent operator with many agents that share ten models: what the start costs, what one changed
//! model costs, and what it would cost if every event searched all agents.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use clap::Parser;
use evenkeel_agent_operator::api::{Agent, ModelConfig};
use evenkeel_agent_operator::definitions;
use evenkeel_agent_operator::operator::{Options, with_controllers};
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_bench::{Table, grouped, median_time};
use evenkeel_controller::Manager;
use evenkeel_kubesim::faults::{RequestLog, View};
use evenkeel_kubesim::store::ResourceId;
use evenkeel_kubesim::{Cluster, Workloads};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const MODELS: usize = 10;
const NAMESPACE: &str = "default";
/// The model that is changed.
const CHANGED: usize = 3;

/// What many agents that share ten models cost.
#[derive(Parser)]
struct Line {
    /// How many.
    #[arg(long, default_value_t = 1_000)]
    agents: usize,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Line { agents: count } = Line::parse();
    let cluster = Cluster::builder().workloads(Workloads::instant()).build();
    let admin = Client::new(cluster.view("admin"), NAMESPACE);
    declare(&admin, count).await?;
    let view = cluster.view("operator");
    let stop = CancellationToken::new();
    let begin = Instant::now();
    let working = tokio::spawn(manager(&view).run(stop.clone()));
    let start = quiet(&view).await.saturating_duration_since(begin);
    let started = view.reset_log();

    let models: Api<ModelConfig> = Api::namespaced(admin.clone(), NAMESPACE);
    let change = Patch::Merge(json!({"spec": {"model": "another"}}));
    let begin = Instant::now();
    let name = format!("m{CHANGED}");
    models
        .patch(&name, &PatchParams::default(), &change)
        .await?;
    let changed = quiet(&view).await.saturating_duration_since(begin);
    let log = view.reset_log();
    stop.cancel();
    let _ = working.await;

    ensure!(
        written(&log) == users(count),
        "not exactly the model's agents were touched"
    );
    let mut table = Table::new(
        &format!("{count} agents that share {MODELS} models"),
        ["what", "start", "one model changed"],
    );
    table.row(["time (ms)".into(), millis(start), millis(changed)]);
    let requests = [started.requests(), log.requests()].map(grouped);
    table.row(row("requests", requests));
    table.row(row("writes", [started.writes(), log.writes()].map(grouped)));
    let touched = [count, users(count).len()].map(|agents| grouped(agents as u64));
    table.row(row("agents touched", touched));
    table.print();
    scan(&admin).await?.print();
    Ok(())
}

fn row(what: &str, [start, changed]: [String; 2]) -> [String; 3] {
    [what.to_owned(), start, changed]
}

fn manager(view: &View) -> Manager {
    let client = Client::new(view.clone(), NAMESPACE);
    let (clock, dice) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    let manager = Manager::new(client, clock, dice, &mut Default::default());
    with_controllers(manager, Options::default())
}

/// The agents of the model that is changed.
fn users(count: usize) -> BTreeSet<String> {
    let numbers = (0..count).filter(|number| number % MODELS == CHANGED);
    numbers.map(|number| format!("a{number}")).collect()
}

/// The agents whose objects were written.
fn written(log: &RequestLog) -> BTreeSet<String> {
    let deployments = ResourceId::new("apps", "deployments");
    let writes = log.entries().filter(|entry| entry.call.is_write());
    let writes = writes.filter(|entry| entry.call.resource == deployments);
    writes.filter_map(|entry| entry.call.name.clone()).collect()
}

async fn declare(admin: &Client, count: usize) -> anyhow::Result<()> {
    let create = PostParams::default();
    let crds: Api<CustomResourceDefinition> = Api::all(admin.clone());
    for definition in definitions() {
        crds.create(&create, &definition).await?;
    }
    let models: Api<ModelConfig> = Api::namespaced(admin.clone(), NAMESPACE);
    for number in 0..MODELS {
        let model = json!({"metadata": {"name": format!("m{number}")},
            "spec": {"provider": "Ollama", "model": "m", "ollama": {"host": "h"}}});
        models
            .create(&create, &serde_json::from_value(model)?)
            .await?;
    }
    let agents: Api<Agent> = Api::namespaced(admin.clone(), NAMESPACE);
    for number in 0..count {
        let declarative =
            json!({"systemMessage": "hi", "modelConfig": format!("m{}", number % MODELS)});
        let agent = json!({"metadata": {"name": format!("a{number}")},
            "spec": {"type": "Declarative", "declarative": declarative}});
        agents
            .create(&create, &serde_json::from_value(agent)?)
            .await?;
    }
    Ok(())
}

/// When the operator asked for the last thing, once it has asked for nothing in a while.
async fn quiet(view: &View) -> Instant {
    let (mut requests, mut last) = (0, Instant::now());
    loop {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let now = view.log().requests();
        if now != requests {
            (requests, last) = (now, Instant::now());
        } else if requests > 0 && last.elapsed() > Duration::from_secs(3) {
            return last;
        }
    }
}

/// What finding the agents of one model costs by looking at all of them, as kagent does for every
/// event of a model, server, Service or ConfigMap.
async fn scan(admin: &Client) -> anyhow::Result<Table> {
    let agents: Api<Agent> = Api::namespaced(admin.clone(), NAMESPACE);
    let all = agents.list(&Default::default()).await?.items;
    let time = median_time(9, || {
        // A cache hands out copies, as that of kagent's library does.
        let copies = all.clone();
        let uses = |agent: &&Agent| {
            let declared = agent.spec.declarative.as_ref();
            declared.is_some_and(|it| it.model_config.as_deref() == Some("m3"))
        };
        copies.iter().filter(uses).count()
    });
    let mut table = Table::new("finding the agents of one model", ["how", "time (ms)"]);
    let how = format!("by looking at all {}", all.len());
    table.row([how, millis(time)]);
    Ok(table)
}

fn millis(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1_000.0)
}
