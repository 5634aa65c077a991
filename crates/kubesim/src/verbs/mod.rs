//! What can be done with objects: one file for each verb.
//!
//! ```text
//! path, method ──▶ Call ──▶ get list watch ──────────────────▶ present
//!                      └──▶ create update patch delete ──▶ Writing ──▶ store ──▶ present
//! ```
//!
//! Reads go through the client's sight of the cluster; writes go through [`Writing`], which is
//! also what the cluster's own controllers write with.

mod continuation;
mod create;
mod decode;
mod delete;
mod eviction;
mod get;
mod list;
mod patch;
mod pods;
mod present;
mod removal;
mod review;
mod scale;
mod update;
mod watch;
mod writing;

use http::Method;
use std::sync::Arc;

use crate::access::User;
use crate::cluster::Cluster;
use crate::faults::Sight;
use crate::registry::{Registry, ResourceType, Verb};
use crate::reply::Reply;
use crate::request::{Accept, ApiRequest, Form, ResourcePath};
use crate::status::ApiError;
use crate::store::Key;
use crate::tables::Printer;

pub(crate) use removal::{FOREGROUND, ORPHAN, Removed};
pub(crate) use writing::{Change, Writing};

/// One request about objects, with everything that answering it takes.
struct Call<'a> {
    cluster: &'a Cluster,
    sight: &'a Sight,
    request: &'a ApiRequest,
    user: &'a User,
    path: &'a ResourcePath,
    resource: Arc<ResourceType>,
    /// The same resource in the form in which it is stored, which is what is written.
    stored: Arc<ResourceType>,
    accept: Accept,
    /// Writes tables, when the client wants those.
    printer: Option<Printer>,
    default_manager: String,
}

/// Answers a request about objects.
pub(crate) fn answer(
    cluster: &Cluster,
    sight: &Sight,
    request: &ApiRequest,
    user: &User,
    path: &ResourcePath,
    accept: Accept,
) -> Result<Reply, ApiError> {
    let found = cluster
        .registry()
        .find(&path.group, &path.version, &path.plural);
    let Some(resource) = found.filter(|found| found.namespaced || path.namespace.is_none()) else {
        return match Registry::is_built_in(&path.group) {
            true => Err(ApiError::no_such_resource()),
            false => Ok(Reply::page_not_found()),
        };
    };
    let default_manager = request.default_manager();
    let printer = match accept.form {
        Form::Table(version) => Some(Printer::new(request, version, cluster.ambient())?),
        _ => None,
    };
    let stored = match resource.id == resource.stored {
        true => resource.clone(),
        false => cluster
            .registry()
            .find_stored(&resource.stored)
            .unwrap_or_else(|| resource.clone()),
    };
    Call {
        cluster,
        sight,
        request,
        user,
        path,
        resource,
        stored,
        accept,
        printer,
        default_manager,
    }
    .answer()
    .map(|reply| match resource_is_old(path) {
        true => reply.warn(OLD_ENDPOINTS),
        false => reply,
    })
}

/// What everybody hears who asks for the older form of endpoints.
const OLD_ENDPOINTS: &str =
    "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";

fn resource_is_old(path: &ResourcePath) -> bool {
    path.group.is_empty() && path.plural == "endpoints"
}

impl Call<'_> {
    fn answer(&self) -> Result<Reply, ApiError> {
        if self.path.watched {
            self.allowed(Verb::Watch)?;
            return self.watch();
        }
        match (&self.path.name, &self.path.subresource) {
            (None, _) => self.answer_collection(),
            (Some(name), None) => self.answer_object(name),
            (Some(name), Some(subresource)) => self.answer_subresource(name, subresource),
        }
    }

    fn answer_collection(&self) -> Result<Reply, ApiError> {
        let everywhere = self.resource.namespaced && self.path.namespace.is_none();
        match self.request.method {
            Method::GET if self.request.query.switch("watch") == Some(true) => {
                self.allowed(Verb::Watch)?;
                self.watch()
            }
            Method::GET => {
                self.allowed(Verb::List)?;
                self.list()
            }
            Method::POST if !everywhere => {
                self.allowed(Verb::Create)?;
                self.create()
            }
            Method::DELETE if !everywhere => {
                self.allowed(Verb::DeleteCollection)?;
                self.delete_collection()
            }
            _ => Err(ApiError::method_not_allowed()),
        }
    }

    fn answer_object(&self, name: &str) -> Result<Reply, ApiError> {
        if self.resource.namespaced && self.path.namespace.is_none() {
            return Err(ApiError::no_such_resource());
        }
        match self.request.method {
            Method::GET => {
                self.allowed(Verb::Get)?;
                self.get(name)
            }
            Method::PUT => {
                self.allowed(Verb::Update)?;
                self.update(name, "")
            }
            Method::PATCH => {
                self.allowed(Verb::Patch)?;
                self.patch(name, "")
            }
            Method::DELETE => {
                self.allowed(Verb::Delete)?;
                self.delete(name)
            }
            _ => Err(ApiError::method_not_allowed()),
        }
    }

    fn answer_subresource(&self, name: &str, subresource: &str) -> Result<Reply, ApiError> {
        let Some(known) = self.resource.subresource(subresource) else {
            return Err(match self.resource.is_custom() {
                true => ApiError::not_found(&self.resource.id, name),
                false => ApiError::no_such_resource(),
            });
        };
        let verb = match self.request.method {
            Method::GET => Verb::Get,
            Method::PUT => Verb::Update,
            Method::PATCH => Verb::Patch,
            Method::POST => Verb::Create,
            _ => return Err(ApiError::method_not_allowed()),
        };
        if !known.verbs.contains(&verb) {
            return Err(ApiError::method_not_allowed());
        }
        match (subresource, verb) {
            ("scale", _) => self.scale(name, verb),
            ("status" | "finalize" | "ephemeralcontainers" | "resize" | "approval", Verb::Get) => {
                self.get(name)
            }
            (
                "status" | "finalize" | "ephemeralcontainers" | "resize" | "approval",
                Verb::Update,
            ) => self.update(name, subresource),
            ("status" | "ephemeralcontainers" | "resize" | "approval", Verb::Patch) => {
                self.patch(name, subresource)
            }
            ("binding", Verb::Create) => self.bind(name),
            ("eviction", Verb::Create) => self.evict(name),
            ("token", Verb::Create) => self.token(name),
            _ => Err(unserved(subresource)),
        }
    }

    fn allowed(&self, verb: Verb) -> Result<(), ApiError> {
        if self.resource.verbs.contains(&verb) {
            return Ok(());
        }
        Err(ApiError::method_not_allowed())
    }

    /// Where an object of this name is.
    fn key(&self, name: &str) -> Key {
        Key::new(self.path.namespace.as_deref(), name)
    }
}

fn unserved(subresource: &str) -> ApiError {
    let message = match subresource {
        "attach" | "exec" | "log" | "portforward" | "proxy" => {
            format!(
                "no containers run in a simulated cluster: there is nothing behind {subresource:?}"
            )
        }
        other => format!("the simulator does not serve {other:?}"),
    };
    ApiError::new(501, "NotImplemented", message)
}
