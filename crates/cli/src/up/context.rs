//! The context `local`, through which the other commands find what runs here.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::options::UpOptions;
use super::part::Part;
use crate::data_dir::DataDir;
use crate::remote::Session;
use crate::remote::contexts::{ContextError, Contexts, Credential, Place};

const NAME: &str = "local";

/// What was said of contexts, and what is to become of it.
pub(super) struct LocalContext {
    entered: Result<Entered, ContextError>,
    /// An address that goes with the process is of no use to anybody afterwards.
    restore: bool,
}

struct Entered {
    before: Contexts,
    is_current: bool,
}

/// Writes the context. That it cannot be written keeps nothing else from running.
pub(super) fn enter(options: &UpOptions, session: &Session, data: &DataDir) -> LocalContext {
    let place = Place {
        broker: session.broker().to_owned(),
        key: Credential::File(data.of_broker("admin-key")),
        ca_file: None,
    };
    LocalContext {
        entered: write(place),
        restore: options.ephemeral,
    }
}

/// Adds the context; it becomes the current one unless the user works elsewhere.
fn write(place: Place) -> Result<Entered, ContextError> {
    let before = Contexts::load()?;
    let mut contexts = before.clone();
    contexts.put(NAME, place);
    let is_current = contexts
        .current
        .as_deref()
        .is_none_or(|current| current == NAME);
    if is_current {
        contexts.switch(NAME)?;
    }
    contexts.save()?;
    Ok(Entered { before, is_current })
}

/// Puts back what was there, and leaves alone what others did meanwhile.
fn put_back(before: &Contexts) -> Result<(), ContextError> {
    let mut contexts = Contexts::load()?;
    match before.contexts.get(NAME) {
        Some(place) => contexts.put(NAME, place.clone()),
        None => drop(contexts.remove(NAME)),
    }
    contexts.save()
}

#[async_trait]
impl Part for LocalContext {
    fn name(&self) -> &'static str {
        "context"
    }

    fn told(&self) -> Value {
        match &self.entered {
            Ok(entered) => json!({ "name": NAME, "current": entered.is_current }),
            Err(error) => json!({ "error": error.to_string() }),
        }
    }

    fn shown(&self) -> String {
        match &self.entered {
            Ok(entered) if entered.is_current => String::new(),
            Ok(_) => format!(
                "\nAnother context is current: say --context {NAME}, or `evenkeel context use {NAME}`.\n"
            ),
            Err(error) => format!("\nCommands will not find it by themselves: {error}\n"),
        }
    }

    async fn stop(self: Box<Self>) {
        if let (true, Ok(entered)) = (self.restore, &self.entered)
            && let Err(error) = put_back(&entered.before)
        {
            tracing::warn!(%error, "the context stays behind");
        }
    }
}
