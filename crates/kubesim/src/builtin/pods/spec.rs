//! The rules of a pod's spec.

use std::collections::HashSet;

use super::super::at::At;
use super::super::rules::Faults;
use super::super::{metadata, names};
use super::{containers, volumes};
use crate::field_error::FieldError;

pub(in crate::builtin) fn check_spec(spec: &At<'_>, claims: &[&str], faults: &mut Faults) {
    let grace = spec.field("terminationGracePeriodSeconds");
    if !grace.is_set() {
        faults.add(grace.required(""));
    }
    let (volumes, main, init) = (
        spec.field("volumes"),
        spec.field("containers"),
        spec.field("initContainers"),
    );
    let mut volumes = volumes::check(&volumes, faults);
    volumes.extend(claims);
    let mut names = HashSet::new();
    containers::check(&main, &volumes, &mut names, faults);
    containers::check_init(&init, &volumes, &mut names, faults);
    check_policies(spec, faults);
    metadata::labels(
        &spec.value["nodeSelector"],
        &spec.path.child("nodeSelector"),
        &mut faults.0,
    );
    check_names(spec, faults);
    check_deadline(&spec.field("activeDeadlineSeconds"), faults);
    for toleration in spec.field("tolerations").items() {
        check_toleration(&toleration, faults);
    }
    check_placement(spec, faults);
}

fn check_placement(spec: &At<'_>, faults: &mut Faults) {
    let affinity = spec.field("affinity");
    let node = affinity.field("nodeAffinity");
    let required = node.field("requiredDuringSchedulingIgnoredDuringExecution");
    if required.is_set() {
        let words = "must have at least one node selector term";
        faults.require(&required.field("nodeSelectorTerms"), words);
    }
    for constraint in spec.field("topologySpreadConstraints").items() {
        let skew = constraint.field("maxSkew");
        if skew.integer().unwrap_or(0) <= 0 {
            faults.add(skew.invalid("must be greater than zero"));
        }
        faults.require(&constraint.field("topologyKey"), "can not be empty");
        let choices = ["DoNotSchedule", "ScheduleAnyway"];
        faults.one_of(&constraint.field("whenUnsatisfiable"), &choices);
    }
}

fn check_policies(spec: &At<'_>, faults: &mut Faults) {
    let restarts = ["Always", "OnFailure", "Never"];
    faults.require_one_of(&spec.field("restartPolicy"), &restarts);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    faults.require_one_of(&spec.field("dnsPolicy"), &policies);
    faults.one_of(
        &spec.field("preemptionPolicy"),
        &["PreemptLowerPriority", "Never"],
    );
}

fn check_names(spec: &At<'_>, faults: &mut Faults) {
    let rules: [(&str, names::TextRule); 6] = [
        ("serviceAccountName", names::dns1123_subdomain),
        ("nodeName", names::dns1123_subdomain),
        ("hostname", names::dns1123_label),
        ("subdomain", names::dns1123_label),
        ("priorityClassName", names::dns1123_subdomain),
        ("runtimeClassName", names::dns1123_subdomain),
    ];
    for (name, rule) in rules {
        let at = spec.field(name);
        if !at.is_empty() {
            faults.name(&at, rule);
        }
    }
}

fn check_deadline(deadline: &At<'_>, faults: &mut Faults) {
    let range = 1..=i64::from(i32::MAX);
    if deadline
        .integer()
        .is_some_and(|seconds| !range.contains(&seconds))
    {
        faults.add(deadline.invalid("must be between 1 and 2147483647, inclusive"));
    }
}

fn check_toleration(toleration: &At<'_>, faults: &mut Faults) {
    let (key, operator) = (toleration.field("key"), toleration.field("operator"));
    if !key.is_empty() {
        faults.name(&key, names::qualified_name);
    }
    if key.is_empty() && operator.text() != "Exists" {
        let words = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        faults.add(FieldError::invalid(&operator.path, operator.text(), words));
    }
    let effect = toleration.field("effect");
    if toleration.field("tolerationSeconds").is_set() && effect.text() != "NoExecute" {
        let words = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        faults.add(FieldError::invalid(&effect.path, effect.text(), words));
    }
    match operator.text() {
        "" | "Equal" => faults.name(&toleration.field("value"), names::label_value),
        "Exists" => {
            if !toleration.field("value").is_empty() {
                let words = "value must be empty when `operator` is 'Exists'";
                faults.add(FieldError::invalid(
                    &operator.path,
                    toleration.field("value").text(),
                    words,
                ));
            }
        }
        _ => faults.add(operator.not_supported(&["Equal", "Exists"])),
    }
    let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    if !effect.is_empty() {
        faults.one_of(&effect, &effects);
    }
}
