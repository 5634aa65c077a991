//! What went wrong, what to do next, and which exit code says so.

use std::io;

use evenkeel_client::ClientError;
use thiserror::Error;

use super::contexts::ContextError;
use super::near;
use crate::exit::Exit;

/// What a command cannot go on with.
#[derive(Debug, Error)]
pub(crate) enum Trouble {
    #[error("no broker is known")]
    NoBroker,
    #[error("no key for the broker at {broker} is known")]
    NoKey { broker: String },
    #[error("there is no {kind} `{name}`{}", near::did_you_mean(.near))]
    Unknown {
        kind: &'static str,
        name: String,
        near: Vec<String>,
    },
    #[error("`{name}` is the name of more than one {kind}: {}", .places.join(", "))]
    Ambiguous {
        kind: &'static str,
        name: String,
        places: Vec<String>,
    },
    #[error("there is more than one generator: {}", .known.join(", "))]
    WhichGenerator { known: Vec<String> },
    #[error("{0}")]
    Usage(String),
    #[error("{what}: {}", .left.join("; "))]
    WaitedInVain { what: String, left: Vec<String> },
    #[error("no agent serves {stack}")]
    Nobody { stack: String },
}

/// Says at which broker it went wrong, if it could not be asked.
pub(crate) fn at(error: anyhow::Error, broker: &str) -> anyhow::Error {
    match client_error(&error) {
        Some(ClientError::Transport(_)) => {
            error.context(format!("cannot ask the broker at {broker}"))
        }
        _ => error,
    }
}

/// The error and its causes in one line. Of a failed connection only the first and the last
/// link of the chain mean anything to people.
pub(crate) fn text(error: &anyhow::Error) -> String {
    let unreachable = |cause: &(dyn std::error::Error + 'static)| {
        matches!(cause.downcast_ref(), Some(ClientError::Transport(_)))
    };
    match error.chain().position(unreachable) {
        Some(at) if at > 0 => {
            let said = error.chain().take(at).map(ToString::to_string);
            let said: Vec<_> = said.chain([error.root_cause().to_string()]).collect();
            said.join(": ")
        }
        _ => format!("{error:#}"),
    }
}

/// The exit code that says what kind of failure it was.
pub(crate) fn exit(error: &anyhow::Error) -> Exit {
    if let Some(trouble) = error.downcast_ref::<Trouble>() {
        return match trouble {
            Trouble::Usage(_) => Exit::Usage,
            Trouble::WaitedInVain { .. } => Exit::WaitedInVain,
            Trouble::NoBroker
            | Trouble::NoKey { .. }
            | Trouble::Unknown { .. }
            | Trouble::Ambiguous { .. }
            | Trouble::WhichGenerator { .. }
            | Trouble::Nobody { .. } => Exit::Failed,
        };
    }
    match client_error(error) {
        Some(ClientError::Transport(_)) => Exit::Unreachable,
        Some(refused) if matches!(refused.status(), Some(401 | 403)) => Exit::Refused,
        _ => Exit::Failed,
    }
}

/// What to do next, if anything is known to help.
pub(crate) fn advice(error: &anyhow::Error) -> Option<String> {
    if let Some(trouble) = error.downcast_ref::<Trouble>() {
        return trouble_advice(trouble);
    }
    if let Some(ContextError::Unknown { .. }) = error.downcast_ref() {
        return Some("`evenkeel context list` shows the contexts".to_owned());
    }
    client_advice(client_error(error)?)
}

/// Whether nobody listens any more, which is no failure: `evenkeel get stacks | head -1`.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        io.is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe)
    })
}

fn client_error(error: &anyhow::Error) -> Option<&ClientError> {
    error.chain().find_map(|cause| cause.downcast_ref())
}

fn trouble_advice(trouble: &Trouble) -> Option<String> {
    let text = match trouble {
        Trouble::NoBroker => {
            "`evenkeel up` starts one on this machine; `evenkeel login URL` remembers another"
        }
        Trouble::NoKey { broker } => {
            return Some(format!(
                "`evenkeel login {broker}`, or --key, or EVENKEEL_KEY"
            ));
        }
        Trouble::Unknown { kind, near, .. } if near.is_empty() => {
            return Some(format!("`evenkeel get {kind}s` shows what there is"));
        }
        Trouble::Ambiguous { .. } => "say which: one of these, or an id",
        Trouble::WhichGenerator { .. } => "say whose it is with --generator NAME",
        Trouble::WaitedInVain { .. } => {
            "it goes on without you: `evenkeel status --watch`, `evenkeel describe stack NAME`"
        }
        Trouble::Nobody { .. } => {
            "give it a target: `evenkeel apply --to LABEL`, `evenkeel target add`; `evenkeel doctor` tells why an agent does not serve it"
        }
        Trouble::Unknown { .. } | Trouble::Usage(_) => return None,
    };
    Some(text.to_owned())
}

fn client_advice(error: &ClientError) -> Option<String> {
    let text = match error {
        ClientError::Transport(_) if error.is_untrusted() => {
            "its certificate is not trusted: --ca-file FILE names the authority that signed it"
        }
        ClientError::Transport(_) => {
            "is it running? `evenkeel up` starts one on this machine; `evenkeel doctor` looks closer"
        }
        ClientError::Address(_) => "write it as http://host:port or https://host:port",
        ClientError::Unreadable(_) => {
            "the broker may be of another version: `evenkeel doctor` compares"
        }
        ClientError::Refused { status: 401, .. } => {
            "the key was refused: `evenkeel login URL` stores another"
        }
        ClientError::Refused { status: 403, .. } => {
            "this key may not do that: use another with `evenkeel --key` or `evenkeel login`"
        }
        ClientError::Refused { status: 409, .. } => {
            "somebody else was there in between: look again, then repeat"
        }
        ClientError::Refused { status: 429, .. } => "too many requests: wait a little",
        _ => return None,
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use evenkeel_api::ErrorBody;

    use super::*;

    fn refused(status: u16) -> anyhow::Error {
        let body = ErrorBody {
            code: "x".to_owned(),
            message: "no".to_owned(),
            details: None,
        };
        let error = ClientError::Refused {
            status,
            body,
            retry_after: None,
        };
        anyhow::Error::new(error).context("cannot list stacks")
    }

    #[test]
    fn a_refused_key_leads_to_login() {
        assert_eq!(exit(&refused(401)), Exit::Refused);
        assert!(advice(&refused(401)).unwrap().contains("evenkeel login"));
        assert_eq!(exit(&refused(403)), Exit::Refused);
    }

    #[test]
    fn other_refusals_are_plain_failures() {
        assert_eq!(exit(&refused(500)), Exit::Failed);
        assert_eq!(advice(&refused(500)), None);
    }

    #[test]
    fn no_broker_leads_to_up() {
        let error = Trouble::NoBroker.into();
        assert!(advice(&error).unwrap().contains("evenkeel up"));
        assert_eq!(exit(&error), Exit::Failed);
    }
}
