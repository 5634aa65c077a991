//! Those who act as somebody else.

use super::User;
use super::attributes::{Attributes, ResourceAct};
use super::authorize;
use super::user::{ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED};
use crate::cluster::Cluster;
use crate::request::{ApiRequest, Impersonation};
use crate::status::ApiError;

const AUTHENTICATION: &str = "authentication.k8s.io";

/// Who a request is to be taken for.
pub(super) fn user(cluster: &Cluster, request: &ApiRequest, actor: User) -> Result<User, ApiError> {
    let wanted = &request.impersonation;
    if wanted.is_empty() {
        return Ok(actor);
    }
    if wanted.user.is_empty() {
        let message = "requested impersonation without impersonating a user";
        return Err(ApiError::internal(format!(
            "Internal Server Error: {:?}: {message}",
            request.path
        )));
    }
    let may = |act: &ResourceAct| {
        authorize::decide(cluster, &actor, &Attributes::Resource(act.clone())).allowed
    };
    if !acts(wanted).iter().all(may) {
        require_constrained(cluster, request, &actor)?;
    }
    Ok(impersonated(wanted))
}

/// Somebody may have the right to act as another for some deeds only: one right for the deed, and
/// one for everything about the other.
fn require_constrained(
    cluster: &Cluster,
    request: &ApiRequest,
    actor: &User,
) -> Result<(), ApiError> {
    let wanted = &request.impersonation;
    let mode = match service_account(&wanted.user) {
        Some(_) => "serviceaccount",
        None => "user-info",
    };
    if let Some(deed) = Attributes::of(request) {
        let verb = format!("impersonate-on:{mode}:{}", deed.verb());
        authorize::require(cluster, actor, &deed.with_verb(verb))?;
    }
    for act in acts(wanted) {
        let act = ResourceAct {
            verb: format!("impersonate:{mode}"),
            group: AUTHENTICATION.into(),
            ..act
        };
        authorize::require(cluster, actor, &Attributes::Resource(act))?;
    }
    Ok(())
}

/// Every right that it takes.
fn acts(wanted: &Impersonation) -> Vec<ResourceAct> {
    let act = |group: &str, resource: &str, name: &str| ResourceAct {
        verb: "impersonate".into(),
        group: group.into(),
        resource: resource.into(),
        name: name.into(),
        ..ResourceAct::default()
    };
    let mut acts = vec![match service_account(&wanted.user) {
        Some((namespace, name)) => {
            let namespace = namespace.to_owned();
            ResourceAct {
                namespace,
                ..act("", "serviceaccounts", name)
            }
        }
        None => act("", "users", &wanted.user),
    }];
    acts.extend(wanted.groups.iter().map(|group| act("", "groups", group)));
    if !wanted.uid.is_empty() {
        acts.push(act(AUTHENTICATION, "uids", &wanted.uid));
    }
    for (key, values) in &wanted.extra {
        acts.extend(values.iter().map(|value| ResourceAct {
            subresource: key.clone(),
            ..act(AUTHENTICATION, "userextras", value)
        }));
    }
    acts
}

fn service_account(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("system:serviceaccount:")?.split_once(':')
}

fn impersonated(wanted: &Impersonation) -> User {
    let mut user = match service_account(&wanted.user) {
        Some((namespace, name)) if wanted.groups.is_empty() => {
            User::service_account(namespace, name)
        }
        _ => User {
            groups: wanted.groups.clone(),
            ..User::named(&wanted.user)
        },
    };
    let known = if wanted.user == ANONYMOUS {
        UNAUTHENTICATED
    } else {
        AUTHENTICATED
    };
    if !user.is_in(AUTHENTICATED) && !user.is_in(UNAUTHENTICATED) {
        user.groups.push(known.to_owned());
    }
    user.uid = wanted.uid.clone();
    user.extra = wanted.extra.clone();
    user
}
