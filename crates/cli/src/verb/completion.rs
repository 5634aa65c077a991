//! `completion`: scripts for shells.

use std::io;

use clap::Args;
use clap_complete::Shell;

/// Print a script that completes commands in a shell.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  source <(evenkeel completion bash)
  evenkeel completion zsh > \"${fpath[1]}/_evenkeel\"")]
pub(crate) struct Completion {
    /// The shell to complete for.
    shell: Shell,
}

impl Completion {
    /// Prints it.
    pub(crate) fn run(&self, mut command: clap::Command) {
        clap_complete::generate(self.shell, &mut command, "evenkeel", &mut io::stdout());
    }
}
