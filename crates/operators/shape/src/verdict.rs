//! What is said of a Shape: Accepted, Synced, Ready.

use evenkeel_controller::{ReasonWord, Status, Verdict};
use evenkeel_reconcile::{Acted, report};

use crate::error::Error;
use crate::world::OneShape;

/// What a pass says about the three conditions.
pub(crate) fn of_pass(pass: &Acted<OneShape<'_>>, id: Option<&str>) -> [Verdict; 3] {
    let [mut synced, _] = report(pass).verdicts;
    let errors = pass
        .as_ref()
        .err()
        .into_iter()
        .flat_map(|failed| &failed.failures);
    let refused = errors
        .map(|failed| &failed.error)
        .find(|error| error.is_invalid());
    if let (Status::True, Some(id)) = (synced.status, id) {
        synced.message = format!("{id} is as declared");
    }
    let ready = ready(&synced, id);
    [accepted(refused), synced, ready]
}

/// What can be said when the cloud could not even be looked at.
pub(crate) fn of_failure(error: &Error) -> [Verdict; 3] {
    let nothing = matches!(error, Error::NothingToAdopt(_));
    let (status, reason) = match nothing {
        true => (Status::False, ReasonWord::of("NothingToAdopt")),
        false => (Status::Unknown, ReasonWord::of("ObserveFailed")),
    };
    let synced = verdict("Synced", status, reason, evenkeel_ambient::chain(error));
    let ready = ready(&synced, None);
    [accepted(Some(error).filter(|_| nothing)), synced, ready]
}

fn accepted(refused: Option<&Error>) -> Verdict {
    match refused {
        None => verdict(
            "Accepted",
            Status::True,
            ReasonWord::of("Accepted"),
            String::new(),
        ),
        Some(error) => {
            let why = evenkeel_ambient::chain(error);
            verdict("Accepted", Status::False, ReasonWord::of("Refused"), why)
        }
    }
}

/// Ready when the cloud is as declared and the shape has an id; else for the same reason as not.
fn ready(synced: &Verdict, id: Option<&str>) -> Verdict {
    match (synced.status, id) {
        (Status::True, Some(id)) => {
            let message = format!("{id} is there");
            verdict("Ready", Status::True, ReasonWord::of("Available"), message)
        }
        (status, _) => {
            let status = if status == Status::Unknown {
                status
            } else {
                Status::False
            };
            verdict(
                "Ready",
                status,
                synced.reason.clone(),
                synced.message.clone(),
            )
        }
    }
}

fn verdict(kind: &'static str, status: Status, reason: ReasonWord, message: String) -> Verdict {
    Verdict {
        kind: kind.into(),
        status,
        reason,
        message,
    }
}
