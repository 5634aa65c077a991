//! Pods, and the templates of pods in all workloads.

mod admission;
mod containers;
mod defaults;
mod probes;
mod spec;
mod volumes;
mod warnings;

use serde_json::{Value, json};

use super::at::At;
use super::fill;
use super::kind::Kind;
use super::metadata;
use super::rules::Faults;
use crate::strategy::Surroundings;

pub(super) use defaults::default_template;
pub(super) use spec::check_spec;
pub(super) use warnings::of_spec as warnings;

pub(super) const KINDS: [Kind; 2] = [
    Kind::plain("", "Pod")
        .counted()
        .defaults(defaults::default_pod)
        .prepares(prepare)
        .checks(|pod, faults| check_spec(&pod.field("spec"), &[], faults))
        .checks_update(check_update)
        .warns(|pod| warnings(&pod.field("spec"))),
    Kind::plain("", "PodTemplate")
        .counted()
        .defaults(|object| {
            if let Some(template) = fill::part(object, "template") {
                default_template(template);
            }
        })
        .checks(|object, faults| check_template(&object.field("template"), &[], faults))
        .warns(|object| warnings(&object.field("template").field("spec"))),
];

/// A template: metadata that may be in it, and the spec. Beside its own volumes, the pods will have
/// one for each of `claims`.
pub(super) fn check_template(template: &At<'_>, claims: &[&str], faults: &mut Faults) {
    metadata::validate_template(&template.value["metadata"], &template.path, &mut faults.0);
    let spec = template.field("spec");
    check_spec(&spec, claims, faults);
    let ephemeral = spec.field("ephemeralContainers");
    if !ephemeral.is_empty() {
        faults.add(ephemeral.forbidden("ephemeral containers not allowed in pod template"));
    }
}

fn prepare(pod: &mut Value, around: &dyn Surroundings) {
    if let Some(spec) = fill::part(pod, "spec") {
        admission::admit(spec, around);
    }
    let class = quality(&pod["spec"]);
    pod["status"] = json!({"phase": "Pending", "qosClass": class});
}

/// How much the pod promises to need, which decides who is evicted first.
fn quality(spec: &Value) -> &'static str {
    let lists = ["containers", "initContainers"];
    let containers = lists
        .iter()
        .flat_map(|list| spec[list].as_array().into_iter().flatten());
    let (mut any, mut all) = (false, true);
    for container in containers {
        let resources = &container["resources"];
        let (limits, requests) = (&resources["limits"], &resources["requests"]);
        for name in ["cpu", "memory"] {
            let (limit, request) = (limits.get(name), requests.get(name));
            any |= limit.is_some() || request.is_some();
            all &= limit.is_some() && (request.is_none() || request == limit);
        }
    }
    match (any, all) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// Of a running pod's spec only a few fields may change.
fn check_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    if frozen(&new.value["spec"]) != frozen(&old.value["spec"]) {
        let words = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
        faults.add(new.field("spec").forbidden(words));
    }
}

fn frozen(spec: &Value) -> Value {
    let mut spec = spec.clone();
    for list in ["containers", "initContainers"] {
        for container in fill::each(&mut spec, list) {
            fill::remove(container, "image");
        }
    }
    for name in [
        "activeDeadlineSeconds",
        "tolerations",
        "terminationGracePeriodSeconds",
        "schedulingGates",
    ] {
        fill::remove(&mut spec, name);
    }
    spec
}
