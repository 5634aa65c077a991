//! What is asked for, as rights see it.

use http::Method;
use serde_json::Value;

use crate::registry::Verb;
use crate::request::{ApiRequest, Route};
use crate::status::{ApiError, Details};
use crate::store::ResourceId;

/// One act on resources or on a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Attributes {
    Resource(ResourceAct),
    Path { verb: String, path: String },
}

/// One act on resources. Empty texts mean all, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ResourceAct {
    pub(super) verb: String,
    pub(super) group: String,
    pub(super) resource: String,
    pub(super) subresource: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

impl Attributes {
    /// What a request asks for; nothing when no right covers its method.
    pub(super) fn of(request: &ApiRequest) -> Option<Self> {
        let Route::Resource(path) = &request.route else {
            let verb = request.method.as_str().to_lowercase();
            let path = request.path.clone();
            return Some(Self::Path { verb, path });
        };
        let one = path.name.is_some();
        let watched = path.watched || request.query.switch("watch") == Some(true);
        let verb = match request.method {
            Method::GET | Method::HEAD if watched => Verb::Watch,
            Method::GET | Method::HEAD if one => Verb::Get,
            Method::GET | Method::HEAD => Verb::List,
            Method::POST => Verb::Create,
            Method::PUT => Verb::Update,
            Method::PATCH => Verb::Patch,
            Method::DELETE if one => Verb::Delete,
            Method::DELETE => Verb::DeleteCollection,
            _ => return None,
        };
        let is_namespace = path.plural == "namespaces" && path.group.is_empty();
        let namespace = match is_namespace {
            true => path.name.clone(),
            false => path.namespace.clone(),
        };
        Some(Self::Resource(ResourceAct {
            verb: verb.as_str().to_owned(),
            group: path.group.clone(),
            resource: path.plural.clone(),
            subresource: path.subresource.clone().unwrap_or_default(),
            namespace: namespace.unwrap_or_default(),
            name: path.name.clone().unwrap_or_default(),
        }))
    }

    /// What a review asks about.
    pub(super) fn of_review(spec: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if let Some(act) = spec.get("resourceAttributes").filter(|act| act.is_object()) {
            return Some(Self::Resource(ResourceAct {
                verb: text(&act["verb"]),
                group: text(&act["group"]),
                resource: text(&act["resource"]),
                subresource: text(&act["subresource"]),
                namespace: text(&act["namespace"]),
                name: text(&act["name"]),
            }));
        }
        let act = spec
            .get("nonResourceAttributes")
            .filter(|act| act.is_object())?;
        let (verb, path) = (text(&act["verb"]), text(&act["path"]));
        Some(Self::Path { verb, path })
    }

    pub(super) fn verb(&self) -> &str {
        match self {
            Self::Resource(act) => &act.verb,
            Self::Path { verb, .. } => verb,
        }
    }

    /// The same with another verb.
    pub(super) fn with_verb(self, verb: String) -> Self {
        match self {
            Self::Resource(act) => Self::Resource(ResourceAct { verb, ..act }),
            Self::Path { path, .. } => Self::Path { verb, path },
        }
    }

    pub(super) fn namespace(&self) -> &str {
        match self {
            Self::Resource(act) => &act.namespace,
            Self::Path { .. } => "",
        }
    }

    /// The refusal of this, perhaps with a reason.
    pub(super) fn forbidden(&self, user: &str, reason: &str) -> ApiError {
        let why = match reason {
            "" => self.refusal(user),
            reason => format!("{}: {reason}", self.refusal(user)),
        };
        match self {
            Self::Resource(act) => {
                let id = ResourceId::new(&act.group, &act.resource);
                ApiError::forbidden(&id, &act.name, &why)
            }
            Self::Path { .. } => ApiError::new(403, "Forbidden", format!("forbidden: {why}"))
                .about(Details::default()),
        }
    }

    fn refusal(&self, user: &str) -> String {
        let act = match self {
            Self::Path { verb, path } => {
                return format!("User {user:?} cannot {verb} path {path:?}");
            }
            Self::Resource(act) => act,
        };
        let resource = match act.subresource.as_str() {
            "" => act.resource.clone(),
            part => format!("{}/{part}", act.resource),
        };
        let place = match act.namespace.as_str() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace {namespace:?}"),
        };
        let (verb, group) = (&act.verb, &act.group);
        format!("User {user:?} cannot {verb} resource {resource:?} in API group {group:?} {place}")
    }
}
