//! The Agent operator with a thousand agents that share ten models: what the start costs, what one
//! changed model costs, and what it would cost if every event searched all agents.

use std::sync::Arc;
use std::time::Duration;

use evenkeel_agent_operator::api::{Agent, ModelConfig};
use evenkeel_agent_operator::definitions;
use evenkeel_agent_operator::operator::{Options, with_controllers};
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_bench::{Table, grouped, median_time};
use evenkeel_controller::Manager;
use evenkeel_kubesim::faults::{RequestLog, View};
use evenkeel_kubesim::{Cluster, Verb, store::ResourceId};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const AGENTS: usize = 1_000;
const MODELS: usize = 10;
const NAMESPACE: &str = "default";

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(run())
}

async fn run() -> anyhow::Result<()> {
    let cluster = Cluster::new();
    let admin = Client::new(cluster.view("admin"), NAMESPACE);
    declare(&admin).await?;
    let view = cluster.view("operator");
    let client = Client::new(view.clone(), NAMESPACE);
    let (clock, dice) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    let manager = Manager::new(client, clock, dice, &mut Default::default());
    let stop = CancellationToken::new();
    let manager = with_controllers(manager, Options::default());
    let begin = Instant::now();
    let working = tokio::spawn(manager.run(stop.clone()));
    let start = quiet(&view).await.saturating_duration_since(begin);
    let started = view.reset_log();

    let models: Api<ModelConfig> = Api::namespaced(admin.clone(), NAMESPACE);
    let change = Patch::Merge(json!({"spec": {"model": "another"}}));
    let begin = Instant::now();
    models.patch("m3", &PatchParams::default(), &change).await?;
    let changed = quiet(&view).await.saturating_duration_since(begin);
    let log = view.reset_log();

    let mut table = Table::new(
        "1,000 agents that share 10 models",
        ["what", "start", "one model changed"],
    );
    table.row(["time (ms)".into(), millis(start), millis(changed)]);
    table.row([
        "requests".into(),
        grouped(started.requests()),
        grouped(log.requests()),
    ]);
    table.row([
        "writes".into(),
        grouped(started.writes()),
        grouped(log.writes()),
    ]);
    table.row(["agents touched".into(), touched(&started), touched(&log)]);
    table.print();
    scan(&admin).await?.print();
    stop.cancel();
    let _ = working.await;
    Ok(())
}

async fn declare(admin: &Client) -> anyhow::Result<()> {
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
    for number in 0..AGENTS {
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

fn touched(log: &RequestLog) -> String {
    let status = log.count(Verb::Patch, &ResourceId::new("apps", "deployments"));
    // Each is tried dry before it is written.
    grouped(status / 2)
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
    table.row(["by looking at all 1,000".into(), millis(time)]);
    Ok(table)
}

fn millis(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1_000.0)
}
