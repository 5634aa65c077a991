//! Target state: asking what an agent is to hold, cheaply.

use std::time::Duration;

use evenkeel_api::{DeploymentObject, INBOX};
use evenkeel_model::{AgentId, Checksum};
use reqwest::{Method, StatusCode};

use crate::client::{header, parse, send};
use crate::{Client, Result};

/// How much longer than asked for an answer may take.
const MARGIN: Duration = Duration::from_secs(20);

/// How to ask.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Poll {
    /// The version that is known; the answer is then only what differs from it: all or nothing.
    pub known: Option<String>,
    /// How long to wait for another version.
    pub wait: Option<Duration>,
    /// Whether to leave the manifests out.
    pub without_bodies: bool,
}

/// What an agent is to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetState {
    /// Names this state.
    pub version: String,
    /// Whether the agent is to work. If not, the objects are not there because it must not act,
    /// and not because there are none.
    pub active: bool,
    /// Grows when there is a question for the agent: see `agent_diffs`.
    pub inbox: u64,
    /// In ascending order of sequence id.
    pub objects: Vec<DeploymentObject>,
}

impl Client {
    /// What the agent is to hold; `None` if that is still the version that is known.
    pub async fn target_state(&self, id: AgentId, poll: &Poll) -> Result<Option<TargetState>> {
        let wait = poll.wait.unwrap_or_default();
        let mut request = self
            .request(Method::GET, &["agents", &id.to_string(), "target-state"])
            .timeout(wait + MARGIN);
        if poll.wait.is_some() {
            request = request.query(&[("wait", format!("{}ms", wait.as_millis()))]);
        }
        if poll.without_bodies {
            request = request.query(&[("bodies", "false")]);
        }
        if let Some(version) = &poll.known {
            request = request.header("if-none-match", format!("W/\"{version}\""));
        }
        let answer = send(request).await?;
        if answer.status() == StatusCode::NOT_MODIFIED {
            return Ok(None);
        }
        let tag = header(&answer, "etag").unwrap_or_default();
        let version = tag.trim_start_matches("W/").trim_matches('"').to_owned();
        let active = header(&answer, "x-agent-status").is_none_or(|status| status == "ACTIVE");
        let inbox = header(&answer, INBOX).and_then(|text| text.parse().ok());
        Ok(Some(TargetState {
            version,
            active,
            inbox: inbox.unwrap_or_default(),
            objects: parse(answer).await?,
        }))
    }

    /// A manifest that the agent is to hold.
    pub async fn agent_manifest(&self, id: AgentId, checksum: &Checksum) -> Result<String> {
        let path = ["agents", &id.to_string(), "manifests", checksum.as_str()];
        Ok(send(self.request(Method::GET, &path)).await?.text().await?)
    }
}
