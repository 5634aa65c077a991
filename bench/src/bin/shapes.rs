//! Ten thousand shapes: a first making, a start when all is well, a survey at rest, one change.
//!
//! The cluster is kubesim in this process; the cloud is reached over HTTP.

use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_bench::{Table, grouped};
use evenkeel_controller::Manager;
use evenkeel_kubesim::Cluster;
use evenkeel_kubesim::faults::View;
use evenkeel_shape_operator::{
    DeletionPolicy, Form, Marking, Settings, Shape, ShapeSpec, add_to, definitions, over_http,
};
use evenkeel_shapes_cloud::{Cloud, serve};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// How long nothing has to happen before it counts as rest.
const REST: Duration = Duration::from_secs(3);

/// How often the whole cloud is listed.
const SURVEY: Duration = Duration::from_secs(60);

/// What many Shapes cost, in Kubernetes and in the cloud.
#[derive(Parser)]
struct Options {
    /// How many.
    #[arg(long, default_value_t = 10_000)]
    shapes: usize,
}

fn main() -> anyhow::Result<()> {
    let Options { shapes: count } = Options::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(measure(count))?.print();
    Ok(())
}

struct Bench {
    view: View,
    shapes: Api<Shape>,
    cloud: Arc<Cloud>,
    address: String,
}

/// What was asked until some moment.
#[derive(Clone, Copy)]
struct Asked {
    reads: u64,
    writes: u64,
    cloud: u64,
}

async fn measure(count: usize) -> anyhow::Result<Table> {
    let bench = Bench::new(count).await?;
    let heads = [
        "what",
        "seconds",
        "reads of Kubernetes",
        "writes",
        "calls of the cloud",
    ];
    let mut table = Table::new(&format!("{} shapes", grouped(count as u64)), heads);

    let (stop, running) = bench.operator()?;
    let before = bench.asked();
    let took = bench.until_rest().await;
    table.row(bench.row("made for the first time", took, before));
    stop.cancel();
    running.await?;

    let before = bench.asked();
    let (_stop, _running) = bench.operator()?;
    let took = bench.until_rest().await;
    table.row(bench.row("started again, all as declared", took, before));

    let before = bench.asked();
    sleep(SURVEY).await;
    let took = bench.until_rest().await;
    table.row(bench.row("a minute at rest: one survey", took + SURVEY, before));

    let before = bench.asked();
    let took = bench.change("s0000042").await?;
    sleep(REST).await;
    table.row(bench.row("one declaration changed", took, before));
    Ok(table)
}

impl Bench {
    async fn new(count: usize) -> anyhow::Result<Self> {
        let cluster = Cluster::new();
        let person = Client::new(cluster.view("person"), "default");
        let crds: Api<CustomResourceDefinition> = Api::all(person.clone());
        for definition in definitions() {
            crds.create(&PostParams::default(), &definition).await?;
        }
        let shapes: Api<Shape> = Api::default_namespaced(person);
        for number in 0..count {
            let shape = Shape::new(&format!("s{number:07}"), square());
            shapes.create(&PostParams::default(), &shape).await?;
        }
        let cloud = Arc::new(Cloud::new(Arc::new(SystemClock), Arc::new(SystemRandom)));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://{}", listener.local_addr()?);
        tokio::spawn(serve(listener, cloud.clone(), CancellationToken::new()));
        let view = cluster.view("operator");
        Ok(Self {
            view,
            shapes,
            cloud,
            address,
        })
    }

    fn operator(&self) -> anyhow::Result<(CancellationToken, JoinHandle<()>)> {
        let client = Client::new(self.view.clone(), "default");
        let (clock, dice) = (Arc::new(SystemClock), Arc::new(SystemRandom));
        let manager = Manager::new(client, clock, dice, &mut Default::default());
        let mut settings = Settings::new(Marking::labels("k8s")?);
        settings.survey = SURVEY;
        let manager = add_to(manager, over_http(&self.address)?, settings);
        let stop = CancellationToken::new();
        let running = manager.run(stop.clone());
        let running = tokio::spawn(async move {
            let _ = running.await;
        });
        Ok((stop, running))
    }

    fn asked(&self) -> Asked {
        let log = self.view.log();
        Asked {
            reads: log.requests() - log.writes(),
            writes: log.writes(),
            cloud: self.cloud.calls(),
        }
    }

    /// How long it takes until nothing more is asked.
    async fn until_rest(&self) -> Duration {
        let begun = Instant::now();
        let (mut last, mut known) = (begun, self.total());
        while last.elapsed() < REST {
            sleep(Duration::from_millis(20)).await;
            let now = self.total();
            if now != known {
                (last, known) = (Instant::now(), now);
            }
        }
        last - begun
    }

    fn total(&self) -> u64 {
        let Asked {
            reads,
            writes,
            cloud,
        } = self.asked();
        reads + writes + cloud
    }

    /// How long it takes until the cloud shows a change.
    async fn change(&self, name: &str) -> anyhow::Result<Duration> {
        let id = self
            .shapes
            .get(name)
            .await?
            .status
            .and_then(|status| status.id);
        let id = id.unwrap_or_default();
        let begun = Instant::now();
        let purple = Patch::Merge(serde_json::json!({"spec": {"colour": "purple"}}));
        self.shapes
            .patch(name, &PatchParams::default(), &purple)
            .await?;
        while self.cloud.get(&id)?.colour != "purple" {
            sleep(Duration::from_micros(200)).await;
        }
        Ok(begun.elapsed())
    }

    fn row(&self, what: &str, took: Duration, before: Asked) -> [String; 5] {
        let now = self.asked();
        [
            what.to_owned(),
            format!("{:.3}", took.as_secs_f64()),
            grouped(now.reads - before.reads),
            grouped(now.writes - before.writes),
            grouped(now.cloud - before.cloud),
        ]
    }
}

fn square() -> ShapeSpec {
    ShapeSpec {
        form: Form::Square,
        colour: "red".to_owned(),
        deletion_policy: DeletionPolicy::Delete,
        paused: false,
        adopt: None,
    }
}
