//! Paths of the API.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// `/`
    Index,
    /// `/version`
    Version,
    /// `/healthz`, `/livez`, `/readyz`
    Health,
    /// `/api`
    CoreVersions,
    /// `/apis`
    Groups,
    /// `/apis/{group}`
    Group(String),
    /// `/api/v1` and `/apis/{group}/{version}`
    Resources { group: String, version: String },
    /// `/openapi/v3`
    OpenApi,
    /// `/openapi/v3/api/v1` and `/openapi/v3/apis/{group}/{version}`
    OpenApiDocument { group: String, version: String },
    /// Objects.
    Resource(ResourcePath),
    /// Nothing that is known.
    Unknown,
}

/// A path to objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ResourcePath {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) namespace: Option<String>,
    pub(crate) plural: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
    /// The older way to ask for a watch: `watch` before the rest of the path.
    pub(crate) watched: bool,
}

impl Route {
    pub(crate) fn parse(path: &str) -> Self {
        let parts: Vec<Cow<'_, str>> = path
            .split('/')
            .filter(|part| !part.is_empty())
            .map(|part| percent_decode_str(part).decode_utf8_lossy())
            .collect();
        let parts: Vec<&str> = parts.iter().map(|part| &**part).collect();
        match parts.as_slice() {
            [] => Self::Index,
            ["version"] => Self::Version,
            ["healthz" | "livez" | "readyz", ..] => Self::Health,
            ["api"] => Self::CoreVersions,
            ["api", version] => Self::resources("", version),
            ["api", version, rest @ ..] => Self::objects("", version, rest),
            ["apis"] => Self::Groups,
            ["apis", group] => Self::Group((*group).to_owned()),
            ["apis", group, version] => Self::resources(group, version),
            ["apis", group, version, rest @ ..] => Self::objects(group, version, rest),
            ["openapi", "v3"] => Self::OpenApi,
            ["openapi", "v3", "api", version] => Self::document("", version),
            ["openapi", "v3", "apis", group, version] => Self::document(group, version),
            _ => Self::Unknown,
        }
    }

    fn document(group: &str, version: &str) -> Self {
        Self::OpenApiDocument {
            group: group.to_owned(),
            version: version.to_owned(),
        }
    }

    fn resources(group: &str, version: &str) -> Self {
        Self::Resources {
            group: group.to_owned(),
            version: version.to_owned(),
        }
    }

    /// `[namespaces/{namespace}/]{plural}[/{name}[/{subresource}]]`; below a namespace, `status`
    /// and `finalize` are the namespace's own.
    fn objects(group: &str, version: &str, parts: &[&str]) -> Self {
        let (watched, parts) = match parts {
            ["watch", rest @ ..] if !rest.is_empty() => (true, rest),
            _ => (false, parts),
        };
        let (namespace, parts) = match parts {
            ["namespaces", _, "status" | "finalize"] => (None, parts),
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some(*namespace), rest),
            _ => (None, parts),
        };
        let (plural, name, subresource) = match parts {
            [plural] => (*plural, None, None),
            [plural, name] => (*plural, Some(*name), None),
            [plural, name, subresource] => (*plural, Some(*name), Some(*subresource)),
            _ => return Self::Unknown,
        };
        Self::Resource(ResourcePath {
            group: group.to_owned(),
            version: version.to_owned(),
            namespace: namespace.map(str::to_owned),
            plural: plural.to_owned(),
            name: name.map(str::to_owned),
            subresource: subresource.map(str::to_owned),
            watched,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(path: &str) -> (Option<String>, String, Option<String>, Option<String>) {
        let Route::Resource(found) = Route::parse(path) else {
            panic!("{path}: no resource")
        };
        (found.namespace, found.plural, found.name, found.subresource)
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn namespaces_are_both_objects_and_places() {
        assert_eq!(
            object("/api/v1/namespaces"),
            (None, "namespaces".into(), None, None)
        );
        assert_eq!(
            object("/api/v1/namespaces/a"),
            (None, "namespaces".into(), some("a"), None)
        );
        assert_eq!(
            object("/api/v1/namespaces/a/finalize"),
            (None, "namespaces".into(), some("a"), some("finalize"))
        );
        assert_eq!(
            object("/apis/apps/v1/namespaces/a/deployments/b/scale"),
            (some("a"), "deployments".into(), some("b"), some("scale"))
        );
    }

    #[test]
    fn escapes_in_names_are_decoded() {
        let path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode";
        assert_eq!(object(path).2, some("system:node"));
    }

    #[test]
    fn what_is_not_the_api_is_unknown() {
        assert_eq!(Route::parse("/nope"), Route::Unknown);
        assert_eq!(Route::parse("/api/v1/a/b/c/d/e"), Route::Unknown);
        assert_eq!(Route::parse("//"), Route::Index);
    }
}
