//! How many agents can wait, what that takes, and how fast one change reaches all of them.

use std::sync::Arc;
use std::time::Duration;

use evenkeel_bench::http::Connection;
use evenkeel_bench::{Table, grouped};
use futures::{StreamExt, TryStreamExt, stream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::fleet::{Agent, Tenant};
use crate::{Options, Server, progress};

/// How many agents are made at once.
const MAKERS: usize = 32;
/// How the broker's metrics say how many polls wait.
const WAITING: &str = "evenkeel_broker_waiting_polls ";
/// How many seconds all agents may take until they wait.
const PATIENCE: usize = 120;
/// How many agents connect at once; more would measure the kernel's queue of new connections.
const DOORS: usize = 256;
const MIB: f64 = 1024.0 * 1024.0;

/// All agents wait; one revision is submitted; each notes when it has it in hand.
pub(crate) async fn measure(options: &Options) -> anyhow::Result<Table> {
    let server = Server::start(options).await?;
    let mut tenant = Tenant::new(&server).await?;
    let stack = tenant.stack(0).await?;
    let agents = make_agents(&server, options.agents, &stack).await?;
    let before = server.resident();
    let mut waiting = JoinSet::new();
    let doors = Arc::new(Semaphore::new(DOORS));
    for agent in agents {
        waiting.spawn(wait(server.host.clone(), agent, Arc::clone(&doors)));
    }
    until_waiting(&server, options.agents).await?;
    let held = server.resident();
    // Making agents took long; a connection that was silent meanwhile may be gone.
    tenant.wire = Connection::open(&server.host).await?;
    let submitted = Instant::now();
    tenant.submit(&stack, "second").await?;
    let acknowledged = submitted.elapsed();
    let mut times = Vec::with_capacity(options.agents);
    while let Some(done) = waiting.join_next().await {
        times.push(done??.saturating_duration_since(submitted));
    }
    times.sort_unstable();
    Ok(shown(options.agents, before, held, acknowledged, &times))
}

fn shown(
    agents: usize,
    before: Option<u64>,
    held: Option<u64>,
    acknowledged: Duration,
    times: &[Duration],
) -> Table {
    let title = format!(
        "{} agents wait, one revision for all of them",
        grouped(agents as u64)
    );
    let mut table = Table::new(&title, ["what", "value"]);
    let mib =
        |bytes: Option<u64>| bytes.map_or("?".into(), |b| format!("{:.0} MiB", b as f64 / MIB));
    let each = before
        .zip(held)
        .map(|(before, held)| held.saturating_sub(before) / agents as u64);
    let ms = |time: Duration| format!("{:.0} ms", time.as_secs_f64() * 1e3);
    let share = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    table.row(["memory before they wait".into(), mib(before)]);
    table.row(["memory while they wait".into(), mib(held)]);
    table.row([
        "memory per waiting agent".into(),
        each.map_or("?".into(), |b| format!("{b} B")),
    ]);
    table.row(["revision acknowledged after".into(), ms(acknowledged)]);
    table.row(["in half of the hands after".into(), ms(share(0.5))]);
    table.row(["in 99 of 100 hands after".into(), ms(share(0.99))]);
    table.row(["in all hands after".into(), ms(share(1.0))]);
    table
}

async fn make_agents(server: &Server, count: usize, stack: &str) -> anyhow::Result<Vec<Agent>> {
    let share = count.div_ceil(MAKERS);
    let make = async |first: usize| -> anyhow::Result<Vec<Agent>> {
        let mut tenant = Tenant::new(server).await?;
        let mut agents = Vec::new();
        progress(&format!("agents from {first} of {count}"));
        for number in first..(first + share).min(count) {
            let agent = tenant.agent_for(stack, number).await?;
            agents.push(agent);
        }
        Ok(agents)
    };
    let made: Vec<Vec<Agent>> = stream::iter((0..count).step_by(share))
        .map(make)
        .buffer_unordered(MAKERS)
        .try_collect()
        .await?;
    Ok(made.into_iter().flatten().collect())
}

/// Returns when as many polls wait as there are agents, if the broker tells; otherwise when they
/// should.
async fn until_waiting(server: &Server, agents: usize) -> anyhow::Result<()> {
    let mut wire = Connection::open(&server.host).await?;
    let request = wire.get("/metrics", &server.key, "");
    for second in 0..PATIENCE {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let metrics = String::from_utf8(wire.ask(&request).await?.body)?;
        let waiting = metrics.lines().find_map(|line| line.strip_prefix(WAITING));
        match waiting.and_then(|number| number.trim().parse::<usize>().ok()) {
            Some(number) if number >= agents => return Ok(()),
            Some(number) => progress(&format!("{number} of {agents} agents wait")),
            None if second > 10 => return Ok(()),
            None => progress("this broker does not tell how many agents wait"),
        }
    }
    anyhow::bail!("not all agents wait after {PATIENCE} s")
}

/// Polls once to learn the version, then waits for another; when it came.
async fn wait(host: String, agent: Agent, doors: Arc<Semaphore>) -> anyhow::Result<Instant> {
    let door = doors.acquire().await?;
    let mut wire = Connection::open(&host).await?;
    let path = format!("/api/v1/agents/{}/target-state?bodies=false", agent.id);
    let known = wire
        .ask(&wire.get(&path, &agent.key, ""))
        .await?
        .etag
        .unwrap_or_default();
    let header = format!("if-none-match: {known}\r\n");
    let request = wire.get(&format!("{path}&wait=300s"), &agent.key, &header);
    drop(door);
    let answer = wire.ask(&request).await?;
    anyhow::ensure!(
        answer.status == 200,
        "the wait ended with {}",
        answer.status
    );
    Ok(Instant::now())
}
