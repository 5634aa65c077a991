//! The rules of services.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr};

use serde_json::Value;

use super::super::at::At;
use super::super::metadata;
use super::super::names;
use super::super::rules::Faults;
use super::allocation::is_free_of_families;
use crate::field_error::FieldError;

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

pub(super) fn check(service: &At<'_>, faults: &mut Faults) {
    let spec = service.field("spec");
    if !check_families(&spec, faults) {
        return;
    }
    let kind = spec.field("type");
    let headless = spec.field("clusterIP").text() == "None";
    if spec.field("ports").is_empty() && !headless && kind.text() != "ExternalName" {
        faults.add(spec.field("ports").required(""));
    }
    check_type(&spec, faults);
    check_ports(&spec, headless, faults);
    metadata::labels(
        &spec.value["selector"],
        &spec.path.child("selector"),
        &mut faults.0,
    );
    check_affinity(&spec, faults);
    check_addresses(&spec, faults);
    check_policies(&spec, faults);
}

/// Families are allocated before anything else is judged, so a fault there hides all others.
fn check_families(spec: &At<'_>, faults: &mut Faults) -> bool {
    if spec.field("type").text() == "ExternalName" || is_free_of_families(spec.value) {
        return true;
    }
    let mut fits = true;
    for family in spec.field("ipFamilies").items() {
        if family.text() == "IPv6" {
            faults.add(family.invalid("not configured on this cluster"));
            fits = false;
        }
    }
    let policy = spec.field("ipFamilyPolicy");
    if policy.text() == "RequireDualStack" {
        faults.add(policy.invalid("this cluster is not configured for dual-stack services"));
        fits = false;
    }
    fits
}

fn check_type(spec: &At<'_>, faults: &mut Faults) {
    let kind = spec.field("type");
    match kind.text() {
        "ExternalName" => {
            let address = spec.field("clusterIP");
            if !address.is_empty() {
                let words = "may not be set for ExternalName services";
                faults.add(FieldError::forbidden(&spec.path.child("clusterIPs"), words));
            }
            let name = spec.field("externalName");
            let host = name.text().strip_suffix('.').unwrap_or(name.text());
            if host.is_empty() {
                faults.add(name.required(""));
            } else {
                for fault in names::dns1123_subdomain(host) {
                    faults.add(FieldError::invalid(&name.path, host, fault));
                }
            }
        }
        "ClusterIP" | "LoadBalancer" | "NodePort" => {}
        _ => {
            if faults.require(&kind, "") {
                faults.one_of(&kind, &TYPES);
            }
        }
    }
}

fn check_ports(spec: &At<'_>, headless: bool, faults: &mut Faults) {
    let ports = spec.field("ports");
    let is_named = ports.len() > 1;
    let mut seen = HashSet::new();
    for port in ports.items() {
        check_port(&port, is_named, &mut seen, faults);
    }
    check_conflicts(&ports, faults);
    let takes_node_ports = matches!(spec.field("type").text(), "NodePort" | "LoadBalancer");
    for port in ports.items() {
        let node = port.field("nodePort");
        if !takes_node_ports && node.is_set() {
            let words = format!(
                "may not be used when `type` is '{}'",
                spec.field("type").text()
            );
            faults.add(node.forbidden(words));
        }
    }
    if headless && takes_node_ports {
        let words = "may not be set to 'None' for NodePort services";
        faults.add(FieldError::invalid(
            &spec.path.child("clusterIPs").index(0),
            "None",
            words,
        ));
    }
}

fn check_port(port: &At<'_>, is_named: bool, seen: &mut HashSet<String>, faults: &mut Faults) {
    let name = port.field("name");
    if is_named && name.is_empty() {
        faults.add(name.required(""));
    } else if !name.is_empty() {
        faults.name(&name, names::dns1123_label);
        if !seen.insert(name.text().to_owned()) {
            faults.add(name.duplicate());
        }
    }
    faults.port(&port.field("port"));
    faults.require_one_of(&port.field("protocol"), &["SCTP", "TCP", "UDP"]);
    faults.port_or_name(&port.field("targetPort"));
    let application = port.field("appProtocol");
    if application.is_set() {
        faults.name(&application, names::qualified_name);
    }
}

/// Two ports of a service may not share number and protocol.
fn check_conflicts(ports: &At<'_>, faults: &mut Faults) {
    let mut seen = HashSet::new();
    for port in ports.items() {
        let (number, protocol) = (port.field("port"), port.field("protocol"));
        let key = (number.integer().unwrap_or(0), protocol.text().to_owned());
        if !seen.insert(key) {
            faults.add(port.duplicate().showing(format!(
                "{{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{},\"TargetPort\":0,\"NodePort\":0}}",
                protocol.value, number.value,
            )));
        }
    }
}

fn check_affinity(spec: &At<'_>, faults: &mut Faults) {
    faults.require_one_of(&spec.field("sessionAffinity"), &["ClientIP", "None"]);
    let config = spec.field("sessionAffinityConfig");
    let client = config.field("clientIP");
    let seconds = client.field("timeoutSeconds");
    if seconds
        .integer()
        .is_some_and(|s| !(1..=86_400).contains(&s))
    {
        faults.add(seconds.invalid("must be greater than 0 and less than 86400"));
    }
}

fn check_addresses(spec: &At<'_>, faults: &mut Faults) {
    for address in spec.field("externalIPs").items() {
        if address.text().parse::<IpAddr>().is_err() {
            let words = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            faults.add(address.invalid(words));
        }
    }
    let addresses = spec.field("clusterIPs");
    for address in addresses.items().filter(|a| a.text() != "None") {
        match address.text().parse::<Ipv4Addr>() {
            Err(_) if address.text().parse::<IpAddr>().is_err() => {
                let words = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
                faults.add(address.invalid(words));
            }
            Ok(ip) if ip.octets()[0] != 10 || ip.octets()[1] & 0xf0 != 96 => {
                let words = format!(
                    "failed to allocate IP {ip}: the provided IP ({ip}) is not in the valid range. The range of valid IPs is 10.96.0.0/12"
                );
                let shown = Value::Array(vec![address.value.clone()]);
                faults.add(FieldError::invalid(&addresses.path, shown, words));
            }
            _ => {}
        }
    }
}

fn check_policies(spec: &At<'_>, faults: &mut Faults) {
    for name in ["internalTrafficPolicy", "externalTrafficPolicy"] {
        faults.one_of(&spec.field(name), &["Cluster", "Local"]);
    }
    let policies = ["SingleStack", "PreferDualStack", "RequireDualStack"];
    faults.one_of(&spec.field("ipFamilyPolicy"), &policies);
}

pub(super) fn check_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let (spec, before) = (new.field("spec"), old.field("spec"));
    let named = |spec: &At<'_>| spec.field("type").text() == "ExternalName";
    if named(&spec) || named(&before) || !check_families(&spec, &mut Faults::default()) {
        return;
    }
    let (address, was) = (spec.field("clusterIP"), before.field("clusterIP"));
    if !was.is_empty() && address.text() != was.text() {
        let words = "may not change once set";
        let list = spec.field("clusterIPs");
        let shown = Value::Array(vec![address.value.clone()]);
        faults.add(FieldError::invalid(&list.path.index(0), shown, words));
    }
}
