//! Whether taking revisions slows down as they pile up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use evenkeel_bench::{Table, grouped, per_second};
use futures::future::try_join_all;
use tokio::time::Instant;

use crate::fleet::Tenant;
use crate::{Options, Server, progress};

const WRITERS: usize = 8;
/// How many revisions each measurement takes.
const WINDOW: usize = 5_000;

/// Revisions a second while the store holds ever more of them.
pub(crate) async fn measure(options: &Options) -> anyhow::Result<Table> {
    let mut table = Table::new(
        &format!("Revisions taken over HTTP as they pile up, {WRITERS} writers"),
        ["stored before", "per second"],
    );
    let server = Server::start(options).await?;
    let mut writers = Vec::new();
    for _ in 0..WRITERS {
        let mut tenant = Tenant::new(&server).await?;
        let stack = tenant.stack(0).await?;
        writers.push((tenant, stack));
    }
    let mut stored = 0;
    for wanted in [0, options.revisions / 10, options.revisions] {
        if stored < wanted {
            progress(&format!("{stored} of {wanted} revisions are stored"));
            write(&mut writers, &mut stored, wanted).await?;
        }
        let (before, begin) = (stored, Instant::now());
        write(&mut writers, &mut stored, before + WINDOW).await?;
        let rate = per_second(stored - before, begin.elapsed());
        table.row([grouped(before as u64), grouped(rate as u64)]);
    }
    Ok(table)
}

/// All writers write until so many revisions are stored.
async fn write(
    writers: &mut [(Tenant, String)],
    stored: &mut usize,
    wanted: usize,
) -> anyhow::Result<()> {
    let next = Arc::new(AtomicUsize::new(*stored));
    try_join_all(writers.iter_mut().map(async |(tenant, stack)| {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= wanted {
                return anyhow::Ok(());
            }
            tenant.submit(stack, &format!("revision-{number}")).await?;
        }
    }))
    .await?;
    *stored = wanted.max(*stored);
    Ok(())
}
