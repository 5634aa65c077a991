//! Requests by way of a gateway.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Namespace;

use super::Scene;
use super::error::TranslateError;
use super::settings::KnownNamespaces;
use crate::go::url::Url;

/// Where the gateway reads for whom a request is.
const HOST_HEADER: &str = "x-kagent-host";
const CLUSTER_DOMAIN: &str = ".svc.cluster.local";

/// Sends requests for `url` to the gateway, and says in a header for whom they are.
pub(super) fn route(
    url: &str,
    proxy: &str,
    headers: &mut BTreeMap<String, String>,
) -> Result<String, TranslateError> {
    let target = parse("url", url)?;
    let gateway = parse("proxy url", proxy)?;
    headers.insert(HOST_HEADER.to_owned(), target.host().to_owned());
    Ok(format!(
        "{}://{}{}",
        gateway.scheme, gateway.authority, target.path
    ))
}

fn parse(what: &'static str, text: &str) -> Result<Url, TranslateError> {
    Url::parse(text).ok_or_else(|| TranslateError::Malformed {
        what,
        value: text.to_owned(),
        problem: "is not an address".to_owned(),
    })
}

/// The namespace that decides whether the host of `url` is one of the cluster.
pub(crate) fn namespace_in(url: &str) -> Option<String> {
    let url = Url::parse(url)?;
    let mut parts = url.host().split('.');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(_), Some(namespace), None) => Some(namespace.to_owned()),
        _ => None,
    }
}

/// Whether the host of `url` is one of the cluster.
pub(super) fn is_internal(url: &str, scene: &Scene<'_>) -> bool {
    let host = Url::parse(url)
        .map(|url| url.host().to_owned())
        .unwrap_or_default();
    if host.ends_with(CLUSTER_DOMAIN) {
        return true;
    }
    namespace_in(url).is_some_and(|namespace| match scene.settings.namespaces {
        KnownNamespaces::Assumed => true,
        KnownNamespaces::Fetched => scene.resources.find::<Namespace>("", &namespace).is_some(),
    })
}
