//! Waiting until every agent has what it should.

use std::time::Duration;

use clap::Args;
use evenkeel_api::Stack;
use evenkeel_model::{HealthStatus, Order, Phase, SequenceId};
use jiff::SignedDuration;
use tokio::time::{Instant, sleep};

use crate::noun::progress::ProgressRow;
use crate::output::cell::Cell;
use crate::remote::Session;
use crate::remote::failure::Trouble;

/// How often to look.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Whether to wait, and for how long.
#[derive(Debug, Args)]
pub(crate) struct WaitOptions {
    /// Wait until every agent has applied it and reports no ill health.
    #[arg(long)]
    wait: bool,

    /// How long to wait, such as 90s or 10m; then the command ends with code 4.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration)]
    timeout: Duration,
}

/// How far a stack has come.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nobody is to have it.
    Nobody,
    /// These are not there yet, and why.
    Left(Vec<String>),
    /// Everybody is there.
    Converged,
}

impl WaitOptions {
    /// Does not wait.
    pub(super) const NO: Self = Self {
        wait: false,
        timeout: Duration::ZERO,
    };

    /// Waits for so long.
    pub(super) const fn within(timeout: Duration) -> Self {
        Self {
            wait: true,
            timeout,
        }
    }

    /// Waits, if that was asked for, until the stack is at `sequence` everywhere.
    pub(crate) async fn wait(
        &self,
        session: &Session,
        stack: &Stack,
        sequence: Option<SequenceId>,
    ) -> anyhow::Result<()> {
        if !self.wait {
            return Ok(());
        }
        let name = [stack.id.to_string()];
        let deadline = Instant::now() + self.timeout;
        let mut said = Vec::new();
        loop {
            let rows = ProgressRow::all(session, &name).await?;
            let left = match Standing::of(&rows, sequence) {
                Standing::Nobody => return Err(nobody(stack)),
                Standing::Converged => return report(session, stack, rows.len()),
                Standing::Left(left) => left,
            };
            for line in left.iter().filter(|line| !said.contains(*line)) {
                session.out.say(&format!("  waiting for {line}"))?;
            }
            if Instant::now() >= deadline {
                let what = format!("{} has not converged", stack.name);
                return Err(Trouble::WaitedInVain { what, left }.into());
            }
            said = left;
            sleep(LOOK_EVERY).await;
        }
    }
}

impl Standing {
    /// How far the stack of these rows has come on its way to `sequence`.
    pub(crate) fn of(rows: &[ProgressRow], sequence: Option<SequenceId>) -> Self {
        let mut serving = rows
            .iter()
            .filter(|row| row.status.order == Order::Serve)
            .peekable();
        if serving.peek().is_none() {
            return Self::Nobody;
        }
        let left: Vec<_> = serving
            .filter_map(|row| what_is_left(row, sequence))
            .collect();
        if left.is_empty() {
            Self::Converged
        } else {
            Self::Left(left)
        }
    }
}

/// What keeps this agent from being done, if something does.
fn what_is_left(row: &ProgressRow, sequence: Option<SequenceId>) -> Option<String> {
    let (agent, status) = (&row.agent, &row.status);
    if let (Phase::Failed, Some(error)) = (status.phase, &status.last_error) {
        return Some(format!("{agent}: failed, tries again: {error}"));
    }
    if status.phase != Phase::Applied || status.applied < sequence {
        return Some(format!("{agent}: {}", status.phase));
    }
    if let Some(waiting) = &status.waiting {
        return Some(format!("{agent}: waits: {waiting}"));
    }
    match status.health {
        Some(health @ (HealthStatus::Degraded | HealthStatus::Failing)) => {
            Some(format!("{agent}: applied, {health}"))
        }
        Some(HealthStatus::Healthy | HealthStatus::Unknown) | None => None,
    }
}

fn report(session: &Session, stack: &Stack, agents: usize) -> anyhow::Result<()> {
    let ratio = Cell::Ratio {
        done: agents,
        of: agents,
    };
    let ratio = ratio.shown(session.out.now(), false);
    session
        .out
        .say(&format!("stack/{} converged on {ratio} agents", stack.name))?;
    Ok(())
}

fn nobody(stack: &Stack) -> anyhow::Error {
    let stack = format!("stack {}", stack.name);
    Trouble::Nobody { stack }.into()
}

/// A time as people write it.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let parsed: Result<SignedDuration, _> = text.parse();
    let parsed = parsed.map_err(|_| "write it as 90s, 5m or 1h30m".to_owned())?;
    Duration::try_from(parsed).map_err(|_| "a time cannot be negative".to_owned())
}

#[cfg(test)]
mod tests {
    use evenkeel_api::AssignmentStatus;
    use evenkeel_model::{AgentId, StackId};
    use jiff::Timestamp;

    use super::*;

    fn row(phase: Phase, applied: i64, health: Option<HealthStatus>) -> ProgressRow {
        let status = AssignmentStatus {
            agent_id: AgentId(uuid_of(1)),
            stack_id: StackId(uuid_of(2)),
            order: Order::Serve,
            phase,
            since: Timestamp::UNIX_EPOCH,
            desired: Some(SequenceId(5)),
            applied: Some(SequenceId(applied)),
            attempted: None,
            attempts: 0,
            last_error: (phase == Phase::Failed).then(|| "no room".to_owned()),
            reported_at: None,
            health,
            drift: None,
            objects: Vec::new(),
            drift_records: Vec::new(),
            waiting: None,
        };
        ProgressRow {
            stack: "shop".to_owned(),
            agent: "eu-1".to_owned(),
            cluster: "eu-1".to_owned(),
            status,
        }
    }

    fn uuid_of(number: u128) -> uuid::Uuid {
        uuid::Uuid::from_u128(number)
    }

    fn standing(rows: &[ProgressRow]) -> Standing {
        Standing::of(rows, Some(SequenceId(5)))
    }

    #[test]
    fn nobody_is_not_everybody() {
        assert_eq!(standing(&[]), Standing::Nobody);
    }

    #[test]
    fn applied_and_not_ill_is_converged() {
        for health in [
            None,
            Some(HealthStatus::Healthy),
            Some(HealthStatus::Unknown),
        ] {
            assert_eq!(
                standing(&[row(Phase::Applied, 5, health)]),
                Standing::Converged
            );
        }
    }

    #[test]
    fn an_older_revision_or_ill_health_is_not() {
        let old = row(Phase::Applied, 4, None);
        let ill = row(Phase::Applied, 5, Some(HealthStatus::Degraded));
        let failed = row(Phase::Failed, 4, None);
        let Standing::Left(left) = standing(&[old, ill, failed]) else {
            panic!("not all are there");
        };
        assert_eq!(left[1], "eu-1: applied, degraded");
        assert_eq!(left[2], "eu-1: failed, tries again: no room");
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_secs(5400)));
        assert!(duration("soon").is_err());
        assert!(duration("-5s").is_err());
    }
}
