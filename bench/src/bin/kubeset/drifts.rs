//! How long somebody else's change lasts.

use std::time::Duration;

use anyhow::ensure;
use evenkeel_bench::Table;
use evenkeel_kubeset::{Manifests, Set, SetPolicy};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::objects::{manifests, mixed};
use crate::server::Server;

const DRIFTS: usize = 200;
const NAMESPACE: &str = "drifts";
const SORTS: [&str; 5] = [
    "a field is changed",
    "a field is removed",
    "the label is removed",
    "the object is deleted",
    "a deployment is scaled",
];

/// From the answer to somebody's write to the answer to ours, in a set that holds `count` objects.
pub(crate) async fn measure(server: &Server, mut set: Set, count: usize) -> anyhow::Result<Table> {
    let wanted = manifests(&mixed(NAMESPACE, count))?;
    let mut taken = Vec::with_capacity(DRIFTS);
    for at in 0..DRIFTS {
        let sort = at % SORTS.len();
        inject(server, sort, at % (count / 2)).await?;
        let (begun, before) = (Instant::now(), server.requests());
        let repaired = timeout(Duration::from_secs(10), repair(&mut set, &wanted));
        ensure!(repaired.await?, "drift {at} was not repaired");
        taken.push((sort, begun.elapsed(), server.requests() - before));
    }
    let title = format!("{DRIFTS} drifts, from their answer to ours");
    let mut table = Table::new(
        &title,
        ["sort", "half, ms", "99 of 100, ms", "all, ms", "requests"],
    );
    for (at, sort) in SORTS.iter().enumerate() {
        row(
            &mut table,
            sort,
            taken.iter().filter(|(sort, ..)| *sort == at),
        );
    }
    row(&mut table, "all sorts", taken.iter());
    Ok(table)
}

fn row<'t>(table: &mut Table, what: &str, taken: impl Iterator<Item = &'t (usize, Duration, u64)>) {
    let (mut times, mut requests) = (Vec::new(), 0);
    for (_, time, asked) in taken {
        times.push(*time);
        requests = requests.max(*asked);
    }
    times.sort_unstable();
    let share = |percent: usize| {
        let at = (times.len() * percent).div_ceil(100).saturating_sub(1);
        format!("{:.1}", times[at].as_secs_f64() * 1_000.0)
    };
    table.row([
        what.into(),
        share(50),
        share(99),
        share(100),
        requests.to_string(),
    ]);
}

async fn repair(set: &mut Set, wanted: &Manifests) -> bool {
    loop {
        set.changed().await;
        let converged = set.converge(wanted, &SetPolicy::default()).await;
        if converged.changes().writes() > 0 {
            return converged.is_settled();
        }
    }
}

/// Drift of one sort, each time in another object.
async fn inject(server: &Server, sort: usize, at: usize) -> anyhow::Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(server.client.clone(), NAMESPACE);
    let (map, how) = (format!("map-{}", 2 * at + 1), PatchParams::default());
    let edit = match sort {
        0 => json!({"data": {"text": "theirs"}}),
        1 => json!({"data": {"text": null}}),
        2 => json!({"metadata": {"labels": {"evenkeel.io/set": null}}}),
        3 => {
            maps.delete(&map, &DeleteParams::default()).await?;
            return Ok(());
        }
        _ => {
            let all: Api<Deployment> = Api::namespaced(server.client.clone(), NAMESPACE);
            let (name, scaled) = (format!("web-{}", 2 * at), json!({"spec": {"replicas": 7}}));
            all.patch_scale(&name, &how, &Patch::Merge(scaled)).await?;
            return Ok(());
        }
    };
    maps.patch(&map, &how, &Patch::Merge(edit)).await?;
    Ok(())
}
