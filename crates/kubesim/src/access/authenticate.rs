//! Who sends a request.

use super::User;
use super::token;
use crate::cluster::Cluster;
use crate::request::ApiRequest;
use crate::status::ApiError;

/// The connection may have told already (a view of somebody, a certificate); else the token does.
pub(super) fn user(cluster: &Cluster, request: &ApiRequest) -> Result<User, ApiError> {
    if let Some(user) = &request.user {
        return Ok(user.clone());
    }
    let Some(token) = bearer(&request.authorization) else {
        return Ok(User::anonymous());
    };
    by_token(cluster, token).ok_or_else(|| ApiError::new(401, "Unauthorized", "Unauthorized"))
}

/// Whose token this is.
pub(super) fn by_token(cluster: &Cluster, token: &str) -> Option<User> {
    let known = cluster.rights().and_then(|rights| rights.tokens.get(token));
    known.cloned().or_else(|| token::read(cluster, token, None))
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.trim().is_empty()).then(|| token.trim())
}
