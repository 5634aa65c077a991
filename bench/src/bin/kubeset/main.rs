//! kubeset on a real API server: what a set costs in requests and time beside bare requests, how
//! fast drift is repaired, what a process holds for each object, and what it asks at rest.
//!
//! `kubeset [--objects N] [--many N] [--rest SECONDS]`.

mod applies;
mod drifts;
mod memory;
mod objects;
mod rest;
mod server;

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use server::Server;

/// Counts what the process holds.
#[global_allocator]
static HELD: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What is measured.
#[derive(Debug, Clone, Copy)]
struct Options {
    /// Half of them config maps, half deployments.
    objects: usize,
    /// What is followed when memory is measured.
    many: usize,
    /// How long nothing happens.
    rest: u64,
}

impl Options {
    fn read() -> anyhow::Result<Self> {
        let arguments: Vec<String> = std::env::args().collect();
        let number = |name: &str, usual: usize| {
            let at = arguments.iter().position(|argument| argument == name);
            let value = at.and_then(|at| arguments.get(at + 1));
            value.map_or(Ok(usual), |text| text.parse())
        };
        Ok(Self {
            objects: number("--objects", 1_000)?,
            many: number("--many", 10_000)?,
            rest: number("--rest", 60)? as u64,
        })
    }
}

#[tokio::main(worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let options = Options::read()?;
    let server = Server::start().await?;
    // The first requests of a server are slow for everybody.
    applies::bare(&server, "warm", options.objects / 10).await?;
    applies::measure(&server, options.objects).await?.print();
    let set = applies::settled(&server, "drifts", options.objects).await?;
    rest::measure(&server, options.rest).await?.print();
    drifts::measure(&server, set, options.objects)
        .await?
        .print();
    memory::measure(&server, options.many).await?.print();
    Ok(())
}
