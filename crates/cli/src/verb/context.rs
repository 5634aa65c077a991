//! `context`: the brokers that are known by name.

use clap::{Args, Subcommand};

use crate::exit::Exit;
use crate::noun::context::ContextRow;
use crate::output::{Format, Out};
use crate::remote::contexts::Contexts;

/// Choose between the brokers that `login` and `up` remembered.
#[derive(Debug, Args)]
pub(crate) struct ContextNoun {
    #[command(subcommand)]
    verb: ContextVerb,

    /// How to show the answer.
    #[arg(
        short,
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "FORMAT"
    )]
    output: Format,
}

#[derive(Debug, Subcommand)]
enum ContextVerb {
    /// List the contexts.
    #[command(after_help = "Example:\n  evenkeel context list -o wide")]
    List,
    /// Make this context the one that counts when none is named.
    #[command(after_help = "Example:\n  evenkeel context use production")]
    Use {
        /// The context.
        name: String,
    },
    /// Forget a context and its key.
    #[command(after_help = "Example:\n  evenkeel context remove old")]
    Remove {
        /// The context.
        name: String,
    },
}

impl ContextNoun {
    /// Does it.
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let out = Out::new(self.output);
        let mut contexts = Contexts::load()?;
        match self.verb {
            ContextVerb::List => out.list(&ContextRow::all(&contexts))?,
            ContextVerb::Use { name } => {
                contexts.switch(&name)?;
                contexts.save()?;
                let row = ContextRow::new(&contexts, &name, contexts.get(&name)?);
                out.done(&row, &format!("context/{name} is now the current one"))?;
            }
            ContextVerb::Remove { name } => {
                let place = contexts.remove(&name)?;
                contexts.save()?;
                let row = ContextRow::new(&contexts, &name, &place);
                out.done(&row, &format!("context/{name} removed"))?;
            }
        }
        Ok(Exit::Done)
    }
}
