//! Ingresses, IngressClasses, NetworkPolicies and EndpointSlices.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::{Value, json};

use super::at::At;
use super::kind::Kind;
use super::rules::Faults;
use super::{fill, names, selectors};
use crate::field_error::FieldError;

const PROTOCOLS: [&str; 3] = ["TCP", "UDP", "SCTP"];
const BAD_IP: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const BAD_CIDR: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

pub(super) const KINDS: [Kind; 4] = [
    Kind::plain("networking.k8s.io", "Ingress")
        .counted()
        .checks(check_ingress),
    Kind::plain("networking.k8s.io", "IngressClass")
        .counted()
        .defaults(default_ingress_class)
        .checks(|class, faults| {
            let spec = class.field("spec");
            faults.require(&spec.field("controller"), "");
        })
        .checks_update(|new, old, faults| {
            let (spec, before) = (new.field("spec"), old.field("spec"));
            faults.immutable(&spec.field("controller"), &before.field("controller"));
        }),
    Kind::plain("networking.k8s.io", "NetworkPolicy")
        .counted()
        .defaults(default_policy)
        .checks(check_policy),
    Kind::plain("discovery.k8s.io", "EndpointSlice")
        .counted()
        .defaults(default_slice)
        .checks(check_slice)
        .checks_update(|new, old, faults| {
            faults.immutable(&new.field("addressType"), &old.field("addressType"));
        }),
];

fn default_ingress_class(class: &mut Value) {
    if let Some(parameters) = class.pointer_mut("/spec/parameters") {
        fill::absent(parameters, "scope", "Cluster");
    }
}

fn check_ingress(ingress: &At<'_>, faults: &mut Faults) {
    let spec = ingress.field("spec");
    let (rules, backend) = (spec.field("rules"), spec.field("defaultBackend"));
    if rules.is_empty() && !backend.is_set() {
        let words = "either `defaultBackend` or `rules` must be specified";
        faults.add(FieldError::invalid(&spec.path, rules.value.clone(), words));
    }
    if backend.is_set() {
        check_backend(&backend, faults);
    }
    for rule in rules.items() {
        check_host(&rule.field("host"), faults);
        let http = rule.field("http");
        if http.is_set() {
            faults.require(&http.field("paths"), "");
            for path in http.field("paths").items() {
                check_path(&path, faults);
            }
        }
    }
    let class = spec.field("ingressClassName");
    if class.is_set() {
        faults.name(&class, names::dns1123_subdomain);
    }
}

fn check_host(host: &At<'_>, faults: &mut Faults) {
    if host.is_empty() {
        return;
    }
    if host.text().parse::<IpAddr>().is_ok() {
        faults.add(host.invalid("must be a DNS name, not an IP address"));
    }
    match host.text().contains('*') {
        true => faults.name(host, names::wildcard_subdomain),
        false => faults.name(host, names::dns1123_subdomain),
    }
}

fn check_path(path: &At<'_>, faults: &mut Faults) {
    let kind = path.field("pathType");
    if !kind.is_set() {
        return faults.add(kind.required("pathType must be specified"));
    }
    let at = path.field("path");
    let is_absolute = at.text().starts_with('/');
    let words = "must be an absolute path";
    match kind.text() {
        "Exact" | "Prefix" => {
            if !is_absolute {
                faults.add(FieldError::invalid(&at.path, at.text(), words));
            }
            check_path_text(&at, faults);
        }
        "ImplementationSpecific" if !at.is_empty() && !is_absolute => faults.add(at.invalid(words)),
        "ImplementationSpecific" => {}
        _ => faults.add(kind.not_supported(&["Exact", "ImplementationSpecific", "Prefix"])),
    }
    check_backend(&path.field("backend"), faults);
}

fn check_path_text(path: &At<'_>, faults: &mut Faults) {
    for bad in ["//", "/./", "/../", "%2f", "%2F"] {
        if path.text().contains(bad) {
            faults.add(path.invalid(format!("must not contain '{bad}'")));
        }
    }
    for bad in ["/..", "/."] {
        if path.text().ends_with(bad) {
            faults.add(path.invalid(format!("cannot end with '{bad}'")));
        }
    }
}

fn check_backend(backend: &At<'_>, faults: &mut Faults) {
    let (resource, service) = (backend.field("resource"), backend.field("service"));
    match (resource.is_set(), service.is_set()) {
        (true, true) => {
            let words = "cannot set both resource and service backends";
            faults.add(FieldError::invalid(&backend.path, "", words));
        }
        (false, false) => {
            let words = "resource or service backend is required";
            faults.add(FieldError::invalid(&backend.path, "", words));
        }
        (true, false) => {
            faults.require(&resource.field("kind"), "");
            faults.require(&resource.field("name"), "");
        }
        (false, true) => check_service_backend(backend, &service, faults),
    }
}

fn check_service_backend(backend: &At<'_>, service: &At<'_>, faults: &mut Faults) {
    let name = service.field("name");
    if faults.require(&name, "") {
        faults.name(&name, names::dns1123_label);
    }
    let port = service.field("port");
    let (name, number) = (port.field("name"), port.field("number"));
    match (!name.is_empty(), number.is_set()) {
        (true, true) => {
            let words = "cannot set both port name & port number";
            faults.add(FieldError::invalid(&backend.path, "", words));
        }
        (true, false) => faults.name(&name, names::port_name),
        (false, true) => faults.port(&number),
        (false, false) => {
            let words = "port name or number is required";
            faults.add(FieldError::required(&backend.path, words));
        }
    }
}

fn default_policy(policy: &mut Value) {
    let Some(spec) = fill::part(policy, "spec") else {
        return;
    };
    let has_egress = spec["egress"]
        .as_array()
        .is_some_and(|rules| !rules.is_empty());
    let types = match has_egress {
        true => json!(["Ingress", "Egress"]),
        false => json!(["Ingress"]),
    };
    fill::absent(spec, "policyTypes", types);
    for list in ["ingress", "egress"] {
        for rule in fill::each(spec, list) {
            for port in fill::each(rule, "ports") {
                fill::absent(port, "protocol", "TCP");
            }
        }
    }
}

fn check_policy(policy: &At<'_>, faults: &mut Faults) {
    let spec = policy.field("spec");
    selectors::check(&spec.field("podSelector"), faults);
    for (list, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.field(list).items() {
            for port in rule.field("ports").items() {
                check_policy_port(&port, faults);
            }
            for peer in rule.field(peers).items() {
                check_peer(&peer, faults);
            }
        }
    }
    let types = spec.field("policyTypes");
    if types.len() > 2 {
        return faults.add(types.invalid("may not specify more than two policyTypes"));
    }
    for kind in types.items() {
        faults.one_of(&kind, &["Ingress", "Egress"]);
    }
}

fn check_policy_port(port: &At<'_>, faults: &mut Faults) {
    faults.one_of(&port.field("protocol"), &PROTOCOLS);
    let (number, end) = (port.field("port"), port.field("endPort"));
    if number.is_set() {
        faults.port_or_name(&number);
    }
    let Some(last) = end.integer() else { return };
    match number.value {
        Value::Null => {
            faults.add(end.invalid("may not be specified when `port` is not specified"));
        }
        Value::String(_) => {
            faults.add(end.invalid("may not be specified when `port` is non-numeric"));
        }
        _ if number.integer().is_some_and(|first| last < first) => {
            let words = "must be greater than or equal to `port`";
            faults.add(FieldError::invalid(&end.path, number.value.clone(), words));
        }
        _ => faults.port(&end),
    }
}

fn check_peer(peer: &At<'_>, faults: &mut Faults) {
    let block = peer.field("ipBlock");
    let by_label = ["podSelector", "namespaceSelector"];
    for name in by_label {
        selectors::check(&peer.field(name), faults);
    }
    let selects = by_label.iter().any(|name| peer.field(name).is_set());
    match (selects, block.is_set()) {
        (false, false) => {
            faults.add(FieldError::required(&peer.path, "must specify a peer"));
        }
        (true, true) => {
            let words = "may not specify both ipBlock and another peer";
            faults.add(FieldError::forbidden(&peer.path, words));
        }
        (false, true) => {
            let cidr = block.field("cidr");
            if faults.require(&cidr, "") && !is_cidr(cidr.text()) {
                faults.add(cidr.invalid(BAD_CIDR));
            }
        }
        (true, false) => {}
    }
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return false;
    };
    let limit = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    bits.parse::<u8>().is_ok_and(|bits| bits <= limit)
}

fn default_slice(slice: &mut Value) {
    for port in fill::each(slice, "ports") {
        fill::absent(port, "name", "");
        fill::absent(port, "protocol", "TCP");
    }
}

fn check_slice(slice: &At<'_>, faults: &mut Faults) {
    let kind = slice.field("addressType");
    faults.require_one_of(&kind, &["FQDN", "IPv4", "IPv6"]);
    let mut seen = HashSet::new();
    for port in slice.field("ports").items() {
        let name = port.field("name");
        if !name.is_empty() {
            faults.name(&name, names::dns1123_label);
        }
        if !seen.insert(name.text().to_owned()) {
            faults.add(name.duplicate());
        }
        faults.require_one_of(&port.field("protocol"), &["SCTP", "TCP", "UDP"]);
    }
    for endpoint in slice.field("endpoints").items() {
        check_endpoint(&endpoint, kind.text(), faults);
    }
}

fn check_endpoint(endpoint: &At<'_>, kind: &str, faults: &mut Faults) {
    let addresses = endpoint.field("addresses");
    faults.require(&addresses, "must contain at least 1 address");
    if addresses.len() > 100 {
        faults.add(FieldError::too_many(&addresses.path, addresses.len(), 100));
    }
    for address in addresses.items() {
        let text = address.text();
        let ip = text.parse::<IpAddr>().ok();
        let mismatch = match kind {
            "IPv4" if text.parse::<Ipv6Addr>().is_ok() => Some("must be an IPv4 address"),
            "IPv6" if text.parse::<Ipv4Addr>().is_ok() => Some("must be an IPv6 address"),
            _ => None,
        };
        if let Some(words) = mismatch {
            faults.add(FieldError::invalid(&addresses.path, text, words));
        }
        if ip.is_some_and(|ip| ip.is_loopback()) && matches!(kind, "IPv4" | "IPv6") {
            let words = "may not be in the loopback range (127.0.0.0/8, ::1/128)";
            faults.add(address.invalid(words));
        }
        if matches!(kind, "IPv4" | "IPv6") && ip.is_none() {
            faults.add(address.invalid(BAD_IP));
        }
    }
    for (name, rule) in [
        ("nodeName", names::dns1123_subdomain as names::TextRule),
        ("hostname", names::dns1123_label),
    ] {
        if endpoint.field(name).is_set() {
            faults.name(&endpoint.field(name), rule);
        }
    }
}
