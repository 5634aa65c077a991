//! Who asks, and who may: tokens, impersonation, roles and bindings, and the reviews that tell.
//!
//! ```text
//! request ──▶ authenticate ──▶ impersonate ──▶ authorize ──▶ verbs ──▶ escalation (roles, bindings)
//! ```
//!
//! A cluster without rights (the default) takes everybody for an administrator. With rights, it
//! begins with the roles of a real server and asks them before every request. Read [`User`] and
//! [`attributes`] first, then [`authorize`].

mod aggregation;
mod attributes;
mod authenticate;
mod authorize;
mod bootstrap;
mod escalation;
mod impersonate;
mod reviews;
mod rule;
mod token;
mod token_request;
mod user;

use std::collections::HashMap;

use crate::cluster::Cluster;
use crate::request::ApiRequest;
use crate::status::ApiError;

pub(crate) use aggregation::react as aggregate;
pub(crate) use bootstrap::found;
pub(crate) use escalation::confirm;
pub(crate) use reviews::Review;
pub(crate) use token_request::answer as token_request;
pub use user::User;

use attributes::Attributes;

/// Who may come in, on a cluster with rights.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rights {
    /// Those who are known by a token of their own.
    pub(crate) tokens: HashMap<String, User>,
}

/// Lets a request in, or not; who it is that asks.
pub(crate) fn admit(cluster: &Cluster, request: &ApiRequest) -> Result<User, ApiError> {
    if cluster.rights().is_none() {
        return Ok(request.user.clone().unwrap_or_else(|| User::admin("admin")));
    }
    let user = authenticate::user(cluster, request)?;
    let user = impersonate::user(cluster, request, user)?;
    let Some(attributes) = Attributes::of(request) else {
        return Ok(user);
    };
    authorize::require(cluster, &user, &attributes)?;
    Ok(user)
}
