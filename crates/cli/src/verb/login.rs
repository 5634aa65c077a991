//! `login`: a broker and a key are tried, then remembered.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{self, PathBuf};

use clap::Args;
use evenkeel_api::Bearer;

use crate::exit::Exit;
use crate::noun::context::ContextRow;
use crate::output::{Format, Out};
use crate::remote::contexts::{Contexts, Credential, Place};
use crate::remote::failure::{self, Trouble};
use crate::remote::{client, given};

/// Try a key at a broker and remember both under a name.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel login https://broker.example.com             asks for the key
  evenkeel login http://127.0.0.1:3000 --key @admin-key --name local
  pass show evenkeel | evenkeel login https://broker.example.com
  evenkeel login https://broker.internal --ca-file internal-ca.pem

Contexts are kept in $XDG_CONFIG_HOME/evenkeel/contexts.yaml (~/.config), which only you can read.")]
pub(crate) struct Login {
    /// The broker's address.
    #[arg(value_name = "URL", env = "EVENKEEL_BROKER")]
    broker: String,

    /// The key, or @FILE to read it from a file; asked for if not given.
    #[arg(long, env = "EVENKEEL_KEY", hide_env_values = true, value_name = "KEY")]
    key: Option<String>,

    /// The authorities (PEM) that alone are trusted to have signed the broker's certificate; the
    /// context remembers where they are.
    #[arg(long, env = "EVENKEEL_CA_FILE", value_name = "FILE")]
    ca_file: Option<PathBuf>,

    /// What to call the context [default: the broker's host].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// How to show the answer.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,
}

impl Login {
    /// Does it.
    pub(crate) async fn run(self) -> anyhow::Result<Exit> {
        let broker = self.broker.trim_end_matches('/').to_owned();
        let key = match &self.key {
            Some(key) => given(key)?,
            None => asked()?,
        };
        let ca_file = self.ca_file.map(path::absolute).transpose()?;
        let client = client(&broker, &key, ca_file.as_deref())?;
        let bearer = client.auth_pak().await;
        let bearer = bearer.map_err(|error| failure::at(error.into(), &broker))?;
        let name = self.name.unwrap_or_else(|| host(&broker).to_owned());
        let mut contexts = Contexts::load()?;
        let key = Credential::Text(key);
        let place = Place {
            broker,
            key,
            ca_file,
        };
        contexts.put(&name, place);
        contexts.switch(&name)?;
        contexts.save()?;
        let row = ContextRow::new(&contexts, &name, contexts.get(&name)?);
        let sentence = format!("context/{name} is now the current one: {}", role(bearer));
        Out::new(self.output).done(&row, &sentence)?;
        Ok(Exit::Done)
    }
}

/// What somebody types or sends; on a terminal nothing of it is shown.
fn asked() -> anyhow::Result<String> {
    let mut key = String::new();
    if io::stdin().is_terminal() {
        write!(io::stderr(), "Key: ")?;
        io::stderr().flush()?;
        let _silence = Silence::begin()?;
        io::stdin().lock().read_line(&mut key)?;
        writeln!(io::stderr())?;
    } else {
        io::stdin().lock().read_line(&mut key)?;
    }
    let key = key.trim();
    if key.is_empty() {
        let text = "no key was given: say --key, or send it on standard input".to_owned();
        return Err(Trouble::Usage(text).into());
    }
    Ok(key.to_owned())
}

/// The terminal does not show what is typed for as long as this lives.
struct Silence(rustix::termios::Termios);

impl Silence {
    fn begin() -> io::Result<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(io::stdin())?;
        let mut silent = before.clone();
        silent.local_modes -= LocalModes::ECHO;
        tcsetattr(io::stdin(), OptionalActions::Now, &silent)?;
        Ok(Self(before))
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// What the bearer may do, in words.
pub(super) fn role(bearer: Bearer) -> &'static str {
    match bearer {
        Bearer { admin: true, .. } => "an administrator",
        Bearer { readonly: true, .. } => "may read everything",
        Bearer {
            generator: Some(_), ..
        } => "a generator",
        Bearer { agent: Some(_), .. } => "an agent",
        _ => "nobody in particular",
    }
}

fn host(broker: &str) -> &str {
    let rest = broker.split_once("://").map_or(broker, |(_, rest)| rest);
    rest.split(['/', ':']).next().unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_called_after_the_host() {
        assert_eq!(
            host("https://broker.example.com:8443/x"),
            "broker.example.com"
        );
        assert_eq!(host("http://127.0.0.1:3000"), "127.0.0.1");
    }
}
