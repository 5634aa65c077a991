//! The simulator and a real API server side by side: start-up, memory, writes, watch latency.
//!
//! The same client code talks to all three: the simulator in this process, the simulator over
//! HTTP, and etcd with kube-apiserver (`make testbed` builds them).

use std::path::Path;
use std::time::Duration;

use evenkeel_bench::{Table, grouped, per_second, resident_bytes};
use evenkeel_testkit::RealCluster;
use evenkeel_testkit::{Cluster, real_cluster_or_skip};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;
use tokio::time::Instant;

/// Requests under way at the same time.
const WIDTH: usize = 8;
/// Events whose way is timed.
const EVENTS: usize = 200;

struct Contestant {
    name: &'static str,
    start: Duration,
    /// Bytes that it holds when it is empty, where that was measured.
    empty: Option<u64>,
    client: Client,
    objects: usize,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut table = Table::new(
        "kubesim and kube-apiserver 1.36.4 with etcd, ConfigMaps of 100 bytes, 8 requests at a time",
        [
            "server",
            "start ms",
            "empty MiB",
            "creates/s",
            "applies/s",
            "watch p50 us",
            "watch p99 us",
        ],
    );
    let in_process = simulated().await;
    measure(&in_process, &mut table).await?;
    let cluster = Cluster::simulated();
    let over_http = simulated_over_http(&cluster).await?;
    measure(&over_http, &mut table).await?;
    let begin = Instant::now();
    if let Some(cluster) = real_cluster_or_skip(RealCluster::builder().controllers(&[])).await {
        measure(&real(&cluster, begin.elapsed()).await?, &mut table).await?;
    }
    table.print();
    Ok(())
}

async fn simulated() -> Contestant {
    // The tables that all clusters of a process share are made with the first one.
    drop(Cluster::simulated().client().await);
    let before = resident_bytes().unwrap_or_default();
    let begin = Instant::now();
    let cluster = Cluster::simulated();
    let client = cluster.client().await;
    let (start, after) = (begin.elapsed(), resident_bytes().unwrap_or_default());
    let empty = Some(after.saturating_sub(before));
    Contestant {
        name: "kubesim, in process",
        start,
        empty,
        client,
        objects: 20_000,
    }
}

async fn simulated_over_http(cluster: &Cluster) -> anyhow::Result<Contestant> {
    let begin = Instant::now();
    let kubeconfig = Kubeconfig::read_from(cluster.kubeconfig().await)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let client = Client::try_from(config)?;
    client.apiserver_version().await?;
    let (start, empty) = (begin.elapsed(), None);
    Ok(Contestant {
        name: "kubesim, HTTP",
        start,
        empty,
        client,
        objects: 10_000,
    })
}

async fn real(cluster: &RealCluster, start: Duration) -> anyhow::Result<Contestant> {
    let empty = cluster.directory().map(resident_in);
    let client = cluster.client().await?;
    Ok(Contestant {
        name: "kube-apiserver + etcd",
        start,
        empty,
        client,
        objects: 2_000,
    })
}

/// The memory of all processes that have files in `directory`.
fn resident_in(directory: &Path) -> u64 {
    let directory = directory.display().to_string();
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return 0;
    };
    let of = |path: &Path| {
        let line = std::fs::read(path.join("cmdline")).ok()?;
        String::from_utf8_lossy(&line)
            .contains(&directory)
            .then_some(())?;
        let status = std::fs::read_to_string(path.join("status")).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    processes
        .flatten()
        .filter_map(|entry| of(&entry.path()))
        .sum::<u64>()
        * 1024
}

async fn measure(contestant: &Contestant, table: &mut Table) -> anyhow::Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(contestant.client.clone(), "default");
    let creates = creates(&maps, contestant.objects).await?;
    let applies = applies(&maps, contestant.objects).await?;
    let latencies = latencies(&maps).await?;
    let micros = |share: f64| {
        let at = ((latencies.len() - 1) as f64 * share) as usize;
        grouped(latencies[at].as_micros() as u64)
    };
    table.row([
        contestant.name.to_owned(),
        format!("{:.2}", contestant.start.as_secs_f64() * 1000.0),
        contestant.empty.map_or_else(|| "-".to_owned(), mebibytes),
        grouped(creates as u64),
        grouped(applies as u64),
        micros(0.5),
        micros(0.99),
    ]);
    Ok(())
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1024.0 / 1024.0)
}

fn map(name: String) -> ConfigMap {
    let metadata = ObjectMeta {
        name: Some(name),
        ..ObjectMeta::default()
    };
    let data = [("key".to_owned(), "x".repeat(100))].into();
    ConfigMap {
        metadata,
        data: Some(data),
        ..ConfigMap::default()
    }
}

async fn creates(maps: &Api<ConfigMap>, count: usize) -> anyhow::Result<f64> {
    let parameters = PostParams::default();
    let begin = Instant::now();
    let requests = (0..count).map(|number| {
        let (maps, parameters) = (maps.clone(), parameters.clone());
        tokio::spawn(async move {
            maps.create(&parameters, &map(format!("made-{number}")))
                .await
        })
    });
    stream::iter(requests)
        .buffer_unordered(WIDTH)
        .map(flatten)
        .try_for_each(discard)
        .await?;
    Ok(per_second(count, begin.elapsed()))
}

async fn applies(maps: &Api<ConfigMap>, count: usize) -> anyhow::Result<f64> {
    let parameters = PatchParams::apply("bench").force();
    let begin = Instant::now();
    let requests = (0..count).map(|number| {
        let (maps, parameters) = (maps.clone(), parameters.clone());
        tokio::spawn(async move {
            let name = format!("applied-{number}");
            let body = json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": name}, "data": {"key": "x".repeat(100)},
            });
            maps.patch(&name, &parameters, &Patch::Apply(body)).await
        })
    });
    stream::iter(requests)
        .buffer_unordered(WIDTH)
        .map(flatten)
        .try_for_each(discard)
        .await?;
    Ok(per_second(count, begin.elapsed()))
}

fn flatten(
    reply: Result<kube::Result<ConfigMap>, tokio::task::JoinError>,
) -> anyhow::Result<ConfigMap> {
    Ok(reply??)
}

async fn discard(_: ConfigMap) -> anyhow::Result<()> {
    Ok(())
}

/// How long after a write began its event was in the hands of a watcher, sorted.
async fn latencies(maps: &Api<ConfigMap>) -> anyhow::Result<Vec<Duration>> {
    let parameters = WatchParams::default().labels("timed=yes");
    let mut events = maps.watch(&parameters, "0").await?.boxed();
    let mut latencies = Vec::new();
    for number in 0..EVENTS {
        let mut map = map(format!("timed-{number}"));
        map.metadata.labels = Some([("timed".to_owned(), "yes".to_owned())].into());
        let begin = Instant::now();
        let (made, seen) = tokio::join!(
            async { maps.create(&PostParams::default(), &map).await },
            async {
                while let Some(event) = events.next().await {
                    if matches!(event, Ok(WatchEvent::Added(_))) {
                        return Some(begin.elapsed());
                    }
                }
                None
            }
        );
        made?;
        latencies.extend(seen);
    }
    latencies.sort_unstable();
    Ok(latencies)
}
