//! Asking before something goes.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::remote::failure::Trouble;

/// Asks whether to go on; only a clear yes counts. Without a person to ask, `--yes` must say it.
pub(super) fn may_go_on(yes: bool, question: &str) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !io::stdin().is_terminal() {
        let text = format!("nobody can be asked \"{question}\" here: say --yes");
        return Err(Trouble::Usage(text).into());
    }
    write!(io::stderr(), "{question} [y/N] ")?;
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
