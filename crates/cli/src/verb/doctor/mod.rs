//! `doctor`: looks at everything between a person and the fleet, and says what to do.

mod connection;
mod fleet;

use clap::Args;

use crate::exit::Exit;
use crate::noun::check::{Check, Finding};
use crate::remote::Remote;
use crate::remote::failure;

/// Check connection, rights, versions and the fleet, and say what to do.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel doctor
  evenkeel doctor -o json | jq '.[] | select(.result != \"ok\")'

Ends with code 1 if something is broken.")]
pub(crate) struct Doctor {
    #[command(flatten)]
    remote: Remote,
}

impl Doctor {
    /// Looks, and shows what was found.
    pub(crate) async fn run(self) -> anyhow::Result<Exit> {
        let checks = self.examine().await;
        self.remote.out().list(&checks)?;
        let is_broken = checks.iter().any(|check| check.finding == Finding::Fault);
        Ok(if is_broken { Exit::Failed } else { Exit::Done })
    }

    /// Each look needs what the one before found; the first that fails ends it.
    async fn examine(&self) -> Vec<Check> {
        let mut checks = vec![connection::contexts_file()];
        let session = match self.remote.open() {
            Ok(session) => session,
            Err(error) => {
                checks.push(trouble("broker", &error));
                return checks;
            }
        };
        let (found, goes_on) = connection::broker(&session).await;
        checks.extend(found);
        if goes_on {
            match fleet::look(&session).await {
                Ok(found) => checks.extend(found),
                Err(error) => checks.push(trouble("fleet", &error)),
            }
        }
        checks
    }
}

/// An error as a finding, with the advice that it would have been printed with.
fn trouble(what: &'static str, error: &anyhow::Error) -> Check {
    let remedy = failure::advice(error).unwrap_or_else(|| "see the detail".to_owned());
    Check::fault(what, failure::text(error), remedy)
}
