//! Help, completion, version, and the name that people call it by.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::fleet::{Fleet, at_home};
use crate::running::evenkeel;

fn said(arguments: &[&str]) -> String {
    let output = evenkeel(arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn exit_codes_are_in_the_help() {
    let help = said(&["--help"]);
    for line in [
        "0  done",
        "2  wrong arguments",
        "4  waited in vain",
        "6  the broker refused",
    ] {
        assert!(help.contains(line), "{help}");
    }
}

#[test]
fn the_version_is_told_in_every_form() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(said(&["version"]), format!("evenkeel {version}\n"));
    assert_eq!(
        said(&["version", "-o", "name"]),
        format!("version/{version}\n")
    );
    assert_eq!(
        said(&["version", "-o", "yaml"]),
        format!("version: \"{version}\"\n")
    );
    assert_eq!(said(&["--version"]), format!("evenkeel {version}\n"));
}

#[test]
fn shells_complete_every_verb() {
    for shell in ["bash", "zsh", "fish"] {
        let script = said(&["completion", shell]);
        assert!(script.contains("rotate-key"), "{shell}");
        assert!(script.contains("reconcile"), "{shell}");
    }
    assert_eq!(
        evenkeel(&["completion", "ed"])
            .output()
            .unwrap()
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn a_mistyped_verb_is_answered_with_the_near_one() {
    let output = evenkeel(&["aply"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("'apply'")
    );
}

#[test]
fn under_kubectl_it_speaks_as_kubectl_does() {
    let fleet = Fleet::start();
    let plugin = fleet.path("kubectl-evenkeel");
    symlink(env!("CARGO_BIN_EXE_evenkeel"), &plugin).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&plugin);
        at_home(&mut command, fleet.home.path());
        command.args(arguments).output().unwrap()
    };
    let help = String::from_utf8(run(&["apply", "--help"]).stdout).unwrap();
    assert!(help.contains("Usage: kubectl evenkeel apply"), "{help}");
    assert!(help.contains("kubectl evenkeel apply -f shop/"), "{help}");
    assert!(run(&["get", "stacks"]).status.success());
    let error = run(&["get", "stacks", "--key", "brokkr_x_y"]).stderr;
    let error = String::from_utf8(error).unwrap();
    assert!(error.contains("`kubectl evenkeel login"), "{error}");
}

/// Every verb that is not hidden says how it is used, by example.
#[test]
fn every_verb_has_an_example() {
    let page = said(&["reference"]);
    let commands: Vec<_> = page.split("\n### ").skip(1).collect();
    assert!(commands.len() > 40, "{}", commands.len());
    for command in commands {
        let is_verb = command.contains("\n```text\nevenkeel ");
        assert!(!is_verb || command.contains("Example"), "{command}");
    }
}

#[test]
fn the_page_about_commands_is_the_commands() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
    let page = std::fs::read_to_string(file).unwrap();
    assert!(
        page == said(&["reference"]),
        "docs/cli.md is stale: `cargo run -p evenkeel -- reference > docs/cli.md`"
    );
}
