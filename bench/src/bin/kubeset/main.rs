//! kubeset on a real API server: what a set costs in requests and time beside bare requests, how
//! fast drift is repaired, what a process holds for each object, and what it asks at rest.

mod applies;
mod drifts;
mod memory;
mod objects;
mod rest;
mod server;

use std::alloc::System;

use clap::Parser;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use server::Server;

/// Counts what the process holds.
#[global_allocator]
static HELD: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What a set costs in requests, time and memory, on a real API server.
#[derive(Debug, Clone, Copy, Parser)]
struct Options {
    /// How many objects a set has, half of them config maps, half deployments.
    #[arg(long, default_value_t = 1_000)]
    objects: usize,
    /// How many objects are followed when memory is measured.
    #[arg(long, default_value_t = 10_000)]
    many: usize,
    /// How many seconds nothing happens.
    #[arg(long, default_value_t = 60)]
    rest: u64,
}

#[tokio::main(worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let server = Server::start().await?;
    // The first requests of a server are slow for everybody.
    applies::bare(&server, "warm", options.objects / 10).await?;
    applies::measure(&server, options.objects).await?.print();
    let set = applies::settled(&server.sets(), "drifts", options.objects).await?;
    rest::measure(&server, options.rest).await?.print();
    drifts::measure(&server, set, options.objects)
        .await?
        .print();
    memory::measure(&server, options.many).await?.print();
    Ok(())
}
