//! Nobody gives what they do not have: roles and bindings are held to the rights of their author.

use serde_json::Value;

use super::User;
use super::attributes::{Attributes, ResourceAct};
use super::authorize::{self, GROUP};
use super::rule::{Rule, quoted};
use crate::cluster::Cluster;
use crate::meta;
use crate::registry::ResourceType;
use crate::status::ApiError;
use crate::store::ResourceId;

/// Refuses a role or a binding that would give more than its author has.
pub(crate) fn confirm(
    cluster: &Cluster,
    user: &User,
    resource: &ResourceType,
    object: &Value,
    before: Option<&Value>,
) -> Result<(), ApiError> {
    if cluster.rights().is_none() || user.is_master() || &*resource.stored.group != GROUP {
        return Ok(());
    }
    let same = |field: &str| before.is_some_and(|before| before.get(field) == object.get(field));
    match &*resource.stored.plural {
        "roles" | "clusterroles" if !(same("rules") && same("aggregationRule")) => {
            confirm_role(cluster, user, &resource.stored, object)
        }
        "rolebindings" | "clusterrolebindings" if !(same("roleRef") && same("subjects")) => {
            confirm_binding(cluster, user, &resource.stored, object)
        }
        _ => Ok(()),
    }
}

fn confirm_role(
    cluster: &Cluster,
    user: &User,
    id: &ResourceId,
    role: &Value,
) -> Result<(), ApiError> {
    let act = ResourceAct {
        verb: "escalate".into(),
        group: GROUP.into(),
        resource: id.plural.to_string(),
        namespace: meta::namespace(role).into(),
        name: meta::name(role).into(),
        ..ResourceAct::default()
    };
    if authorize::decide(cluster, user, &Attributes::Resource(act)).allowed {
        return Ok(());
    }
    if role["aggregationRule"].is_object() {
        let everything = Rule {
            verbs: vec!["*".into()],
            api_groups: vec!["*".into()],
            resources: vec!["*".into()],
            ..Rule::default()
        };
        let paths = Rule {
            verbs: vec!["*".into()],
            non_resource_urls: vec!["*".into()],
            ..Rule::default()
        };
        if held(cluster, user, "", &[everything, paths]).is_err() {
            let why = "must have cluster-admin privileges to use aggregation";
            return Err(ApiError::forbidden(id, meta::name(role), why));
        }
    }
    held(cluster, user, meta::namespace(role), &Rule::all_of(role))
        .map_err(|why| ApiError::forbidden(id, meta::name(role), &why))
}

fn confirm_binding(
    cluster: &Cluster,
    user: &User,
    id: &ResourceId,
    binding: &Value,
) -> Result<(), ApiError> {
    let (role, namespace) = (&binding["roleRef"], meta::namespace(binding));
    let resource = if role["kind"] == "Role" {
        "roles"
    } else {
        "clusterroles"
    };
    let name = role["name"].as_str().unwrap_or_default();
    let act = ResourceAct {
        verb: "bind".into(),
        group: GROUP.into(),
        resource: resource.into(),
        namespace: namespace.into(),
        name: name.into(),
        ..ResourceAct::default()
    };
    if authorize::decide(cluster, user, &Attributes::Resource(act)).allowed {
        return Ok(());
    }
    let rules = authorize::role_rules(cluster, role, namespace)
        .map_err(|_| ApiError::not_found(&ResourceId::new(GROUP, resource), name))?;
    held(cluster, user, namespace, &rules)
        .map_err(|why| ApiError::forbidden(id, meta::name(binding), &why))
}

/// Whether a user has all of these rights; if not, which are missing.
fn held(cluster: &Cluster, user: &User, namespace: &str, wanted: &[Rule]) -> Result<(), String> {
    let own = authorize::rules(cluster, user, namespace);
    let missing: Vec<Rule> = wanted
        .iter()
        .flat_map(Rule::broken_down)
        .filter(|part| !own.iter().any(|rule| rule.includes(part)))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut lines: Vec<String> = compact(missing).iter().map(Rule::text).collect();
    lines.sort();
    lines.dedup();
    Err(format!(
        "user {:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        user.name,
        quoted(&user.groups),
        lines.join("\n")
    ))
}

/// One rule for all verbs on the same thing.
fn compact(rules: Vec<Rule>) -> Vec<Rule> {
    let mut compacted: Vec<Rule> = Vec::new();
    for rule in rules {
        let same = |known: &&mut Rule| {
            let of_paths = !rule.non_resource_urls.is_empty();
            !of_paths
                && known.api_groups == rule.api_groups
                && known.resources == rule.resources
                && known.resource_names == rule.resource_names
        };
        match compacted.iter_mut().find(same) {
            Some(known) => known.verbs.extend(rule.verbs),
            None => compacted.push(rule),
        }
    }
    compacted
}
