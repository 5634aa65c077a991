//! `reference`: the page about every command, taken from the commands themselves.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use clap::{Arg, Args, Command};

use crate::exit::Exit;

/// What holds for all commands.
const PREFACE: &str = "\
# The command line

This page is made by `evenkeel reference > docs/cli.md`; a test compares the two. `evenkeel COMMAND
--help` says the same.

## Which broker

Commands for people ask a broker. Which one, and with which key, is found in this order:

1. `--broker URL` and `--key KEY` (or `--key @FILE`), or `EVENKEEL_BROKER` and `EVENKEEL_KEY`;
2. the context that `--context NAME` or `EVENKEEL_CONTEXT` names;
3. the current context.

A context is a broker and a key under a name. `evenkeel login` makes one, `evenkeel up` makes one called
`local`, `evenkeel context` chooses. They are kept in `$XDG_CONFIG_HOME/evenkeel/contexts.yaml`
(`~/.config`), which only its owner can read. The key of a context is never sent to another broker.

A broker whose certificate a private authority has signed is trusted with `--ca-file FILE` or
`EVENKEEL_CA_FILE`; a context remembers what `login` was told.

## How answers look

`-o table` (the default) and `-o wide` are for people, `-o json` and `-o yaml` for programs, `-o name` for
pipes. All of them are made from the same columns; programs get every column. Colours appear only on a
terminal, and not if `NO_COLOR` is set. Answers go to standard output, everything else to standard error.

`--log FILTER` (`EVENKEEL_LOG`) says what is logged, `--log-format json` (`EVENKEEL_LOG_FORMAT`) makes each line an
object for programs, with the spans that it stands in; the end of a span tells how long it took.

## Labels

A label is one word, such as `edge` or `region=eu`. An agent gets a stack if it has one of the stack's
labels, one of its annotations, or is tied to it by name, and if it serves the stack's generator.
`evenkeel get targets` says who gets what, and why.

## Under kubectl

A copy of the program, or a link to it, called `kubectl-evenkeel` on the `PATH` is `kubectl evenkeel`.

";

/// What is said for all commands at once.
const SHARED: [&str; 5] = ["help", "version", "log", "log_format", "output"];

/// Print the page about every command.
#[derive(Debug, Args)]
pub(crate) struct Reference;

impl Reference {
    /// Prints it.
    pub(crate) fn run(&self, mut command: Command) -> anyhow::Result<Exit> {
        command.build();
        let mut text = PREFACE.to_owned();
        let codes = Exit::explained();
        write!(
            text,
            "## Exit codes\n\n```text\n{codes}\n```\n\n## Commands\n"
        )?;
        for below in command.get_subcommands_mut() {
            describe(below, "evenkeel", &mut text)?;
        }
        io::stdout().write_all(text.as_bytes())?;
        Ok(Exit::Done)
    }
}

/// The command and all below it.
fn describe(command: &mut Command, above: &str, text: &mut String) -> anyhow::Result<()> {
    if command.is_hide_set() || command.get_name() == "help" {
        return Ok(());
    }
    let name = format!("{above} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string);
    write!(text, "\n### {name}\n\n{}\n", about.unwrap_or_default())?;
    if !command.has_subcommands() {
        let usage = command.render_usage().to_string();
        write!(
            text,
            "\n```text\n{}\n```\n",
            usage.trim_start_matches("Usage: ")
        )?;
        arguments(command, text)?;
    }
    if let Some(help) = command.get_after_help() {
        write!(text, "\n```text\n{help}\n```\n")?;
    }
    for below in command.get_subcommands_mut() {
        describe(below, &name, text)?;
    }
    Ok(())
}

/// What is the command's own; what holds for all is said above.
fn arguments(command: &Command, text: &mut String) -> anyhow::Result<()> {
    let is_own = |arg: &&Arg| {
        let shared = arg.get_help_heading() == Some("Broker and output");
        !shared && !arg.is_hide_set() && !SHARED.contains(&arg.get_id().as_str())
    };
    let own: Vec<_> = command.get_arguments().filter(is_own).collect();
    if !own.is_empty() {
        text.push('\n');
    }
    for arg in own {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        writeln!(text, "- `{}`: {}", call(arg), help.replace('\n', " "))?;
    }
    Ok(())
}

/// How the argument is written.
fn call(arg: &Arg) -> String {
    let values = arg.get_value_names().unwrap_or_default().join(" ");
    if arg.is_positional() {
        return values;
    }
    let short = arg
        .get_short()
        .map(|short| format!("-{short}, "))
        .unwrap_or_default();
    let long = arg.get_long().unwrap_or_default();
    let takes = arg.get_action().takes_values();
    let values = if takes {
        format!(" {values}")
    } else {
        String::new()
    };
    format!("{short}--{long}{values}")
}
