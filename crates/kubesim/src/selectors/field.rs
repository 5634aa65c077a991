//! Field selectors: `path=value` and `path!=value`, joined by commas.
//!
//! Only a few paths can be selected by, and which ones depends on the resource; a real server
//! keeps them as code, so here they are a table.

use serde_json::Value;

use crate::status::ApiError;

/// A parsed field selector.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq)]
struct Term {
    path: String,
    value: String,
    equal: bool,
}

impl FieldSelector {
    /// Reads a selector and checks its paths against those that the resource knows.
    pub(crate) fn parse(text: &str, labels: &FieldLabels) -> Result<Self, ApiError> {
        let mut terms = Vec::new();
        for part in split_terms(text) {
            if !part.is_empty() {
                let term = Term::parse(part).map_err(ApiError::bad_request)?;
                terms.push(labels.resolve(term).map_err(ApiError::bad_request)?);
            }
        }
        Ok(Self { terms })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.terms.iter().all(|term| term.matches(object))
    }
}

impl Term {
    fn parse(text: &str) -> Result<Self, String> {
        let at = text
            .find('=')
            .ok_or_else(|| format!("invalid selector: '{text}'; can't understand '{text}'"))?;
        let (left, right) = (&text[..at], &text[at + 1..]);
        let (path, value, equal) = match left.strip_suffix('!') {
            Some(path) => (path, right, false),
            None => (left, right.strip_prefix('=').unwrap_or(right), true),
        };
        Ok(Self {
            path: path.to_owned(),
            value: unescape(value)?,
            equal,
        })
    }

    fn matches(&self, object: &Value) -> bool {
        let found = self
            .path
            .split('.')
            .try_fold(object, |value, key| value.get(key));
        (text_of(found, &self.path) == self.value) == self.equal
    }
}

/// Absent fields compare as the zero value of their type.
fn text_of(value: Option<&Value>, path: &str) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(flag)) => flag.to_string(),
        Some(Value::Number(number)) => number.to_string(),
        _ if ["spec.unschedulable", "spec.hostNetwork"].contains(&path) => "false".into(),
        _ if ["status.replicas", "status.successful"].contains(&path) => "0".into(),
        _ => String::new(),
    }
}

/// Splits at commas that no backslash protects.
fn split_terms(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        if escaped {
            escaped = false;
        } else if byte == b'\\' {
            escaped = true;
        } else if byte == b',' {
            parts.push(&text[start..at]);
            start = at + 1;
        }
    }
    parts.push(&text[start..]);
    parts
}

fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(escaped @ ('\\' | ',' | '=')) => out.push(escaped),
                other => {
                    let sequence = format!("\\{}", other.map(String::from).unwrap_or_default());
                    return Err(format!(
                        "invalid field selector: invalid escape sequence: {sequence}"
                    ));
                }
            },
            ',' | '=' => {
                let code = u32::from(c);
                return Err(format!(
                    "invalid field selector: unescaped character in value: {code}"
                ));
            }
            plain => out.push(plain),
        }
    }
    Ok(out)
}

/// The paths that objects of one resource can be selected by, and how a server words the refusal
/// of others.
#[derive(Debug, Clone)]
pub(crate) enum FieldLabels {
    /// Name and namespace only.
    Metadata,
    /// These paths as well.
    Listed(&'static [&'static str]),
    /// Events of the newer group: the stored paths differ from the asked ones.
    Events,
    /// A custom resource: its `selectableFields`.
    Custom(Vec<String>),
}

const PODS: &[&str] = &[
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.podIPs",
    "status.nominatedNodeName",
];
const EVENTS: &[&str] = &[
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
];

impl FieldLabels {
    /// The labels of a built-in resource.
    pub(crate) fn builtin(group: &str, plural: &str) -> Self {
        match (group, plural) {
            ("", "pods") => Self::Listed(PODS),
            ("", "events") => Self::Listed(EVENTS),
            ("", "nodes") => Self::Listed(&["spec.unschedulable"]),
            ("", "namespaces") => Self::Listed(&["status.phase"]),
            ("", "secrets") => Self::Listed(&["type"]),
            ("", "services") => Self::Listed(&["spec.clusterIP", "spec.type"]),
            ("", "replicationcontrollers") | ("apps", "replicasets") => {
                Self::Listed(&["status.replicas"])
            }
            ("apps", "statefulsets") | ("batch", "jobs") => Self::Listed(&["status.successful"]),
            ("certificates.k8s.io", "certificatesigningrequests") => {
                Self::Listed(&["spec.signerName"])
            }
            ("resource.k8s.io", "resourceslices") => {
                Self::Listed(&["spec.nodeName", "spec.driver"])
            }
            ("events.k8s.io", "events") => Self::Events,
            _ => Self::Metadata,
        }
    }

    fn resolve(&self, mut term: Term) -> Result<Term, String> {
        if ["metadata.name", "metadata.namespace"].contains(&term.path.as_str()) {
            return Ok(term);
        }
        let path = term.path.as_str();
        let known = match self {
            Self::Metadata => false,
            Self::Listed(paths) => paths.contains(&path),
            Self::Events => {
                term.path = event_path(path).ok_or_else(|| unsupported(path))?;
                return Ok(term);
            }
            Self::Custom(paths) => paths.iter().any(|known| known == path),
        };
        if known {
            Ok(term)
        } else {
            Err(self.refusal(path))
        }
    }

    fn refusal(&self, path: &str) -> String {
        match self {
            Self::Metadata => format!(
                "{path:?} is not a known field selector: only \"metadata.name\", \
                 \"metadata.namespace\""
            ),
            _ => unsupported(path),
        }
    }
}

fn unsupported(path: &str) -> String {
    format!("field label not supported: {path}")
}

/// Where the older group, in whose form events are stored, keeps a field of the newer one.
fn event_path(path: &str) -> Option<String> {
    match path {
        "reason" | "type" => Some(path.to_owned()),
        "reportingController" => Some("reportingComponent".to_owned()),
        _ => {
            let stored = format!("involvedObject.{}", path.strip_prefix("regarding.")?);
            EVENTS.contains(&stored.as_str()).then_some(stored)
        }
    }
}
