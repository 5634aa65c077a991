//! How many revisions a second are taken, each durable before it is acknowledged.

use evenkeel_bench::{Table, grouped, per_second};
use evenkeel_testkit::Postgres;
use evenkeel_testkit::postgres::Durability;
use futures::future::try_join_all;
use tokio::time::Instant;

use crate::fleet::Tenant;
use crate::{Options, Server, progress};

const MEASURED: usize = 2_000;

/// Revisions over HTTP on each database, with one writer and with eight.
pub(crate) async fn measure(options: &Options) -> anyhow::Result<Table> {
    let mut table = Table::new(
        "Revisions taken over HTTP (1.8 KB each)",
        ["database", "writers", "per second"],
    );
    let server = Server::start(options).await?;
    let name = if options.elsewhere().is_some() {
        "theirs"
    } else {
        "SQLite"
    };
    rows(name, &server, &mut table).await?;
    if options.elsewhere().is_some() {
        return Ok(table);
    }
    match Postgres::start_private(Durability::Disk).await {
        Ok(database) => rows("PostgreSQL", &Server::on(database.url()).await?, &mut table).await?,
        Err(error) => table.row(["PostgreSQL".into(), error.to_string(), String::new()]),
    }
    Ok(table)
}

async fn rows(name: &str, server: &Server, table: &mut Table) -> anyhow::Result<()> {
    for writers in [1, 8] {
        progress(&format!("{MEASURED} revisions, {name}, {writers} writers"));
        let begin = Instant::now();
        try_join_all((0..writers).map(|_| write(server, MEASURED / writers))).await?;
        let rate = per_second(MEASURED, begin.elapsed());
        table.row([name.to_owned(), writers.to_string(), grouped(rate as u64)]);
    }
    Ok(())
}

async fn write(server: &Server, count: usize) -> anyhow::Result<()> {
    let mut tenant = Tenant::new(server).await?;
    let stack = tenant.stack(0).await?;
    for number in 0..count {
        tenant.submit(&stack, &format!("revision-{number}")).await?;
    }
    Ok(())
}
