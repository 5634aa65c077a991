//! How far everything has come, shown until it is there.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::options::UpOptions;
use crate::args::Output;
use crate::noun::progress::{ProgressRow, phase};
use crate::output::live::Live;
use crate::remote::Session;
use crate::verb::wait::Standing;

/// How often to look.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// After this nobody waits any longer; it goes on behind the scenes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The way to where everything is as it should be.
pub(super) struct Progress {
    begun: Instant,
    /// Programs are told at the end only.
    live: Option<Live>,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arrival {
    pub(super) took: Duration,
    /// What is not there yet.
    pub(super) left: Vec<String>,
}

impl Progress {
    pub(super) fn new(options: &UpOptions, begun: Instant) -> Self {
        let live = (options.output == Output::Text).then(Live::new);
        Self { begun, live }
    }

    /// Shows what changes until every agent has every stack.
    pub(super) async fn follow(mut self, session: &Session) -> anyhow::Result<Arrival> {
        loop {
            let rows = ProgressRow::all(session, &[]).await?;
            self.show(session, &rows)?;
            let took = self.begun.elapsed();
            let left = what_is_left(&rows);
            if left.is_empty() || took > PATIENCE {
                return Ok(Arrival { took, left });
            }
            sleep(LOOK_EVERY).await;
        }
    }

    fn show(&mut self, session: &Session, rows: &[ProgressRow]) -> anyhow::Result<()> {
        let Some(live) = &mut self.live else {
            return Ok(());
        };
        let lines: Vec<_> = rows.iter().map(|row| line(session, row)).collect();
        let picture: String = lines.iter().map(|line| format!("{line}\n")).collect();
        Ok(live.show(&picture, lines)?)
    }
}

/// Whoever has not applied everything, or not said how it is doing since.
fn what_is_left(rows: &[ProgressRow]) -> Vec<String> {
    match Standing::of(rows, None) {
        Standing::Left(left) => left,
        Standing::Nobody => Vec::new(),
        Standing::Converged => {
            let silent = rows.iter().filter(|row| row.status.health.is_none());
            silent
                .map(|row| format!("{}: {} has no health yet", row.agent, row.stack))
                .collect()
        }
    }
}

fn line(session: &Session, row: &ProgressRow) -> String {
    let palette = session.out.palette();
    let cells = [phase(&row.status), row.status.health.into()];
    let now = session.out.now();
    let words = cells.map(|cell| palette.paint(cell.tone(), &cell.shown(now, true)));
    format!("  {} on {}: {}", row.stack, row.agent, words.join(", "))
}
