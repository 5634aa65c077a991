//! The rules of probes and lifecycle hooks.

use super::super::at::At;
use super::super::rules::Faults;
use crate::field_error::FieldError;

const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];
const HANDLERS: [&str; 5] = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"];

pub(super) fn check(container: &At<'_>, faults: &mut Faults) {
    let lifecycle = container.field("lifecycle");
    for hook in ["postStart", "preStop"] {
        if lifecycle.field(hook).is_set() {
            check_handler(&lifecycle.field(hook), faults);
        }
    }
    for name in PROBES {
        let probe = container.field(name);
        if !probe.is_set() {
            continue;
        }
        check_probe(&probe, faults);
        let threshold = probe.field("successThreshold");
        if name != "readinessProbe" && threshold.integer() != Some(1) {
            faults.add(threshold.invalid("must be 1"));
        }
    }
}

/// Containers that run to completion are neither alive nor ready for long.
pub(super) fn forbid(container: &At<'_>, faults: &mut Faults) {
    for name in ["lifecycle"].iter().chain(&PROBES) {
        if container.field(name).is_set() {
            let words = "may not be set for init containers without restartPolicy=Always";
            faults.add(container.field(name).forbidden(words));
        }
    }
}

fn check_probe(probe: &At<'_>, faults: &mut Faults) {
    check_handler(probe, faults);
    for name in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        faults.non_negative(&probe.field(name));
    }
    faults.positive(&probe.field("terminationGracePeriodSeconds"));
}

fn check_handler(holder: &At<'_>, faults: &mut Faults) {
    let mut found = false;
    for name in HANDLERS {
        let handler = holder.field(name);
        match (handler.is_set(), found) {
            (false, _) => {}
            (true, true) => {
                faults.add(handler.forbidden("may not specify more than 1 handler type"));
            }
            (true, false) => {
                found = true;
                check_action(name, &handler, faults);
            }
        }
    }
    if !found {
        faults.add(FieldError::required(
            &holder.path,
            "must specify a handler type",
        ));
    }
}

fn check_action(name: &str, action: &At<'_>, faults: &mut Faults) {
    match name {
        "exec" => drop(faults.require(&action.field("command"), "")),
        "httpGet" => {
            faults.require(&action.field("path"), "");
            faults.port_or_name(&action.field("port"));
            faults.one_of(&action.field("scheme"), &["HTTP", "HTTPS"]);
        }
        "tcpSocket" => faults.port_or_name(&action.field("port")),
        "grpc" => faults.port(&action.field("port")),
        _ => {}
    }
}
