//! The `evenkeel` command.
//!
//! ```text
//! arguments, environment ──▶ args ──▶ one command (up, broker, ...) ──▶ exit code
//! ```
//!
//! This crate reads the environment, once, and passes settings on as values. Everything that a
//! command does is in the module of its name; the library crates do the work.

mod args;
mod broker;
mod data_dir;
mod environment;
mod signals;
mod up;

use std::io::Write;
use std::process::ExitCode;

use args::{Command, Invocation};
use clap::{CommandFactory, Parser};

fn main() -> ExitCode {
    let invocation = Invocation::parse();
    start_log(&invocation);
    match run(invocation.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Up(options) => runtime()?.block_on(up::run(options)),
        Command::Broker(options) => runtime()?.block_on(broker::run(options)),
        Command::Completion { shell } => {
            let mut command = Invocation::command();
            clap_complete::generate(shell, &mut command, "evenkeel", &mut std::io::stdout());
            Ok(())
        }
        Command::Version => {
            writeln!(std::io::stdout(), "evenkeel {}", env!("CARGO_PKG_VERSION"))?;
            Ok(())
        }
    }
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
}

/// Log lines go to standard error, so that standard output stays fit for programs.
fn start_log(invocation: &Invocation) {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(invocation.log.as_str())
        .init();
}
