//! Those who ask.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The group whose members may do everything.
pub(super) const MASTERS: &str = "system:masters";
pub(super) const AUTHENTICATED: &str = "system:authenticated";
pub(super) const UNAUTHENTICATED: &str = "system:unauthenticated";
pub(super) const ANONYMOUS: &str = "system:anonymous";

/// Somebody who asks: a person, a program, a service account, or nobody in particular.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// How roles and errors name them.
    pub name: String,
    /// What tells them from others who had the name before.
    pub uid: String,
    /// The groups that they belong to.
    pub groups: Vec<String>,
    /// What else is known of them.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// Somebody with this name, who may do what roles allow.
    pub fn named(name: &str) -> Self {
        Self::of(name, &[AUTHENTICATED])
    }

    /// Somebody who may do everything.
    pub fn admin(name: &str) -> Self {
        Self::of(name, &[MASTERS, AUTHENTICATED])
    }

    /// A service account, as it is known when it shows its token.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        let of_namespace = format!("system:serviceaccounts:{namespace}");
        let groups = ["system:serviceaccounts", &of_namespace, AUTHENTICATED];
        Self::of(
            &format!("system:serviceaccount:{namespace}:{name}"),
            &groups,
        )
    }

    /// The same, also a member of this group.
    #[must_use]
    pub fn in_group(mut self, group: &str) -> Self {
        self.groups.insert(0, group.to_owned());
        self
    }

    pub(crate) fn anonymous() -> Self {
        Self::of(ANONYMOUS, &[UNAUTHENTICATED])
    }

    fn of(name: &str, groups: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            uid: String::new(),
            groups: groups.iter().map(ToString::to_string).collect(),
            extra: BTreeMap::new(),
        }
    }

    pub(super) fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|known| known == group)
    }

    pub(super) fn is_master(&self) -> bool {
        self.is_in(MASTERS)
    }

    /// As reviews show it.
    pub(crate) fn to_value(&self) -> Value {
        let mut value = json!({"username": self.name, "groups": self.groups});
        if !self.uid.is_empty() {
            value["uid"] = self.uid.as_str().into();
        }
        if !self.extra.is_empty() {
            value["extra"] = json!(self.extra);
        }
        value
    }
}
