//! A request in a few words: which verb on which resource.

use std::fmt;

use bytes::Bytes;
use http::{Method, Request};

use crate::registry::Verb;
use crate::request::{Query, ResourcePath, Route};
use crate::store::ResourceId;

/// What a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// What is to be done.
    pub verb: Verb,
    /// To which resource.
    pub resource: ResourceId,
    /// In which namespace, if in one.
    pub namespace: Option<String>,
    /// To which object, if to one.
    pub name: Option<String>,
    /// To which part of it, if only to a part.
    pub subresource: Option<String>,
    /// Whether nothing is to be kept of it.
    pub dry_run: bool,
}

impl Call {
    /// Reads a request; `None` for those that are not about objects, such as discovery.
    pub(super) fn read(request: &Request<Bytes>) -> Option<Self> {
        let Route::Resource(path) = Route::parse(request.uri().path()) else {
            return None;
        };
        let query = Query::parse(request.uri().query().unwrap_or_default());
        Some(Self {
            verb: verb(request.method(), &path, &query)?,
            resource: ResourceId::new(&path.group, &path.plural),
            namespace: path.namespace,
            name: path.name,
            subresource: path.subresource,
            dry_run: query.text("dryRun").is_some(),
        })
    }

    /// Whether the cluster may be different afterwards.
    pub fn is_write(&self) -> bool {
        !self.dry_run && !matches!(self.verb, Verb::Get | Verb::List | Verb::Watch)
    }
}

impl fmt::Display for Call {
    /// `patch deployments.apps/status shop/web`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb.as_str(), self.resource)?;
        if let Some(subresource) = &self.subresource {
            write!(f, "/{subresource}")?;
        }
        match (&self.namespace, &self.name) {
            (None, None) => Ok(()),
            (Some(namespace), name) => write!(f, " {namespace}/{}", name.as_deref().unwrap_or("*")),
            (None, Some(name)) => write!(f, " {name}"),
        }
    }
}

fn verb(method: &Method, path: &ResourcePath, query: &Query) -> Option<Verb> {
    let one = path.name.is_some();
    Some(match *method {
        Method::GET if query.switch("watch") == Some(true) => Verb::Watch,
        Method::GET if one => Verb::Get,
        Method::GET => Verb::List,
        Method::POST => Verb::Create,
        Method::PUT => Verb::Update,
        Method::PATCH => Verb::Patch,
        Method::DELETE if one => Verb::Delete,
        Method::DELETE => Verb::DeleteCollection,
        _ => return None,
    })
}
