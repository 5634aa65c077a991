//! What applying costs, beside the same objects by bare requests on the same server.

use std::time::Duration;

use anyhow::{Context, ensure};
use evenkeel_bench::{Table, grouped};
use evenkeel_kubeset::{Cluster, Manifests, Owner, Set, SetPolicy};
use futures::StreamExt;
use futures::stream;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::Api;
use kube::api::{DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::core::Request;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::objects::{manifests, mixed};
use crate::server::Server;

const CONNECTIONS: usize = 8;
/// Bare and ours by turns, so that neither has the younger server.
const ROUNDS: usize = 5;
/// Flux's kustomize-controller (August 2026, default settings) took 6.3 to 7.4 s where bare requests
/// took 0.94 s for the dry-runs and 1.22 s for the applies.
const FLUX_OVER_BARE: (f64, f64) = (6.3 / 2.16, 7.4 / 2.16);

/// What something took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    requests: u64,
    time: Duration,
}

/// A time to begin with, and how many requests there were.
struct Begun<'s>(&'s Server, u64, Instant);

impl<'s> Begun<'s> {
    fn now(server: &'s Server) -> Self {
        Self(server, server.requests(), Instant::now())
    }

    fn took(&self) -> Took {
        Took {
            requests: self.0.requests() - self.1,
            time: self.2.elapsed(),
        }
    }
}

/// The applies of a set, first and later ones, beside bare requests.
pub(crate) async fn measure(server: &Server, count: usize) -> anyhow::Result<Table> {
    let (mut dry, mut real) = (Vec::new(), Vec::new());
    let (mut fresh, mut running) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let name = format!("bare-{round}");
        let phases = bare(server, &name, count).await?;
        dry.push(phases[0]);
        real.push(phases[1]);
        clear(server, &name).await?;
        fresh.push(first(server, &server.sets(), &format!("fresh-{round}"), count).await?);
        let sets = server.sets();
        first(server, &sets, &format!("before-{round}"), 2).await?;
        running.push(first(server, &sets, &format!("running-{round}"), count).await?);
    }
    let (dry, real) = (median(dry), median(real));
    let (fresh, running) = (median(fresh), median(running));
    let title = format!(
        "{} mixed objects on a real API server, median of {ROUNDS}",
        grouped(count as u64)
    );
    let mut table = Table::new(&title, ["what", "requests", "seconds", "objects/s"]);
    let mut row = |what: &str, took: Took| {
        let rate = count as f64 / took.time.as_secs_f64();
        let seconds = format!("{:.3}", took.time.as_secs_f64());
        table.row([
            what.into(),
            grouped(took.requests),
            seconds,
            grouped(rate as u64),
        ]);
    };
    row("bare dry-runs, 8 at once", dry);
    row("bare applies, 8 at once", real);
    row("first apply of a process that runs", running);
    row("first apply of a new process", fresh);
    later(server, count, &mut row).await?;
    let bare = (dry.time + real.time).as_secs_f64();
    let share = |ours: Took| bare / ours.time.as_secs_f64();
    let both = |of: &dyn Fn(f64) -> String| format!("{}; {}", of(share(running)), of(share(fresh)));
    let mut say =
        |what: &str, value: String| table.row([what.into(), value, String::new(), String::new()]);
    say(
        "rates of these two in that of bare requests",
        both(&|share| format!("{share:.2}")),
    );
    let (low, high) = FLUX_OVER_BARE;
    say(
        "Flux, as published",
        format!("{:.2} to {:.2}", 1.0 / high, 1.0 / low),
    );
    let faster = |share: f64| format!("{:.1} to {:.1} times", share * low, share * high);
    say("faster than Flux, by that", both(&faster));
    Ok(table)
}

/// What the first apply of a set takes. Nothing of it is left.
async fn first(server: &Server, sets: &Cluster, name: &str, count: usize) -> anyhow::Result<Took> {
    let begun = Begun::now(server);
    let set = settled(sets, name, count).await?;
    let took = begun.took();
    drop(set);
    clear(server, name).await?;
    Ok(took)
}

/// What a set costs once it exists.
async fn later(
    server: &Server,
    count: usize,
    row: &mut impl FnMut(&str, Took),
) -> anyhow::Result<()> {
    let mut objects = mixed("later", count);
    let set = server.sets().set(Owner::new("later")?);
    converge(&set, &manifests(&objects)?).await?;
    let same = manifests(&objects)?;
    let begun = Begun::now(server);
    converge(&set, &same).await?;
    row("second apply, nothing changed", begun.took());
    objects[2]["data"]["value"] = json!("changed");
    let changed = manifests(&objects)?;
    let begun = Begun::now(server);
    converge(&set, &changed).await?;
    row("third apply, one object changed", begun.took());
    drop(set);
    let restarted = server.sets().set(Owner::new("later")?);
    let begun = Begun::now(server);
    converge(&restarted, &changed).await?;
    row("first apply after a restart, nothing changed", begun.took());
    Ok(())
}

/// Every turn meets a server that holds nothing of the turns before.
async fn clear(server: &Server, namespace: &str) -> anyhow::Result<()> {
    let (how, all) = (DeleteParams::default(), ListParams::default());
    let maps: Api<ConfigMap> = Api::namespaced(server.client.clone(), namespace);
    maps.delete_collection(&how, &all).await?;
    let deployments: Api<Deployment> = Api::namespaced(server.client.clone(), namespace);
    deployments.delete_collection(&how, &all).await?;
    Ok(())
}

fn median(mut took: Vec<Took>) -> Took {
    took.sort_by_key(|took| took.time);
    took[took.len() / 2]
}

/// A set with everything made.
pub(crate) async fn settled(sets: &Cluster, name: &str, count: usize) -> anyhow::Result<Set> {
    let set = sets.set(Owner::new(name)?);
    converge(&set, &manifests(&mixed(name, count))?).await?;
    Ok(set)
}

pub(crate) async fn converge(set: &Set, wanted: &Manifests) -> anyhow::Result<()> {
    let converged = set.converge(wanted, &SetPolicy::default()).await;
    let failed = converged.result.as_ref().err();
    ensure!(converged.is_settled(), "not settled: {failed:?}");
    Ok(())
}

/// The same objects by bare requests: all dry-runs, then all applies.
pub(crate) async fn bare(
    server: &Server,
    namespace: &str,
    count: usize,
) -> anyhow::Result<[Took; 2]> {
    let metadata = ObjectMeta {
        name: Some(namespace.to_owned()),
        ..ObjectMeta::default()
    };
    let own = Namespace {
        metadata,
        ..Namespace::default()
    };
    let namespaces: Api<Namespace> = Api::all(server.client.clone());
    namespaces.create(&PostParams::default(), &own).await?;
    let objects = mixed(namespace, count).split_off(1);
    let dry = phase(server, namespace, &objects, true).await?;
    Ok([dry, phase(server, namespace, &objects, false).await?])
}

async fn phase(
    server: &Server,
    namespace: &str,
    objects: &[Value],
    dry_run: bool,
) -> anyhow::Result<Took> {
    let begun = Begun::now(server);
    let sent = objects
        .iter()
        .map(|object| patch(server, namespace, object, dry_run));
    let mut sent = stream::iter(sent).buffer_unordered(CONNECTIONS);
    while let Some(answer) = sent.next().await {
        answer?;
    }
    Ok(begun.took())
}

async fn patch(
    server: &Server,
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
    server.client.request::<Value>(request).await?;
    Ok(())
}
