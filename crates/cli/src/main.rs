//! The `evenkeel` command.
//!
//! ```text
//! arguments, environment ──▶ args ──▶ up, broker │ verb ── remote ──▶ output ──▶ exit code
//! ```
//!
//! This crate reads the environment, once, and passes settings on as values. What runs for long is
//! in a module of its name; what people do is in [`verb`], which reaches a broker through
//! [`remote`], shows what [`noun`] declares, and speaks through [`output`]. The library crates do
//! the work.

mod agent;
mod args;
mod broker;
mod data_dir;
mod environment;
mod exit;
mod noun;
mod operator;
mod output;
mod private_file;
mod program;
mod remote;
mod shapes_cloud;
mod signals;
mod up;
mod verb;

use std::io::Write;
use std::process::ExitCode;

use args::{Command, Invocation, LogFormat};
use clap::{CommandFactory, FromArgMatches};
use exit::Exit;
use program::Program;
use remote::failure;
use tracing_subscriber::fmt::format::FmtSpan;

fn main() -> ExitCode {
    let program = Program::of(&environment::called_as());
    let invocation = parsed(program);
    start_log(&invocation);
    let exit = run(invocation.command, program).unwrap_or_else(|error| report(&error, program));
    exit.into()
}

/// What was said, or the end of the process with the usual help.
fn parsed(program: Program) -> Invocation {
    let command = program.name(Invocation::command());
    let matches = command.get_matches();
    Invocation::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

fn run(command: Command, program: Program) -> anyhow::Result<Exit> {
    match command {
        Command::Completion(options) => {
            options.run(program.name(Invocation::command()));
            Ok(Exit::Done)
        }
        Command::Version(options) => options.run(),
        Command::Reference(reference) => reference.run(Invocation::command()),
        Command::Context(noun) => noun.run(),
        other => runtime()?.block_on(run_async(other)),
    }
}

async fn run_async(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Up(options) => up::run(options).await.map(|()| Exit::Done),
        Command::Broker(options) => broker::run(options).await.map(|()| Exit::Done),
        Command::Operator(noun) => noun.run().await,
        Command::ShapesCloud(cloud) => cloud.run().await,
        Command::Login(login) => login.run().await,
        Command::Apply(asking) => asking.run().await,
        Command::Diff(asking) => asking.run().await,
        Command::Get(asking) => asking.run().await,
        Command::Describe(asking) => asking.run().await,
        Command::Status(asking) => asking.run().await,
        Command::History(asking) => asking.run().await,
        Command::Rollback(asking) => asking.run().await,
        Command::Delete(asking) => asking.run().await,
        Command::Events(asking) => asking.run().await,
        Command::Agent(agent) => agent.run().await,
        Command::Drift(asking) => asking.run().await,
        Command::Reconcile(asking) => asking.run().await,
        Command::Suspend(asking) => asking.run().await,
        Command::Resume(asking) => asking.run().await,
        Command::Approve(asking) => asking.run().await,
        Command::Stack(asking) => asking.run().await,
        Command::Generator(asking) => asking.run().await,
        Command::Target(asking) => asking.run().await,
        Command::Doctor(doctor) => doctor.run().await,
        Command::Completion(_)
        | Command::Version(_)
        | Command::Reference(_)
        | Command::Context(_) => Ok(Exit::Done),
    }
}

/// Says what went wrong and what to do next.
fn report(error: &anyhow::Error, program: Program) -> Exit {
    if failure::is_broken_pipe(error) {
        return Exit::Done;
    }
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "error: {}", failure::text(error));
    if let Some(advice) = failure::advice(error) {
        let _ = writeln!(err, "  try: {}", program.speak(&advice));
    }
    failure::exit(error)
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
}

/// Log lines go to standard error, so that standard output stays fit for programs.
fn start_log(invocation: &Invocation) {
    let log = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(invocation.log.as_str());
    match invocation.log_format {
        LogFormat::Text => log.init(),
        // The end of a span is a line with its fields and how long it was busy and idle: traces
        // for whoever collects logs.
        LogFormat::Json => log.json().with_span_events(FmtSpan::CLOSE).init(),
    }
}
