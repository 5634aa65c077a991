//! Target state: what an agent is to hold.

use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use evenkeel_api::{DeploymentObject, INBOX};
use evenkeel_model::{AgentId, Checksum};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::auth::Caller;
use crate::error::{ApiError, Result};
use crate::extract::{Path, Query};
use crate::fleet::TargetState;
use crate::observe::Waited;
use crate::server::{Holdable, Resumed};
use crate::service::{Answer, Asked};

/// Says whether the agent is to work, so that nothing to do can be told from being paused.
const AGENT_STATUS: HeaderName = HeaderName::from_static("x-agent-status");

/// How the target state is asked for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TargetStateQuery {
    /// With `If-None-Match`: holds the answer until something changes, at most so long (`30s`).
    wait: Option<String>,
    /// `false` leaves the manifests out; they can be fetched by checksum.
    bodies: Option<bool>,
    /// What older clients send (`incremental`, `full`). The answer is always complete.
    #[expect(dead_code, reason = "named so that the documentation shows it")]
    mode: Option<String>,
}

/// The deployment objects that the agent is to hold, in ascending order of sequence id.
///
/// Each stack appears at most once, with its newest revision or with the order to remove it. The
/// `ETag` names this state; `If-None-Match` with it answers 304 for as long as nothing changes.
/// `x-evenkeel-inbox` grows when there is a question for the agent (its `diffs`), and so does the
/// `ETag` change. An agent that is not ACTIVE gets an empty list and `x-agent-status: INACTIVE`.
#[utoipa::path(get, path = "/agents/{id}/target-state", tag = "target state",
    params(("id" = AgentId, Path), TargetStateQuery,
        ("if-none-match" = Option<String>, Header, description = "The ETag of the last answer")),
    responses((status = 200, body = Vec<DeploymentObject>), (status = 304)))]
pub(crate) async fn target_state(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<AgentId>,
    Query(query): Query<TargetStateQuery>,
    resumed: Option<Extension<Resumed>>,
    holdable: Option<Extension<Holdable>>,
    headers: HeaderMap,
) -> Result<Response> {
    let asked = Asked {
        known: known(&headers),
        wait: query.wait.as_deref().map(duration).transpose()?,
        bodies: query.bodies.unwrap_or(true),
        resumed: resumed.map(|Extension(resumed)| resumed),
        holdable: holdable.map(|Extension(holdable)| holdable),
    };
    let waits = asked.wait.is_some();
    // Thousands may wait here; what they no longer need goes first.
    drop(headers);
    let mut response = match app.target_state(&caller, id, asked).await? {
        Answer::Unchanged(state) => marked(StatusCode::NOT_MODIFIED.into_response(), &state),
        Answer::Objects(state, objects) => marked(Json(objects).into_response(), &state),
    };
    if waits {
        response.extensions_mut().insert(Waited);
    }
    Ok(response)
}

fn marked(mut response: Response, state: &TargetState) -> Response {
    let headers = response.headers_mut();
    // Weak: the same state has many forms (with bodies or without, compressed or not).
    if let Ok(tag) = HeaderValue::from_str(&format!("W/\"{}\"", state.version)) {
        headers.insert(header::ETAG, tag);
    }
    let status = if state.active { "ACTIVE" } else { "INACTIVE" };
    headers.insert(AGENT_STATUS, HeaderValue::from_static(status));
    headers.insert(HeaderName::from_static(INBOX), state.inbox.into());
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// The versions that the agent says it has.
fn known(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(header::IF_NONE_MATCH).iter();
    let texts = values.filter_map(|value| value.to_str().ok());
    let bare = |tag: &str| {
        tag.trim()
            .trim_start_matches("W/")
            .trim_matches('"')
            .to_owned()
    };
    texts.flat_map(|text| text.split(',')).map(bare).collect()
}

/// `30s`, `500ms`, `1m`, or seconds without a unit.
fn duration(text: &str) -> Result<Duration> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: Option<u64> = digits.parse().ok();
    let duration = number.and_then(|number| match &text[digits.len()..] {
        "ms" => Some(Duration::from_millis(number)),
        "s" | "" => Some(Duration::from_secs(number)),
        "m" => number.checked_mul(60).map(Duration::from_secs),
        _ => None,
    });
    duration.ok_or_else(|| ApiError::bad("invalid_query", "`wait` must look like 30s or 500ms"))
}

/// A manifest that the agent is to hold, by checksum. It never changes.
#[utoipa::path(get, path = "/agents/{id}/manifests/{checksum}", tag = "target state",
    params(("id" = AgentId, Path), ("checksum" = Checksum, Path)),
    responses((status = 200, body = String, content_type = "application/yaml")))]
pub(crate) async fn agent_manifest(
    State(app): State<App>,
    caller: Caller,
    Path((id, checksum)): Path<(AgentId, Checksum)>,
) -> Result<Response> {
    let text = app.agent_manifest(&caller, id, &checksum).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/yaml".to_owned()),
        (header::ETAG, format!("W/\"{checksum}\"")),
        (
            header::CACHE_CONTROL,
            "private, max-age=31536000, immutable".to_owned(),
        ),
    ];
    Ok((headers, text.as_ref().to_owned()).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_people_write_them() {
        let read = |text| duration(text).ok();
        assert_eq!(read("30s"), Some(Duration::from_secs(30)));
        assert_eq!(read("30"), read("30s"));
        assert_eq!(read("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(read("1m"), Some(Duration::from_secs(60)));
        for text in ["", "s", "-1s", "1h", "1.5s", "99999999999999999999s", "1µs"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn versions_are_found_in_every_form_of_the_header() {
        let mut headers = HeaderMap::new();
        headers.append(
            header::IF_NONE_MATCH,
            HeaderValue::from_static("W/\"a\", \"b\""),
        );
        headers.append(header::IF_NONE_MATCH, HeaderValue::from_static("c"));
        assert_eq!(known(&headers), ["a", "b", "c"]);
    }
}
