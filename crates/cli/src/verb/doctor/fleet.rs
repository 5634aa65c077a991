//! The fleet behind the broker: agents that are silent, stacks that nobody serves.

use evenkeel_api::{Agent, ListQuery, TaskStatus};
use evenkeel_model::{AgentStatus, Phase};
use jiff::{SignedDuration, Timestamp};

use crate::noun::check::Check;
use crate::noun::progress::ProgressRow;
use crate::noun::tie::Tie;
use crate::remote::Session;

/// An agent that polls every half minute has been silent for too long after this.
const SILENT_AFTER: SignedDuration = SignedDuration::from_secs(90);

/// Looks at agents, stacks, targets and background work.
pub(super) async fn look(session: &Session) -> anyhow::Result<Vec<Check>> {
    let agents = session
        .client
        .agent_list(&ListQuery::default())
        .await?
        .items;
    let ties = Tie::all(session, &[], &[]).await?;
    let rows = ProgressRow::all(session, &[]).await?;
    let stacks = session.stacks(&[]).await?;
    let names: Vec<_> = stacks.iter().map(|stack| stack.name.to_string()).collect();
    Ok(vec![
        at_work(&agents),
        heard_of(&agents, session.out.now()),
        clusters(&agents),
        targets(&names, &ties),
        consents(&ties),
        deliveries(&rows),
        tasks(&session.client.task_list().await?),
    ])
}

fn at_work(agents: &[Agent]) -> Check {
    let what = "agents";
    let resting = named(agents, |agent| agent.status == AgentStatus::Inactive);
    match (agents.len(), resting.is_empty()) {
        (0, _) => Check::warning(what, "there are none", "`evenkeel agent create NAME`"),
        (count, true) => Check::ok(what, format!("{count}, all active")),
        (_, false) => {
            let text = format!("not active, so they do nothing: {}", resting.join(", "));
            Check::warning(what, text, "`evenkeel agent activate NAME`")
        }
    }
}

fn heard_of(agents: &[Agent], now: Timestamp) -> Check {
    let what = "heartbeats";
    let is_silent = |agent: &Agent| {
        let silence = agent.last_heartbeat.map(|last| now.duration_since(last));
        silence.is_none_or(|silence| silence > SILENT_AFTER)
    };
    let silent = named(agents, |agent| {
        agent.status == AgentStatus::Active && is_silent(agent)
    });
    if silent.is_empty() {
        return Check::ok(what, "every active agent was heard of lately");
    }
    let text = format!(
        "nothing heard for {SILENT_AFTER:#} or ever: {}",
        silent.join(", ")
    );
    Check::fault(
        what,
        text,
        "is the agent running, and does it reach this broker?",
    )
}

fn clusters(agents: &[Agent]) -> Check {
    let what = "clusters";
    let cut_off = named(agents, |agent| agent.k8s_reachable == Some(false));
    if cut_off.is_empty() {
        return Check::ok(what, "no agent reports that its cluster does not answer");
    }
    let text = format!("do not answer their agents: {}", cut_off.join(", "));
    Check::fault(what, text, "look at the API server and the agent's rights")
}

fn targets(stacks: &[String], ties: &[Tie]) -> Check {
    let what = "targets";
    let is_tied = |name: &&String| !ties.iter().any(|tie| tie.stack == **name);
    let loose: Vec<_> = stacks.iter().filter(is_tied).cloned().collect();
    if loose.is_empty() {
        return Check::ok(what, format!("{} stacks, each with an agent", stacks.len()));
    }
    let text = format!("no agent matches: {}", loose.join(", "));
    Check::warning(what, text, "`evenkeel target add STACK --label LABEL`")
}

fn consents(ties: &[Tie]) -> Check {
    let what = "registrations";
    let refused = ties.iter().filter(|tie| !tie.agreed);
    let refused: Vec<_> = refused
        .map(|tie| format!("{} on {}", tie.stack, tie.agent))
        .collect();
    if refused.is_empty() {
        return Check::ok(what, "every targeted agent serves the stack's generator");
    }
    let text = format!(
        "targeted, but the agent does not serve the generator: {}",
        refused.join(", ")
    );
    Check::fault(
        what,
        text,
        "`evenkeel agent register AGENT --generator NAME`",
    )
}

fn deliveries(rows: &[ProgressRow]) -> Check {
    let what = "deliveries";
    let failed = rows.iter().filter(|row| row.status.phase == Phase::Failed);
    let failed: Vec<_> = failed
        .map(|row| format!("{} on {}", row.stack, row.agent))
        .collect();
    if failed.is_empty() {
        return Check::ok(what, "none has failed");
    }
    let text = format!("failed: {}", failed.join(", "));
    Check::fault(what, text, "`evenkeel describe stack NAME` says why")
}

fn tasks(tasks: &[TaskStatus]) -> Check {
    let what = "background work";
    let failing = tasks.iter().filter(|task| task.last_error.is_some());
    let failing: Vec<_> = failing.map(|task| task.name.clone()).collect();
    if failing.is_empty() {
        return Check::ok(what, format!("{} tasks, none failing", tasks.len()));
    }
    let text = format!("failing: {}", failing.join(", "));
    Check::warning(what, text, "look at the broker's log")
}

fn named(agents: &[Agent], wanted: impl Fn(&Agent) -> bool) -> Vec<String> {
    let found = agents.iter().filter(|agent| wanted(agent));
    found.map(|agent| agent.name.to_string()).collect()
}
