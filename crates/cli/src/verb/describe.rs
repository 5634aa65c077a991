//! `describe`: one stack or one agent, with everything that hangs on it.

use clap::Args;
use evenkeel_model::ObjectHealth;
use serde_json::Value;

use super::contents::newest_objects;
use crate::exit::Exit;
use crate::noun::agent::AgentRow;
use crate::noun::object;
use crate::noun::progress::{ProgressRow, phase};
use crate::noun::stack::StackRow;
use crate::output::cell::Cell;
use crate::output::noun::{Column, Noun, data, record};
use crate::output::tree::Branch;
use crate::remote::failure::Trouble;
use crate::remote::{Session, Verb, at_once};

/// Show one stack or agent with everything that hangs on it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel describe stack shop        stack, agents, objects, with their health and why
  evenkeel describe agent eu-1        agent, stacks, objects, with their health and why
  evenkeel describe stack/shop -o yaml")]
pub(crate) struct Describe {
    /// What, and which: `stack shop`, `agent eu-1`, or in one word `stack/shop`.
    #[arg(required = true, num_args = 1..=2, value_names = ["KIND", "NAME"])]
    what: Vec<String>,
}

impl Verb for Describe {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        let words: Vec<&str> = match self.what.as_slice() {
            [word] => word.splitn(2, '/').collect(),
            words => words.iter().map(String::as_str).collect(),
        };
        match words.as_slice() {
            ["stack" | "stacks", name] => stack(session, name).await?,
            ["agent" | "agents", name] => agent(session, name).await?,
            _ => {
                let text = "describe what? `stack NAME` or `agent NAME`".to_owned();
                return Err(Trouble::Usage(text).into());
            }
        }
        Ok(Exit::Done)
    }
}

/// A thing and what hangs on it, for programs.
struct Story<N> {
    root: N,
    parts: &'static str,
    hanging: Value,
}

impl<N: Noun> Noun for Story<N> {
    const KIND: &'static str = N::KIND;

    fn columns() -> Vec<Column<Self>> {
        vec![data(N::KIND, |story: &Self| {
            let mut whole = record(&story.root);
            whole[story.parts] = story.hanging.clone();
            Cell::Data(whole)
        })]
    }

    fn name(&self) -> String {
        self.root.name()
    }
}

async fn stack(session: &Session, name: &str) -> anyhow::Result<()> {
    let stack = session.stack(name).await?;
    let id = stack.id;
    let root = StackRow::of(session, stack).await?;
    let rows = ProgressRow::all(session, &[id.to_string()]).await?;
    let named = newest_objects(session, &root.stack).await?;
    let agent = |row: &ProgressRow| agent_line(row).with(objects(row, &named));
    let tree = Branch::new(stack_line(&root)).with(rows.iter().map(agent));
    let hanging = rows.iter().map(record).collect::<Vec<_>>().into();
    let story = Story {
        root,
        parts: "on",
        hanging,
    };
    session.out.story(&story, &tree)?;
    Ok(())
}

async fn agent(session: &Session, name: &str) -> anyhow::Result<()> {
    let agent = session.agent(name).await?;
    let id = agent.id;
    let root = AgentRow::of(session, agent).await?;
    let status = session.client.agent_status(id).await?;
    let names = at_once(&status, async |one| {
        let stack = session.client.stack_get(one.stack_id).await;
        Ok(stack.map_or_else(|_| one.stack_id.to_string(), |stack| stack.name.to_string()))
    });
    let pairs = names.await?.into_iter().zip(status);
    let rows: Vec<_> = pairs
        .map(|(stack, status)| ProgressRow {
            stack,
            agent: root.agent.name.to_string(),
            cluster: root.agent.cluster_name.to_string(),
            status,
        })
        .collect();
    let stack = |row: &ProgressRow| stack_twig(row).with(objects(row, &[]));
    let tree = Branch::new(agent_title(&root)).with(rows.iter().map(stack));
    let hanging = rows.iter().map(record).collect::<Vec<_>>().into();
    let story = Story {
        root,
        parts: "stacks",
        hanging,
    };
    session.out.story(&story, &tree)?;
    Ok(())
}

fn stack_line(row: &StackRow) -> Vec<Cell> {
    let revision = row.stack.newest_sequence_id;
    let revision = revision.map_or("no revision yet".to_owned(), |one| {
        format!("revision {one}")
    });
    let mut cells = vec![
        Cell::text(format_args!("stack {}", row.stack.name)),
        revision.into(),
        row.health().into(),
    ];
    if let Some(generator) = &row.generator {
        cells.push(format!("of {generator}").into());
    }
    if !row.labels.is_empty() {
        cells.push(format!("to {}", row.labels.join(", ")).into());
    }
    if let Some(mode) = row.stack.control.drift {
        cells.push(format!("drift: {mode}").into());
    }
    cells
}

fn agent_line(row: &ProgressRow) -> Branch {
    twig(&format!("agent {}", row.agent), row)
}

fn stack_twig(row: &ProgressRow) -> Branch {
    twig(&format!("stack {}", row.stack), row)
}

/// How far one agent has come with one stack.
fn twig(title: &str, row: &ProgressRow) -> Branch {
    let applied = row.status.applied.map(|one| format!("revision {one}"));
    let mut cells = vec![
        title.into(),
        phase(&row.status),
        applied.into(),
        row.status.health.into(),
    ];
    cells.extend(Some(row.message()).filter(|cell| *cell != Cell::Nothing));
    Branch::new(cells)
}

/// The objects as the agent sees them; before it has looked, as the revision names them.
fn objects(row: &ProgressRow, named: &[String]) -> Vec<Branch> {
    if row.status.objects.is_empty() {
        let line = |name: &String| Branch::new([name.as_str().into(), Cell::Nothing]);
        return named.iter().map(line).collect();
    }
    let line = |one: &ObjectHealth| {
        let mut cells = vec![object::shown(&one.object).into(), one.status.into()];
        cells.extend(one.reason.clone().map(Cell::Prose));
        Branch::new(cells)
    };
    row.status.objects.iter().map(line).collect()
}

fn agent_title(row: &AgentRow) -> Vec<Cell> {
    let agent = &row.agent;
    let mut cells = vec![
        Cell::text(format_args!("agent {}", agent.name)),
        Cell::text(format_args!("on cluster {}", agent.cluster_name)),
        agent.status.into(),
    ];
    if !row.labels.is_empty() {
        cells.push(row.labels.join(", ").into());
    }
    cells
}
