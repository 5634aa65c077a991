//! What roles and bindings allow.

use serde_json::Value;

use super::User;
use super::attributes::Attributes;
use super::rule::Rule;
use crate::cluster::Cluster;
use crate::meta;
use crate::status::ApiError;
use crate::store::{Key, Object, ResourceId};

pub(super) const GROUP: &str = "rbac.authorization.k8s.io";

/// What became of a question.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) allowed: bool,
    /// Why, if there is something to say.
    pub(super) reason: String,
    /// What stood in the way of a full answer.
    pub(super) trouble: String,
}

/// Refuses what is not allowed.
pub(super) fn require(
    cluster: &Cluster,
    user: &User,
    attributes: &Attributes,
) -> Result<(), ApiError> {
    let decision = decide(cluster, user, attributes);
    match decision.allowed {
        true => Ok(()),
        false => Err(attributes.forbidden(&user.name, &decision.reason)),
    }
}

/// Asks the bindings of the cluster, then those of the namespace.
pub(super) fn decide(cluster: &Cluster, user: &User, attributes: &Attributes) -> Decision {
    if user.is_master() || cluster.rights().is_none() {
        return Decision {
            allowed: true,
            ..Decision::default()
        };
    }
    let mut troubles = Vec::new();
    for grant in grants(cluster, user, attributes.namespace()) {
        match grant.rules {
            Ok(rules) if rules.iter().any(|rule| rule.allows(attributes)) => {
                let reason = format!("RBAC: allowed by {}", grant.origin);
                return Decision {
                    allowed: true,
                    reason,
                    ..Decision::default()
                };
            }
            Ok(_) => {}
            Err(trouble) => troubles.push(trouble),
        }
    }
    let trouble = match troubles.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    };
    let reason = match trouble.as_str() {
        "" => String::new(),
        trouble => format!("RBAC: {trouble}"),
    };
    Decision {
        allowed: false,
        reason,
        trouble,
    }
}

/// All rules that a user has in a namespace, or in the whole cluster.
pub(super) fn rules(cluster: &Cluster, user: &User, namespace: &str) -> Vec<Rule> {
    let grants = grants(cluster, user, namespace).into_iter();
    grants
        .filter_map(|grant| grant.rules.ok())
        .flatten()
        .collect()
}

/// What one binding gives.
struct Grant {
    /// The binding, in words.
    origin: String,
    rules: Result<Vec<Rule>, String>,
}

fn grants(cluster: &Cluster, user: &User, namespace: &str) -> Vec<Grant> {
    let everywhere = bindings(cluster, "clusterrolebindings", None);
    let here = match namespace {
        "" => Vec::new(),
        namespace => bindings(cluster, "rolebindings", Some(namespace)),
    };
    let everywhere = everywhere
        .iter()
        .filter_map(|binding| grant(cluster, user, binding, ""));
    let here = here
        .iter()
        .filter_map(|binding| grant(cluster, user, binding, namespace));
    everywhere.chain(here).collect()
}

fn bindings(cluster: &Cluster, plural: &str, namespace: Option<&str>) -> Vec<Object> {
    let snapshot = cluster.store().snapshot(&ResourceId::new(GROUP, plural));
    snapshot
        .in_namespace(namespace)
        .map(|(_, binding)| binding.clone())
        .collect()
}

fn grant(cluster: &Cluster, user: &User, binding: &Value, namespace: &str) -> Option<Grant> {
    let subjects = binding["subjects"].as_array()?;
    let subject = subjects
        .iter()
        .find(|subject| is_about(subject, user, namespace))?;
    let role = &binding["roleRef"];
    let (kind, name) = (text(&role["kind"]), text(&role["name"]));
    let (bound, own) = match namespace {
        "" => ("ClusterRoleBinding", meta::name(binding).to_owned()),
        namespace => (
            "RoleBinding",
            format!("{}/{namespace}", meta::name(binding)),
        ),
    };
    let to = describe(subject, namespace);
    Some(Grant {
        origin: format!("{bound} {own:?} of {kind} {name:?} to {to}"),
        rules: role_rules(cluster, role, namespace),
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn is_about(subject: &Value, user: &User, namespace: &str) -> bool {
    let name = text(&subject["name"]);
    match text(&subject["kind"]) {
        "User" => user.name == name,
        "Group" => user.is_in(name),
        "ServiceAccount" => {
            let own = text(&subject["namespace"]);
            let place = if own.is_empty() { namespace } else { own };
            user.name == format!("system:serviceaccount:{place}:{name}")
        }
        _ => false,
    }
}

fn describe(subject: &Value, namespace: &str) -> String {
    let (kind, name) = (text(&subject["kind"]), text(&subject["name"]));
    if kind != "ServiceAccount" {
        return format!("{kind} {name:?}");
    }
    let own = text(&subject["namespace"]);
    let place = if own.is_empty() { namespace } else { own };
    let name = format!("{name}/{place}");
    format!("{kind} {name:?}")
}

/// The rules of the role that a binding names, or that there is none.
pub(super) fn role_rules(
    cluster: &Cluster,
    role: &Value,
    namespace: &str,
) -> Result<Vec<Rule>, String> {
    let name = text(&role["name"]);
    let (plural, key) = match text(&role["kind"]) {
        "Role" => ("roles", Key::namespaced(namespace, name)),
        _ => ("clusterroles", Key::cluster(name)),
    };
    let found = cluster.store().get(&ResourceId::new(GROUP, plural), &key);
    let singular = plural.trim_end_matches('s');
    found
        .map(|role| Rule::all_of(&role))
        .ok_or_else(|| format!("{singular}.{GROUP} {name:?} not found"))
}
