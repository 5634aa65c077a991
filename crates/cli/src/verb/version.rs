//! `version`: which evenkeel this is.

use clap::Args;

use crate::exit::Exit;
use crate::output::noun::{Column, Noun, column};
use crate::output::{Format, Out};

/// Print the version.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  evenkeel version -o json | jq -r .version")]
pub(crate) struct VersionOptions {
    /// How to show the answer.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,
}

struct Version;

impl Noun for Version {
    const KIND: &'static str = "version";

    fn columns() -> Vec<Column<Self>> {
        vec![column("version", |version| version.name().into())]
    }

    fn name(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }
}

impl VersionOptions {
    /// Prints it.
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        let sentence = format!("evenkeel {}", Version.name());
        Out::new(self.output).done(&Version, &sentence)?;
        Ok(Exit::Done)
    }
}
