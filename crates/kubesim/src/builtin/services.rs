//! Services: their rules, and the addresses and ports they get.

mod allocation;
mod checks;

use serde_json::{Value, json};

use super::fill;
use super::kind::Kind;
use super::names;

pub(super) const KINDS: [Kind; 1] = [Kind::plain("", "Service")
    .named(names::label_name)
    .defaults(default)
    .prepares(allocation::assign)
    .prepares_update(allocation::keep)
    .checks(checks::check)
    .checks_update(checks::check_update)];

fn default(service: &mut Value) {
    let Some(spec) = fill::part(service, "spec") else {
        return;
    };
    fill::empty(spec, "sessionAffinity", "None");
    match fill::text(spec, "sessionAffinity") {
        "None" => fill::remove(spec, "sessionAffinityConfig"),
        "ClientIP"
            if spec
                .pointer("/sessionAffinityConfig/clientIP/timeoutSeconds")
                .is_none() =>
        {
            spec["sessionAffinityConfig"] = json!({"clientIP": {"timeoutSeconds": 10_800}});
        }
        _ => {}
    }
    fill::empty(spec, "type", "ClusterIP");
    fill::each(spec, "ports").for_each(default_port);
    default_traffic(spec);
}

fn default_port(port: &mut Value) {
    fill::empty(port, "protocol", "TCP");
    let number = port["port"].clone();
    if matches!(&port["targetPort"], Value::Null)
        || port["targetPort"] == 0
        || port["targetPort"] == ""
    {
        port["targetPort"] = number;
    }
}

fn default_traffic(spec: &mut Value) {
    let kind = fill::text(spec, "type").to_owned();
    if is_external(spec) {
        fill::empty(spec, "externalTrafficPolicy", "Cluster");
    }
    if matches!(kind.as_str(), "ClusterIP" | "NodePort" | "LoadBalancer") {
        fill::absent(spec, "internalTrafficPolicy", "Cluster");
    }
    if kind == "LoadBalancer" {
        fill::absent(spec, "allocateLoadBalancerNodePorts", true);
    }
}

/// Whether a service is reached from outside of the cluster.
fn is_external(spec: &Value) -> bool {
    match fill::text(spec, "type") {
        "NodePort" | "LoadBalancer" => true,
        "ClusterIP" => spec["externalIPs"]
            .as_array()
            .is_some_and(|ips| !ips.is_empty()),
        _ => false,
    }
}
