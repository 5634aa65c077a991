//! Who may do what, and who asks for a certificate.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{Cells, condition, name_and_creation};
use crate::tables::text::{NONE, items, or, text};
use crate::tables::{Seen, human_duration};

pub(super) fn cells(plural: &str) -> Cells {
    match plural {
        "rolebindings" | "clusterrolebindings" => binding,
        "certificatesigningrequests" => signing_request,
        _ => name_and_creation,
    }
}

fn binding(seen: Seen<'_>) -> Vec<Value> {
    let role = &seen.object["roleRef"];
    let subjects = &seen.object["subjects"];
    vec![
        json!(seen.name()),
        json!(format!("{}/{}", text(&role["kind"]), text(&role["name"]))),
        json!(seen.age()),
        json!(subjects_of(subjects, "User")),
        json!(subjects_of(subjects, "Group")),
        json!(subjects_of(subjects, "ServiceAccount")),
    ]
}

fn subjects_of(subjects: &Value, kind: &str) -> String {
    let subjects = items(subjects)
        .iter()
        .filter(|subject| subject["kind"] == kind);
    let names = subjects.map(|subject| match kind {
        "ServiceAccount" => format!("{}/{}", text(&subject["namespace"]), text(&subject["name"])),
        _ => text(&subject["name"]).to_owned(),
    });
    names.collect::<Vec<_>>().join(", ")
}

fn signing_request(seen: Seen<'_>) -> Vec<Value> {
    let spec = seen.spec();
    let duration = spec["expirationSeconds"]
        .as_i64()
        .map(SignedDuration::from_secs);
    vec![
        json!(seen.name()),
        json!(seen.age()),
        json!(or(&spec["signerName"], NONE)),
        json!(text(&spec["username"])),
        json!(duration.map_or(NONE.to_owned(), human_duration)),
        json!(signing_state(seen.status())),
    ]
}

fn signing_state(status: &Value) -> String {
    let is = |kind| condition(status, kind).is_some();
    let mut state = match () {
        () if is("Denied") => "Denied",
        () if is("Approved") => "Approved",
        () => "Pending",
    }
    .to_owned();
    if is("Failed") {
        state.push_str(",Failed");
    }
    if !text(&status["certificate"]).is_empty() {
        state.push_str(",Issued");
    }
    state
}
