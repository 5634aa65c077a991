//! How a command reaches a broker.
//!
//! ```text
//! flags, environment, contexts ── Remote::open ──▶ Session ── stack("shop") ──▶ verb
//!                                                                  failure ──▶ advice, exit code
//! ```
//!
//! Read [`contexts`] first, then [`session`]; [`failure`] is where advice is given.

pub(crate) mod contexts;
pub(crate) mod failure;
mod lookup;
mod near;
mod session;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use evenkeel_client::Client;

use crate::exit::Exit;
use crate::output::{Format, Out};
use contexts::Contexts;
use failure::Trouble;
pub(crate) use session::{Session, at_once};

/// Which broker to ask, as whom, and how to show the answer.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Broker and output")]
pub(crate) struct Remote {
    /// The broker's address [default: that of the context].
    #[arg(long, global = true, env = "EVENKEEL_BROKER", value_name = "URL")]
    pub(crate) broker: Option<String>,

    /// The key to present, or @FILE to read it from a file [default: that of the context].
    #[arg(
        long,
        global = true,
        env = "EVENKEEL_KEY",
        hide_env_values = true,
        value_name = "KEY"
    )]
    pub(crate) key: Option<String>,

    /// The authorities (PEM) that alone are trusted to have signed the broker's certificate
    /// [default: those of this machine, or what the context says].
    #[arg(long, global = true, env = "EVENKEEL_CA_FILE", value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,

    /// The context to use [default: the current one; see `evenkeel context`].
    #[arg(long, global = true, env = "EVENKEEL_CONTEXT", value_name = "NAME")]
    pub(crate) context: Option<String>,

    /// How to show the answer.
    #[arg(
        short,
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "FORMAT"
    )]
    pub(crate) output: Format,
}

// A command that asks a broker: how to reach it, and what to do there. This is no doc comment, for
// the help of every such command would begin with it.
#[derive(Debug, Args)]
pub(crate) struct Asking<V: Args> {
    #[command(flatten)]
    remote: Remote,

    #[command(flatten)]
    verb: V,
}

/// What can be done at a broker.
pub(crate) trait Verb {
    /// Does it.
    async fn run(self, session: &Session) -> anyhow::Result<Exit>;
}

impl<V: Args + Verb> Asking<V> {
    /// Reaches the broker and does it.
    pub(crate) async fn run(self) -> anyhow::Result<Exit> {
        let session = self.remote.open()?;
        let done = self.verb.run(&session).await;
        done.map_err(|error| failure::at(error, session.broker()))
    }
}

impl Remote {
    /// The form of answers.
    pub(crate) fn out(&self) -> Out {
        Out::new(self.output)
    }

    /// Finds out which broker is meant and with which key. Flags and variables come first, then
    /// the context.
    pub(crate) fn open(&self) -> anyhow::Result<Session> {
        let contexts = Contexts::load()?;
        let place = contexts.chosen(self.context.as_deref())?;
        let broker = self
            .broker
            .clone()
            .or(place.map(|place| place.broker.clone()));
        let broker = broker.ok_or(Trouble::NoBroker)?;
        // A key is for its own broker only: it is never sent elsewhere because a flag said so.
        let own = place.filter(|place| place.broker == broker);
        let key = match (&self.key, own) {
            (Some(key), _) => given(key)?,
            (None, Some(place)) => place.key.read()?,
            (None, None) => return Err(Trouble::NoKey { broker }.into()),
        };
        let authorities = self.ca_file.as_deref();
        let authorities = authorities.or(own.and_then(|place| place.ca_file.as_deref()));
        let client = client(&broker, &key, authorities)?;
        Ok(Session::new(client, broker, self.out()))
    }
}

/// A client of the broker that trusts this machine's authorities, or only those in a file.
pub(crate) fn client(broker: &str, key: &str, ca_file: Option<&Path>) -> anyhow::Result<Client> {
    let Some(path) = ca_file else {
        return Ok(Client::new(broker, key)?);
    };
    let shown = path.display();
    let pem = std::fs::read(path).with_context(|| format!("cannot read {shown}"))?;
    Client::trusting(broker, key, &pem).with_context(|| format!("cannot use {shown}"))
}

/// The key itself, or what the file says that is named instead of it.
pub(crate) fn given(key: &str) -> anyhow::Result<String> {
    match key.strip_prefix('@') {
        Some(file) => {
            let text = std::fs::read_to_string(file);
            let text = text.with_context(|| format!("cannot read the key in {file}"))?;
            Ok(text.trim().to_owned())
        }
        None => Ok(key.to_owned()),
    }
}
