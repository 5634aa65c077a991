//! What can be said on the command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::agent::AgentCommand;
use crate::exit::Exit;
use crate::operator::OperatorNoun;
use crate::remote::Asking;
use crate::shapes_cloud::ShapesCloud;
use crate::up::options::UpOptions;
use crate::verb::apply::Apply;
use crate::verb::completion::Completion;
use crate::verb::context::ContextNoun;
use crate::verb::control::{Approve, Reconcile, Resume, Suspend};
use crate::verb::delete::Delete;
use crate::verb::describe::Describe;
use crate::verb::diff::Diff;
use crate::verb::doctor::Doctor;
use crate::verb::drift::Drift;
use crate::verb::events::Events;
use crate::verb::generator::GeneratorNoun;
use crate::verb::get::Get;
use crate::verb::history::History;
use crate::verb::login::Login;
use crate::verb::reference::Reference;
use crate::verb::rollback::Rollback;
use crate::verb::stack::StackNoun;
use crate::verb::status::Status;
use crate::verb::target::TargetNoun;
use crate::verb::version::VersionOptions;

/// Keeps fleets of Kubernetes clusters in the state that people declared.
#[derive(Debug, Parser)]
#[command(name = "evenkeel", version, propagate_version = true, after_help = Exit::explained())]
pub(crate) struct Invocation {
    /// What to log: error, warn, info, debug, trace, or a filter such as `kubesim=debug`.
    #[arg(
        long,
        global = true,
        env = "EVENKEEL_LOG",
        default_value = "warn",
        value_name = "FILTER"
    )]
    pub(crate) log: String,

    /// How to log: lines for people, or one JSON object per line, which also tells how long each
    /// run took.
    #[arg(
        long,
        global = true,
        env = "EVENKEEL_LOG_FORMAT",
        value_enum,
        default_value_t,
        value_name = "FORMAT"
    )]
    pub(crate) log_format: LogFormat,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// The commands. Each says in its own file what it is for.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Up(UpOptions),
    /// Run the broker: the control plane that agents ask and people tell.
    Broker(BrokerOptions),

    Operator(Box<OperatorNoun>),
    ShapesCloud(ShapesCloud),

    Login(Login),
    Context(ContextNoun),

    Apply(Asking<Apply>),
    Diff(Asking<Diff>),
    Get(Asking<Get>),
    Describe(Asking<Describe>),
    Status(Asking<Status>),
    History(Asking<History>),
    Rollback(Asking<Rollback>),
    Delete(Asking<Delete>),
    Events(Asking<Events>),
    Drift(Asking<Drift>),

    Reconcile(Asking<Reconcile>),
    Suspend(Asking<Suspend>),
    Resume(Asking<Resume>),
    Approve(Asking<Approve>),

    Stack(Asking<StackNoun>),
    Agent(AgentCommand),
    Generator(Asking<GeneratorNoun>),
    Target(Asking<TargetNoun>),

    Doctor(Doctor),
    Completion(Completion),
    Version(VersionOptions),
    #[command(hide = true)]
    Reference(Reference),
}

/// How to run a broker.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel broker                                     on 127.0.0.1:3000, SQLite in your data directory
  evenkeel broker --listen 0.0.0.0:8443 --set server.tls.certificate=tls.crt --set server.tls.key=tls.key
  evenkeel broker --database postgres://evenkeel@db/fleet
  evenkeel broker --print-config                      what can be set, and what is

Settings are taken from --config, then from variables such as EVENKEEL__LIMITS__BURST, then from --set,
then from the other flags; the last one counts. The first start prints the administrator's key, once.")]
pub(crate) struct BrokerOptions {
    /// A file with settings, YAML or TOML.
    #[arg(long, value_name = "FILE", env = "EVENKEEL_CONFIG")]
    pub(crate) config: Option<PathBuf>,

    /// The address to listen on; port 0 takes a free one [default: 127.0.0.1:3000].
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,

    /// `sqlite://PATH` or `postgres://...` [default: a file in your data directory].
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,

    /// Set one thing, such as limits.burst=50; can be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,

    /// Print the settings that would count, without secrets, and end.
    #[arg(long)]
    pub(crate) print_config: bool,
}

/// The form in which a command answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    Text,
    /// For programs: one JSON document.
    Json,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Invocation::command().debug_assert();
    }

    #[test]
    fn every_command_says_what_it_does_and_no_two_say_the_same() {
        let mut said = BTreeMap::new();
        for command in Invocation::command().get_subcommands() {
            let about = command.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            let name = command.get_name().to_owned();
            assert!(!about.is_empty(), "{name} says nothing");
            if let Some(other) = said.insert(about, name.clone()) {
                panic!("{name} and {other} say the same");
            }
        }
    }
}
