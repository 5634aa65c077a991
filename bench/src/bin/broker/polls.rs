//! What it costs to ask whether anything changed.

use std::time::Duration;

use evenkeel_bench::http::Connection;
use evenkeel_bench::{Table, grouped, per_second};
use futures::future::try_join_all;
use tokio::time::Instant;

use crate::fleet::{Agent, Tenant};
use crate::{Options, Server, history, progress};

const CONNECTIONS: usize = 8;
/// How long a turn of asking takes.
const TURN: Duration = Duration::from_secs(1);
/// Polls and the cheapest request by turns, so that whoever disturbs the machine disturbs both.
const TURNS: usize = 5;

/// Unchanged polls of agents with ever more stacks, beside the cheapest request there is.
pub(crate) async fn measure(options: &Options) -> anyhow::Result<Table> {
    let server = Server::start(options).await?;
    let mut tenant = Tenant::new(&server).await?;
    let mut table = Table::new(
        &format!("Asking whether anything changed, {CONNECTIONS} connections"),
        ["request", "answer", "per second", "of /healthz"],
    );
    let (agent, mut stacks) = (tenant.agent(0).await?, 0);
    let base = cheapest(&server).await?;
    table.row([
        "/healthz".into(),
        "200".into(),
        grouped(base as u64),
        "1.00".into(),
    ]);
    for wanted in [1, 10, 100, 1_000] {
        if wanted > options.stacks {
            break;
        }
        progress(&format!("polls of an agent with {wanted} stacks"));
        while stacks < wanted {
            let stack = tenant.stack(stacks).await?;
            tenant.target(&agent, &stack).await?;
            stacks += 1;
        }
        let name = format!("target state, {wanted} stacks");
        row(&server, &agent, &name, &mut table).await?;
    }
    if options.events > 0 {
        let object = tenant.newest(&agent).await?;
        history::add_events(&server, &agent, &object, options.events).await?;
        let events = grouped(options.events as u64);
        row(
            &server,
            &agent,
            &format!("the same, {events} old events"),
            &mut table,
        )
        .await?;
    }
    Ok(table)
}

async fn row(server: &Server, agent: &Agent, name: &str, table: &mut Table) -> anyhow::Result<()> {
    let mut answers = 0;
    let (mut polls, mut health) = (Vec::new(), Vec::new());
    let unchanged = Unchanged::of(server, agent).await?;
    for _ in 0..TURNS {
        let (status, rate) = unchanged.rate(server, agent).await?;
        answers = status;
        polls.push(rate);
        health.push(cheapest(server).await?);
    }
    let (polls, health) = (median(polls), median(health));
    let share = format!("{:.2}", polls / health);
    table.row([
        name.to_owned(),
        answers.to_string(),
        grouped(polls as u64),
        share,
    ]);
    Ok(())
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

async fn cheapest(server: &Server) -> anyhow::Result<f64> {
    Ok(rate(server, "/healthz", &server.key, "").await?.1)
}

/// The question of an agent that knows all there is to know.
struct Unchanged {
    path: String,
    header: String,
}

impl Unchanged {
    async fn of(server: &Server, agent: &Agent) -> anyhow::Result<Self> {
        let path = format!("/api/v1/agents/{}/target-state", agent.id);
        let mut wire = Connection::open(&server.host).await?;
        let request = wire.get(&path, &agent.key, "");
        let known = wire.ask(&request).await?.etag;
        let header = known.map(|tag| format!("if-none-match: {tag}\r\n"));
        let header = header.unwrap_or_default();
        Ok(Self { path, header })
    }

    async fn rate(&self, server: &Server, agent: &Agent) -> anyhow::Result<(u16, f64)> {
        rate(server, &self.path, &agent.key, &self.header).await
    }
}

/// The same request again and again on several connections.
async fn rate(server: &Server, path: &str, key: &str, headers: &str) -> anyhow::Result<(u16, f64)> {
    let begin = Instant::now();
    let ends = begin + TURN;
    let one = async || -> anyhow::Result<(u16, usize)> {
        let mut wire = Connection::open(&server.host).await?;
        let request = wire.get(path, key, headers);
        let (mut status, mut count) = (0, 0);
        while Instant::now() < ends {
            status = wire.ask(&request).await?.status;
            count += 1;
        }
        Ok((status, count))
    };
    let results = try_join_all((0..CONNECTIONS).map(|_| one())).await?;
    let count = results.iter().map(|(_, count)| count).sum();
    let status = results.first().map_or(0, |(status, _)| *status);
    Ok((status, per_second(count, begin.elapsed())))
}
