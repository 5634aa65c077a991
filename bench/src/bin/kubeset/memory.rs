//! What a process holds for each object that it follows.

use std::time::Duration;

use anyhow::ensure;
use evenkeel_bench::{Table, grouped};
use evenkeel_kubeset::{Manifests, Owner, SetPolicy};
use stats_alloc::Region;

use crate::HELD;
use crate::applies::converge;
use crate::objects::{config_map, manifests};
use crate::server::Server;

/// The set itself; what is wanted of it is the caller's.
pub(crate) async fn measure(server: &Server, many: usize) -> anyhow::Result<Table> {
    let (namespace, owner) = ("drifts", Owner::new("many")?);
    let maps: Vec<_> = (0..many)
        .map(|at| config_map(namespace, at + 100_000))
        .collect();
    let maker = server.sets();
    converge(&maker.set(owner.clone()), &manifests(&maps)?).await?;
    drop((maps, maker));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let region = Region::new(HELD);
    let follows = server.sets().set(owner);
    let seen = follows
        .converge(&Manifests::default(), &SetPolicy::default())
        .await;
    let count = seen.changes().len();
    ensure!(count == many, "{count} of {many} objects are seen");
    drop(seen);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let change = region.change();
    let held = change
        .bytes_allocated
        .saturating_sub(change.bytes_deallocated);
    let title = format!("a process that follows {} objects", grouped(many as u64));
    let mut table = Table::new(&title, ["what", "bytes"]);
    table.row(["held for each".into(), grouped((held / many) as u64)]);
    drop(follows);
    Ok(table)
}
