//! kubesim: writes a second, watchers at once, and what objects and clusters cost in memory.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use evenkeel_bench::{Table, grouped, per_second, resident_bytes, timed};
use evenkeel_kubesim::Cluster;
use evenkeel_kubesim::faults::View;
use futures::future::join_all;
use http::{Method, Request, header};
use http_body_util::BodyExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::time::Instant;

/// How many tasks write at once.
const WRITERS: usize = 2;

fn main() -> anyhow::Result<()> {
    clusters().print();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WRITERS)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        objects().await.print();
        writes().await.print();
        fan_out().await.print();
    });
    Ok(())
}

/// What a cluster costs before anything is in it. Measured first, while the memory is clean.
fn clusters() -> Table {
    const CLUSTERS: u64 = 1_000;
    let (first, tables) = timed(Cluster::new);
    let before = resident_bytes().unwrap_or_default();
    let (many, time) = timed(|| (0..CLUSTERS).map(|_| Cluster::new()).collect::<Vec<_>>());
    let used = resident_bytes().unwrap_or_default().saturating_sub(before);
    let mut table = Table::new("empty clusters", ["what", "value"]);
    table.row(["first cluster, tables included (ms)".into(), millis(tables)]);
    table.row([
        "each of 1,000 more (ms)".into(),
        millis(time / CLUSTERS as u32),
    ]);
    table.row(["bytes each".into(), grouped(used / CLUSTERS)]);
    drop((first, many));
    table
}

fn millis(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1_000.0)
}

/// What an object costs: a config map of some 300 bytes, as the server completes it.
async fn objects() -> Table {
    const OBJECTS: usize = 50_000;
    let before = resident_bytes().unwrap_or_default();
    let view = Cluster::new().view("bench");
    write_all(&view, OBJECTS, create).await;
    let used = resident_bytes().unwrap_or_default().saturating_sub(before);
    let mut table = Table::new(
        "50,000 config maps, with the log of the latest events",
        ["what", "value"],
    );
    table.row(["bytes each".into(), grouped(used / OBJECTS as u64)]);
    table
}

async fn writes() -> Table {
    const WRITES: usize = 20_000;
    let mut table = Table::new("writes, two at a time", ["what", "a second"]);
    let mut row =
        |what: &str, time| table.row([what.into(), grouped(per_second(WRITES, time) as u64)]);
    let view = Cluster::new().view("bench");
    row(
        "create, as requests",
        write_all(&view, WRITES, create).await,
    );
    row(
        "create, through kube::Client",
        create_by_client(WRITES).await,
    );
    row(
        "apply that creates",
        write_all(&view, WRITES, |at| apply(at, 1)).await,
    );
    row(
        "apply that changes",
        write_all(&view, WRITES, |at| apply(at, 2)).await,
    );
    row(
        "apply that changes nothing",
        write_all(&view, WRITES, |at| apply(at, 2)).await,
    );
    row("get", write_all(&view, WRITES, get).await);
    table
}

/// Sends `count` requests from several tasks; how long that takes.
async fn write_all(view: &View, count: usize, request: fn(usize) -> Request<Bytes>) -> Duration {
    let begin = Instant::now();
    let writer = |first: usize| {
        let view = view.clone();
        tokio::spawn(async move {
            for at in (first..count).step_by(WRITERS) {
                let answer = view.handle(request(at)).await;
                assert!(answer.is_ok_and(|answer| answer.status().is_success()));
            }
        })
    };
    join_all((0..WRITERS).map(writer)).await;
    begin.elapsed()
}

async fn create_by_client(count: usize) -> Duration {
    let maps: Api<ConfigMap> =
        Api::default_namespaced(Client::new(Cluster::new().view("bench"), "default"));
    let begin = Instant::now();
    let writer = |first: usize| {
        let maps = maps.clone();
        tokio::spawn(async move {
            for at in (first..count).step_by(WRITERS) {
                let map: ConfigMap = serde_json::from_str(&text(&name(at), 1)).unwrap_or_default();
                assert!(maps.create(&PostParams::default(), &map).await.is_ok());
            }
        })
    };
    join_all((0..WRITERS).map(writer)).await;
    begin.elapsed()
}

/// One writer, many watchers: how many events all of them together read.
async fn fan_out() -> Table {
    const EVENTS: usize = 2_000;
    let mut table = Table::new(
        "2,000 creates seen by every watcher",
        ["watchers", "events/s", "creates/s"],
    );
    for watchers in [1, 10, 100, 1_000] {
        let time = watched(watchers, EVENTS).await;
        table.row([
            grouped(watchers as u64),
            grouped(per_second(watchers * EVENTS, time) as u64),
            grouped(per_second(EVENTS, time) as u64),
        ]);
    }
    table
}

async fn watched(watchers: usize, events: usize) -> Duration {
    let view = Arc::new(Cluster::new().view("bench"));
    let mut reading = Vec::new();
    for _ in 0..watchers {
        let answer = view.handle(watch()).await.expect("no faults are set");
        reading.push(tokio::spawn(read(answer.into_body(), events)));
    }
    let begin = Instant::now();
    write_all(&view, events, create).await;
    join_all(reading).await;
    begin.elapsed()
}

/// Reads until so many events have come.
async fn read(mut body: evenkeel_kubesim::Body, events: usize) {
    let mut seen = 0;
    while seen < events {
        let Some(Ok(frame)) = body.frame().await else {
            return;
        };
        let lines = frame.into_data().unwrap_or_default();
        seen += lines.iter().filter(|byte| **byte == b'\n').count();
    }
}

const PATH: &str = "/api/v1/namespaces/default/configmaps";

fn name(at: usize) -> String {
    format!("object-{at:06}")
}

fn text(name: &str, x: u32) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","labels":{{"app":"bench"}}}},"data":{{"x":"{x}","text":"{}"}}}}"#,
        "lorem ipsum dolor sit amet ".repeat(6)
    )
}

fn create(at: usize) -> Request<Bytes> {
    request(
        Method::POST,
        PATH.to_owned(),
        "application/json",
        text(&name(at), 1),
    )
}

fn apply(at: usize, x: u32) -> Request<Bytes> {
    let name = format!("applied-{at:06}");
    let path = format!("{PATH}/{name}?fieldManager=bench&force=true");
    request(
        Method::PATCH,
        path,
        "application/apply-patch+yaml",
        text(&name, x),
    )
}

fn get(at: usize) -> Request<Bytes> {
    request(
        Method::GET,
        format!("{PATH}/{}", name(at)),
        "application/json",
        String::new(),
    )
}

fn watch() -> Request<Bytes> {
    let path = format!("{PATH}?watch=1&labelSelector=app%3Dbench");
    request(Method::GET, path, "application/json", String::new())
}

fn request(method: Method, path: String, content_type: &str, body: String) -> Request<Bytes> {
    let builder = Request::builder()
        .method(method)
        .uri(path)
        .header(header::CONTENT_TYPE, content_type);
    builder.body(body.into()).expect("the parts are constants")
}
