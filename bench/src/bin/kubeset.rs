//! kubeset on a real API server: what a set costs in requests and time, beside bare requests, and
//! how fast drift is repaired.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, ensure};
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_bench::{Table, grouped, resident_bytes};
use evenkeel_kubeset::{Cluster, Manifests, Owner, Set, SetPolicy, Settings};
use evenkeel_testkit::RealCluster;
use futures::StreamExt;
use futures::stream;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::Request;
use kube::{Api, Client, Config};
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::util::MapRequestLayer;

/// Half of them config maps, half deployments.
const OBJECTS: usize = 1_000;
const CONNECTIONS: usize = 8;
const DRIFTS: usize = 200;
/// What is followed when memory is measured.
const MANY: usize = 10_000;

#[tokio::main(worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let server = RealCluster::builder().controllers(&[]).start().await?;
    let (client, count) = counted(&server).await?;
    let mut table = Table::new(
        "1,000 mixed objects on a real API server",
        ["what", "requests", "seconds", "objects/s"],
    );
    // The first requests of a server are slow for everybody.
    bare(&client, "warm", OBJECTS / 10).await?;
    let mut row = |what: &str, begun: (Instant, u64)| {
        let (time, requests) = (
            begun.0.elapsed().as_secs_f64(),
            count.load(Ordering::Relaxed) - begun.1,
        );
        let rate = grouped((OBJECTS as f64 / time) as u64);
        table.row([what.into(), grouped(requests), format!("{time:.3}"), rate]);
    };
    let begin = || (Instant::now(), count.load(Ordering::Relaxed));

    let begun = begin();
    bare(&client, "bare", OBJECTS).await?;
    row("bare requests: dry-runs, then applies, 8 at once", begun);

    let set = sets(&client).set(Owner::new("bench")?);
    let begun = begin();
    converge(&set, &objects("set", "1")).await?;
    row("first apply", begun);

    let begun = begin();
    converge(&set, &objects("set", "1")).await?;
    row("second apply, nothing changed", begun);

    let mut changed = objects("set", "1");
    changed[2]["data"]["value"] = json!("changed");
    let begun = begin();
    converge(&set, &changed).await?;
    row("third apply, one object changed", begun);

    let restarted = sets(&client).set(Owner::new("bench")?);
    let begun = begin();
    converge(&restarted, &changed).await?;
    row("first apply of a new process, nothing changed", begun);
    drop(restarted);
    table.print();

    drift(&client, set, &changed).await?.print();
    memory(&client).await?.print();
    Ok(())
}

/// A client that counts its requests and repeats none.
async fn counted(server: &RealCluster) -> anyhow::Result<(Client, Arc<AtomicU64>)> {
    let kubeconfig = Kubeconfig::read_from(server.kubeconfig())?;
    let mut config =
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.default_retry = false;
    let count = Arc::new(AtomicU64::new(0));
    let counter = count.clone();
    let layer = MapRequestLayer::new(move |request: http::Request<kube::client::Body>| {
        counter.fetch_add(1, Ordering::Relaxed);
        request
    });
    let client = ClientBuilder::try_from(config)?.with_layer(&layer).build();
    Ok((client, count))
}

fn sets(client: &Client) -> Cluster {
    let settings = Settings {
        inventory_namespace: "default".to_owned(),
        ..Settings::default()
    };
    Cluster::new(
        client.clone(),
        settings,
        Arc::new(SystemClock),
        Arc::new(SystemRandom),
    )
}

fn objects(namespace: &str, value: &str) -> Vec<Value> {
    let own = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    let many = (0..OBJECTS).map(|at| {
        if at % 2 == 0 {
            deployment(namespace, at)
        } else {
            config_map(namespace, at, value)
        }
    });
    std::iter::once(own).chain(many).collect()
}

fn config_map(namespace: &str, at: usize, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("map-{at}"), "namespace": namespace},
        "data": {"value": value, "text": "some hundred bytes of settings ".repeat(8)}})
}

fn deployment(namespace: &str, at: usize) -> Value {
    let name = format!("web-{at}");
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": [{"name": "main", "image": "main:1", "ports": [{"containerPort": 80}],
                "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}]}}}})
}

/// The same objects by bare requests: all dry-runs, then all applies.
async fn bare(client: &Client, namespace: &str, count: usize) -> anyhow::Result<()> {
    let metadata = ObjectMeta {
        name: Some(namespace.to_owned()),
        ..ObjectMeta::default()
    };
    let own = Namespace {
        metadata,
        ..Namespace::default()
    };
    Api::<Namespace>::all(client.clone())
        .create(&PostParams::default(), &own)
        .await?;
    let objects: Vec<_> = objects(namespace, "1")
        .into_iter()
        .skip(1)
        .take(count)
        .collect();
    for dry_run in [true, false] {
        let sent = objects
            .iter()
            .map(|object| patch(client, namespace, object, dry_run));
        let mut sent = stream::iter(sent).buffer_unordered(CONNECTIONS);
        while let Some(answer) = sent.next().await {
            answer?;
        }
    }
    Ok(())
}

async fn patch(
    client: &Client,
    namespace: &str,
    object: &Value,
    dry_run: bool,
) -> anyhow::Result<()> {
    let path = match object["kind"] == "Deployment" {
        true => format!("/apis/apps/v1/namespaces/{namespace}/deployments"),
        false => format!("/api/v1/namespaces/{namespace}/configmaps"),
    };
    let how = PatchParams {
        dry_run,
        ..PatchParams::apply("bare").force()
    };
    let name = object["metadata"]["name"].as_str().context("a name")?;
    let request = Request::new(path).patch_metadata(name, &how, &Patch::Apply(object))?;
    client.request::<Value>(request).await?;
    Ok(())
}

/// The objects as somebody would write them down.
fn manifests(objects: &[Value]) -> anyhow::Result<Manifests> {
    let documents: Vec<_> = objects.iter().map(Value::to_string).collect();
    Ok(Manifests::parse(&documents.join("\n---\n"))?)
}

async fn converge(set: &Set, objects: &[Value]) -> anyhow::Result<()> {
    let manifests = manifests(objects)?;
    let converged = set.converge(&manifests, &SetPolicy::default()).await;
    ensure!(
        converged.is_settled(),
        "not settled: {:?}",
        converged.result
    );
    Ok(())
}

/// From the answer to somebody's write to the answer to ours.
async fn drift(client: &Client, mut set: Set, objects: &[Value]) -> anyhow::Result<Table> {
    let manifests = manifests(objects)?;
    let mut times = Vec::with_capacity(DRIFTS);
    for at in 0..DRIFTS {
        inject(client, at).await?;
        let begun = Instant::now();
        let repaired = async {
            loop {
                set.changed().await;
                let converged = set.converge(&manifests, &SetPolicy::default()).await;
                if converged.changes().writes() > 0 {
                    return converged.is_settled();
                }
            }
        };
        ensure!(
            tokio::time::timeout(Duration::from_secs(10), repaired).await?,
            "drift {at} was not repaired"
        );
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    let mut table = Table::new(
        "200 drifts of five sorts, from their answer to ours",
        ["share", "milliseconds"],
    );
    for (share, at) in [
        ("half", DRIFTS / 2),
        ("99 of 100", DRIFTS * 99 / 100 - 1),
        ("all", DRIFTS - 1),
    ] {
        table.row([
            share.into(),
            format!("{:.1}", times[at].as_secs_f64() * 1_000.0),
        ]);
    }
    Ok(table)
}

/// Drift of one of five sorts, each time in another object.
async fn inject(client: &Client, at: usize) -> anyhow::Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "set");
    let (map, how) = (format!("map-{}", 2 * at + 1), PatchParams::default());
    match at % 5 {
        0 => drop(
            maps.patch(
                &map,
                &how,
                &Patch::Merge(json!({"data": {"text": "theirs"}})),
            )
            .await?,
        ),
        1 => drop(
            maps.patch(&map, &how, &Patch::Merge(json!({"data": {"text": null}})))
                .await?,
        ),
        2 => {
            let bare = json!({"metadata": {"labels": {"evenkeel.io/set": null}}});
            drop(maps.patch(&map, &how, &Patch::Merge(bare)).await?);
        }
        3 => drop(maps.delete(&map, &DeleteParams::default()).await?),
        _ => {
            let deployments: Api<Deployment> = Api::namespaced(client.clone(), "set");
            let scaled = Patch::Merge(json!({"spec": {"replicas": 7}}));
            drop(
                deployments
                    .patch_scale(&format!("web-{}", 2 * at), &how, &scaled)
                    .await?,
            );
        }
    }
    Ok(())
}

/// What a process holds for each object that it follows, the wanted text not counted.
async fn memory(client: &Client) -> anyhow::Result<Table> {
    let set = sets(client).set(Owner::new("many")?);
    let maps: Vec<_> = (0..MANY)
        .map(|at| config_map("set", at + OBJECTS, "1"))
        .collect();
    let manifests = manifests(&maps)?;
    ensure!(
        set.converge(&manifests, &SetPolicy::default())
            .await
            .is_settled(),
        "many objects"
    );
    drop((set, manifests));
    let before = resident_bytes().unwrap_or_default();
    let follows = sets(client).set(Owner::new("many")?);
    let seen = follows
        .converge(&Manifests::default(), &SetPolicy::default())
        .await;
    ensure!(
        seen.changes().len() == MANY,
        "{} of {MANY} objects are seen",
        seen.changes().len()
    );
    drop(seen);
    let used = resident_bytes().unwrap_or_default().saturating_sub(before);
    let mut table = Table::new("a process that follows 10,000 objects", ["what", "value"]);
    table.row(["bytes each, at most".into(), grouped(used / MANY as u64)]);
    Ok(table)
}
