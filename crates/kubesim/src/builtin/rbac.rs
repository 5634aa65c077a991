//! Roles and their bindings.

use serde_json::Value;

use super::at::At;
use super::kind::Kind;
use super::rules::Faults;
use super::{fill, names, selectors};

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) const KINDS: [Kind; 4] = [
    Kind::plain(GROUP, "Role")
        .named(names::path_segment_name)
        .checks(|role, faults| check_rules(role, true, faults)),
    Kind::plain(GROUP, "ClusterRole")
        .named(names::path_segment_name)
        .checks(check_cluster_role),
    Kind::plain(GROUP, "RoleBinding")
        .named(names::path_segment_name)
        .defaults(default_binding)
        .checks(|binding, faults| check_binding(binding, true, faults))
        .checks_update(role_is_immutable),
    Kind::plain(GROUP, "ClusterRoleBinding")
        .named(names::path_segment_name)
        .defaults(default_binding)
        .checks(|binding, faults| check_binding(binding, false, faults))
        .checks_update(role_is_immutable),
];

fn default_binding(binding: &mut Value) {
    if let Some(role) = fill::part(binding, "roleRef") {
        fill::empty(role, "apiGroup", GROUP);
    }
    for subject in fill::each(binding, "subjects") {
        if matches!(fill::text(subject, "kind"), "User" | "Group") {
            fill::empty(subject, "apiGroup", GROUP);
        }
    }
}

fn check_cluster_role(role: &At<'_>, faults: &mut Faults) {
    check_rules(role, false, faults);
    let aggregation = role.field("aggregationRule");
    if !aggregation.is_set() {
        return;
    }
    let list = aggregation.field("clusterRoleSelectors");
    let words = "at least one clusterRoleSelector required if aggregationRule is non-nil";
    faults.require(&list, words);
    for selector in list.items() {
        selectors::check(&selector, faults);
    }
}

fn check_rules(role: &At<'_>, namespaced: bool, faults: &mut Faults) {
    for rule in role.field("rules").items() {
        check_rule(&rule, namespaced, faults);
    }
}

fn check_rule(rule: &At<'_>, namespaced: bool, faults: &mut Faults) {
    faults.require(
        &rule.field("verbs"),
        "verbs must contain at least one value",
    );
    let urls = rule.field("nonResourceURLs");
    if urls.is_empty() {
        let words = "resource rules must supply at least one api group";
        faults.require(&rule.field("apiGroups"), words);
        let words = "resource rules must supply at least one resource";
        faults.require(&rule.field("resources"), words);
        return;
    }
    if namespaced {
        faults.add(urls.invalid("namespaced rules cannot apply to non-resource URLs"));
    }
    let resources = ["apiGroups", "resources", "resourceNames"];
    if resources.iter().any(|name| !rule.field(name).is_empty()) {
        let words = "rules cannot apply to both regular resources and non-resource URLs";
        faults.add(urls.invalid(words));
    }
}

fn check_binding(binding: &At<'_>, namespaced: bool, faults: &mut Faults) {
    let role = binding.field("roleRef");
    let group = role.field("apiGroup");
    if group.text() != GROUP {
        faults.add(group.not_supported(&[GROUP]));
    }
    let (kind, name) = (role.field("kind"), role.field("name"));
    match (namespaced, kind.text()) {
        (_, "ClusterRole") | (true, "Role") => {}
        (true, _) => faults.add(kind.not_supported(&["Role", "ClusterRole"])),
        (false, _) => faults.add(kind.not_supported(&["ClusterRole"])),
    }
    if faults.require(&name, "") {
        faults.name(&name, |text| names::path_segment_name(text, false));
    }
    for subject in binding.field("subjects").items() {
        check_subject(&subject, namespaced, faults);
    }
}

fn check_subject(subject: &At<'_>, namespaced: bool, faults: &mut Faults) {
    let name = subject.field("name");
    let named = faults.require(&name, "");
    let group = subject.field("apiGroup");
    match subject.field("kind").text() {
        "ServiceAccount" => {
            if named {
                faults.name(&name, names::dns1123_subdomain);
            }
            if !group.is_empty() {
                faults.add(group.not_supported(&[""]));
            }
            if !namespaced {
                faults.require(&subject.field("namespace"), "");
            }
        }
        "User" | "Group" if group.text() == GROUP => {}
        "User" | "Group" => faults.add(group.not_supported(&[GROUP])),
        _ => {
            let kinds = ["ServiceAccount", "User", "Group"];
            faults.add(subject.field("kind").not_supported(&kinds));
        }
    }
}

fn role_is_immutable(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let role = new.field("roleRef");
    if role.value != old.field("roleRef").value {
        let fault = role.invalid("cannot change roleRef");
        faults.add(fault.showing(format!(
            "{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}",
            role.field("apiGroup").value,
            role.field("kind").value,
            role.field("name").value,
        )));
    }
}
