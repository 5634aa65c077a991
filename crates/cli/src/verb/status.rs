//! `status`: how far every agent is with every stack.

use std::time::Duration;

use clap::Args;
use tokio::time::sleep;

use crate::exit::Exit;
use crate::noun::progress::{ProgressRow, phase};
use crate::output::live::Live;
use crate::remote::{Session, Verb};
use crate::signals;

/// How often to look again.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Show how far each agent is with each stack.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel status
  evenkeel status shop --watch       drawn anew as it changes, until Ctrl-C
  evenkeel status -o json | jq '.[] | select(.phase == \"failed\")'")]
pub(crate) struct Status {
    /// Only these stacks.
    stacks: Vec<String>,

    /// Go on and show what changes, until Ctrl-C.
    #[arg(short, long)]
    watch: bool,
}

impl Verb for Status {
    async fn run(self, session: &Session) -> anyhow::Result<Exit> {
        if !self.watch {
            session
                .out
                .list(&ProgressRow::all(session, &self.stacks).await?)?;
            return Ok(Exit::Done);
        }
        let mut watch = Watch::new();
        loop {
            watch.look(session, &self.stacks).await?;
            tokio::select! {
                stopped = signals::told_to_stop() => {
                    stopped?;
                    return Ok(Exit::Done);
                }
                () = sleep(LOOK_EVERY) => {}
            }
        }
    }
}

/// What was seen last.
struct Watch {
    live: Live,
    lines: Vec<String>,
}

impl Watch {
    fn new() -> Self {
        Self {
            live: Live::new(),
            lines: Vec::new(),
        }
    }

    async fn look(&mut self, session: &Session, stacks: &[String]) -> anyhow::Result<()> {
        let rows = ProgressRow::all(session, stacks).await?;
        let lines: Vec<_> = rows.iter().map(|row| line(session, row)).collect();
        if session.out.is_for_people() {
            self.live.show(&session.out.table(&rows), lines)?;
        } else {
            let changed = rows
                .iter()
                .zip(&lines)
                .filter(|(_, line)| !self.lines.contains(line));
            session
                .out
                .more(&changed.map(|(row, _)| row.clone()).collect::<Vec<_>>())?;
            self.lines = lines;
        }
        Ok(())
    }
}

/// All that can change of a row, and nothing that changes by itself.
fn line(session: &Session, row: &ProgressRow) -> String {
    let now = session.out.now();
    let status = &row.status;
    let phase = phase(status).shown(now, true);
    let wanted = status
        .desired
        .map(|sequence| format!(" {sequence}"))
        .unwrap_or_default();
    let health = status
        .health
        .map(|health| format!(", {health}"))
        .unwrap_or_default();
    let message = row.message().shown(now, true);
    format!(
        "{} on {}: {phase}{wanted}{health} {message}",
        row.stack, row.agent
    )
    .trim_end_matches([' ', '-'])
    .to_owned()
}
