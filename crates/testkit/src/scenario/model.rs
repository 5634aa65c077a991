//! What a scenario can say.
//!
//! ```yaml
//! - name: a-second-create-is-refused
//!   steps:
//!     - do: POST cm                      # "cm" is /api/v1/namespaces/{{ns}}/configmaps
//!       body: {metadata: {name: a}}      # apiVersion and kind (and, for apply, the name) are filled in
//!       id: made                         # later steps may say {{made:/metadata/uid}}
//!     - do: POST cm
//!       body: {metadata: {name: a}}
//! ```
//!
//! Every scenario has a namespace of its own, `{{ns}}`.

use std::collections::BTreeMap;

use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::real::User;

/// A story told to a cluster, and its name.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Names the scenario within its area; also the last part of its namespace's name.
    pub name: String,
    /// The directory that its file is in. Filled in by the library.
    #[serde(default, skip)]
    pub area: String,
    /// Custom resource definitions of `scenarios/definitions/` that must be served.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<String>,
    /// Whether workloads run: controllers, a scheduler and three nodes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub workloads: bool,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

impl Scenario {
    /// The name by which `GAPS.md` knows it.
    pub fn id(&self) -> String {
        format!("{}/{}", self.area, self.name)
    }

    /// Whether somebody but the administrator asks.
    pub fn has_users(&self) -> bool {
        self.area == "access" || self.steps.iter().any(|step| step.details.user.is_some())
    }

    /// The namespace that is its own.
    pub fn namespace(&self) -> String {
        let mut name = format!("{}-{}", self.area, self.name);
        name.truncate(55);
        name.trim_end_matches('-').to_owned()
    }
}

/// One step.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "StepText", into = "StepText")]
pub struct Step {
    /// What kind of step it is.
    pub action: Action,
    /// The request that it makes.
    pub request: RequestLine,
    /// Everything else about the request.
    pub details: Details,
}

/// How the reply to a step is taken.
#[derive(Debug, Clone)]
pub enum Action {
    /// Once, as it comes.
    Do,
    /// Repeated until the condition holds (or patience ends); the last reply counts.
    Wait(Until),
    /// As a stream of events: so many, or all until the stream ends. The inner steps are made
    /// while the stream is open.
    Watch(Option<usize>, Vec<Step>),
}

/// When a wait is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Until {
    /// The reply has this status code.
    Code(u16),
    /// The reply's body has these values at these JSON pointers (null: nothing there).
    Values(BTreeMap<String, Value>),
}

/// `METHOD target`; a target that does not begin with a slash begins with a short name.
#[derive(Debug, Clone)]
pub struct RequestLine {
    /// The HTTP method.
    pub method: Method,
    /// Path and query, with short name and `{{...}}` not yet replaced.
    pub target: String,
}

/// The optional parts of a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// A name for the reply, so that later steps can use values of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The reply (by name) that the body starts from; `body` is merged into it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The body as data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// The body as text, sent as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// Do not fill apiVersion and kind in.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bare: bool,
    /// `apply`, `merge`, `json`, `strategic`, `yaml` or a media type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The Accept header; `table` stands for that of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept: Option<String>,
    /// The User-Agent header, from which the server takes a manager's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Who asks.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub user: Option<Who>,
    /// Keep only these parts of the reply, as JSON pointers; `*` stands for every item of a list,
    /// of which the values are kept in an order of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Further headers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Keep only the status code of the reply: the step prepares something.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub quiet: bool,
}

/// Who asks, in a scenario's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Who {
    /// Someone without rights.
    Agent,
    /// Someone without a name.
    Anonymous,
}

impl From<Option<Who>> for User {
    fn from(who: Option<Who>) -> Self {
        match who {
            None => Self::Admin,
            Some(Who::Agent) => Self::Agent,
            Some(Who::Anonymous) => Self::Anonymous,
        }
    }
}

/// A step as it is written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct StepText {
    #[serde(rename = "do", skip_serializing_if = "Option::is_none")]
    request: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Until>,
    #[serde(skip_serializing_if = "Option::is_none")]
    watch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    during: Vec<Step>,
    #[serde(flatten)]
    details: Details,
}

impl TryFrom<StepText> for Step {
    type Error = String;

    fn try_from(text: StepText) -> Result<Self, String> {
        let (action, line) = match (text.request, text.wait, text.watch) {
            (Some(line), None, None) => (Action::Do, line),
            (None, Some(line), None) => {
                let until = text.until.ok_or("a wait needs `until`")?;
                (Action::Wait(until), line)
            }
            (None, None, Some(target)) => (
                Action::Watch(text.events, text.during),
                format!("GET {target}"),
            ),
            _ => return Err("a step has one of `do`, `wait` and `watch`".into()),
        };
        let (method, target) = line.split_once(' ').ok_or("want `METHOD target`")?;
        let method = method
            .parse()
            .map_err(|_| format!("{method:?} is no method"))?;
        let request = RequestLine {
            method,
            target: target.to_owned(),
        };
        Ok(Self {
            action,
            request,
            details: text.details,
        })
    }
}

impl From<Step> for StepText {
    fn from(step: Step) -> Self {
        let line = format!("{} {}", step.request.method, step.request.target);
        let mut text = Self {
            details: step.details,
            ..Self::default()
        };
        match step.action {
            Action::Do => text.request = Some(line),
            Action::Wait(until) => {
                text.wait = Some(line);
                text.until = Some(until);
            }
            Action::Watch(events, during) => {
                text.watch = Some(step.request.target);
                text.events = events;
                text.during = during;
            }
        }
        text
    }
}
