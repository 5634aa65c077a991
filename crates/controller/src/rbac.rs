//! The rights that a controller needs, told by what it watches and writes.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule};
use kube::api::ObjectMeta;

use crate::key::ResourceId;

/// What may be done to objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Read one.
    Get,
    /// Read all.
    List,
    /// Be told of changes.
    Watch,
    /// Make one.
    Create,
    /// Replace one.
    Update,
    /// Change one, or apply it.
    Patch,
    /// Remove one.
    Delete,
}

impl Verb {
    /// What watching takes.
    pub const READ: [Self; 3] = [Self::Get, Self::List, Self::Watch];

    /// The word as Kubernetes spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

/// Rights: which verbs on which resources and their parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rights(BTreeMap<(String, String), BTreeSet<Verb>>);

impl Rights {
    /// Adds `verbs` on a resource.
    pub fn allow(&mut self, resource: &ResourceId, verbs: &[Verb]) {
        self.add(resource.group.clone(), resource.plural.clone(), verbs);
    }

    /// Adds `verbs` on a part of a resource, such as its status.
    pub fn allow_part(&mut self, resource: &ResourceId, part: &str, verbs: &[Verb]) {
        let part = format!("{}/{part}", resource.plural);
        self.add(resource.group.clone(), part, verbs);
    }

    fn add(&mut self, group: String, resource: String, verbs: &[Verb]) {
        self.0.entry((group, resource)).or_default().extend(verbs);
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        for ((group, resource), verbs) in &other.0 {
            let known = self.0.entry((group.clone(), resource.clone())).or_default();
            known.extend(verbs);
        }
    }

    /// Whether a request is covered; `resource` with its part, if it is about one.
    pub fn cover(&self, verb: &str, group: &str, resource: &str) -> bool {
        let verbs = self.0.get(&(group.to_owned(), resource.to_owned()));
        verbs.is_some_and(|verbs| verbs.iter().any(|known| known.as_str() == verb))
    }

    /// The rights as a role: one rule for each group and set of verbs.
    pub fn role(&self, name: &str) -> ClusterRole {
        let mut rules: BTreeMap<(&str, &BTreeSet<Verb>), Vec<String>> = BTreeMap::new();
        for ((group, resource), verbs) in &self.0 {
            rules
                .entry((group, verbs))
                .or_default()
                .push(resource.clone());
        }
        let rule =
            |((group, verbs), resources): ((&str, &BTreeSet<Verb>), Vec<String>)| PolicyRule {
                api_groups: Some(vec![group.to_owned()]),
                resources: Some(resources),
                verbs: verbs.iter().map(|verb| verb.as_str().to_owned()).collect(),
                ..PolicyRule::default()
            };
        ClusterRole {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                ..ObjectMeta::default()
            },
            rules: Some(rules.into_iter().map(rule).collect()),
            ..ClusterRole::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_says_what_is_needed_and_no_more() {
        let shapes = ResourceId {
            group: "e.io".to_owned(),
            plural: "shapes".to_owned(),
        };
        let mut rights = Rights::default();
        rights.allow(&shapes, &Verb::READ);
        rights.allow_part(&shapes, "status", &[Verb::Update]);
        assert!(rights.cover("watch", "e.io", "shapes"));
        assert!(rights.cover("update", "e.io", "shapes/status"));
        assert!(!rights.cover("update", "e.io", "shapes"));
        let rules = rights.role("shape").rules.unwrap();
        assert_eq!(rules.len(), 2);
        assert_eq!(rules[0].verbs, ["get", "list", "watch"]);
    }
}
