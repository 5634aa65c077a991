//! Nodes, Leases and Events: what the cluster's own parts write.

use serde_json::{Value, json};

use super::at::At;
use super::kind::Kind;
use super::rules::Faults;
use super::{fill, names};
use crate::field_error::FieldError;

pub(super) const KINDS: [Kind; 5] = [
    Kind::plain("node.k8s.io", "RuntimeClass").checks(|class, faults| {
        let handler = class.field("handler");
        if faults.require(&handler, "") {
            faults.name(&handler, names::dns1123_label);
        }
    }),
    Kind::plain("", "Node")
        .keeps_status()
        .prepares(|node, _| taint_not_ready(node))
        .defaults(default_node)
        .checks(check_node),
    Kind::plain("coordination.k8s.io", "Lease").checks(check_lease),
    Kind::plain("", "Event").keeps_status().checks(check_event),
    Kind::plain("events.k8s.io", "Event")
        .keeps_status()
        .checks(check_new_event),
];

fn default_node(node: &mut Value) {
    let Some(status) = fill::part(node, "status") else {
        return;
    };
    if let Some(capacity) = status.get("capacity").cloned() {
        fill::absent(status, "allocatable", capacity);
    }
}

/// Nothing is scheduled to a node before it has reported that it is ready.
fn taint_not_ready(node: &mut Value) {
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    if !node["spec"].is_object() {
        node["spec"] = json!({});
    }
    fill::absent(&mut node["spec"], "taints", json!([]));
    if let Some(list) = node["spec"]["taints"].as_array_mut()
        && !list.contains(&taint)
    {
        list.push(taint);
    }
}

fn check_node(node: &At<'_>, faults: &mut Faults) {
    let spec = node.field("spec");
    // The real server names the wrong parent here.
    let path = node.path.child("metadata");
    let taints = At {
        value: spec.field("taints").value,
        path: path.child("taints"),
    };
    for taint in taints.items() {
        faults.name(&taint.field("key"), names::qualified_name);
        let value = taint.field("value");
        for fault in names::label_value(value.text()) {
            faults.add(FieldError::invalid(&value.path, value.text(), fault));
        }
        let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
        faults.require_one_of(&taint.field("effect"), &effects);
    }
}

fn check_lease(lease: &At<'_>, faults: &mut Faults) {
    let spec = lease.field("spec");
    faults.positive(&spec.field("leaseDurationSeconds"));
    faults.non_negative(&spec.field("leaseTransitions"));
}

/// An event lies in the namespace of what it is about.
fn check_event(event: &At<'_>, faults: &mut Faults) {
    let meta = event.field("metadata");
    let about = event.field("involvedObject");
    let (own, involved) = (meta.field("namespace"), about.field("namespace"));
    let is_default = matches!(own.text(), "" | "default");
    let fits = match involved.text() {
        "" => is_default,
        namespace => namespace == own.text(),
    };
    if !fits {
        let words = "does not match event.namespace";
        faults.add(FieldError::invalid(&involved.path, involved.text(), words));
    }
}

fn check_new_event(event: &At<'_>, faults: &mut Faults) {
    for name in [
        "reportingController",
        "reportingInstance",
        "action",
        "reason",
    ] {
        faults.require(&event.field(name), "");
    }
    if !event.field("eventTime").is_set() {
        faults.add(event.field("eventTime").required(""));
    }
    let kinds = ["Normal", "Warning"];
    let kind = event.field("type");
    if !kinds.contains(&kind.text()) {
        let words = "has invalid value: ";
        faults.add(FieldError::invalid(
            &kind.path,
            "",
            format!("{words}{}", kind.text()),
        ));
    }
}
