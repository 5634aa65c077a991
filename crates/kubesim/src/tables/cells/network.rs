//! Services, their endpoints, and the ways to them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Cells, name_and_creation};
use crate::tables::Seen;
use crate::tables::text::{NONE, UNSET, first_three, items, joined, number, or, selector, text};

pub(super) fn cells(plural: &str) -> Cells {
    match plural {
        "services" => service,
        "endpoints" => endpoints,
        "endpointslices" => endpoint_slice,
        "ingresses" => ingress,
        "ingressclasses" => ingress_class,
        "networkpolicies" => network_policy,
        "servicecidrs" => service_cidr,
        "ipaddresses" => ip_address,
        _ => name_and_creation,
    }
}

fn service(seen: Seen<'_>) -> Vec<Value> {
    let spec = seen.spec();
    let ports: Vec<String> = items(&spec["ports"]).iter().map(service_port).collect();
    let ports = if ports.is_empty() {
        NONE.to_owned()
    } else {
        ports.join(",")
    };
    vec![
        json!(seen.name()),
        json!(text(&spec["type"])),
        json!(or(&spec["clusterIPs"][0], NONE)),
        json!(external_address(seen)),
        json!(ports),
        json!(seen.age()),
        json!(selector(&spec["selector"])),
    ]
}

fn service_port(port: &Value) -> String {
    let (number, protocol) = (number(&port["port"]), text(&port["protocol"]));
    match port["nodePort"].as_i64() {
        Some(node @ 1..) => format!("{number}:{node}/{protocol}"),
        _ => format!("{number}/{protocol}"),
    }
}

fn external_address(seen: Seen<'_>) -> String {
    let spec = seen.spec();
    let external = joined(&spec["externalIPs"], text);
    match text(&spec["type"]) {
        "ClusterIP" | "NodePort" if external.is_empty() => NONE.to_owned(),
        "ClusterIP" | "NodePort" => external,
        "LoadBalancer" => {
            let balanced = load_balancer(seen.status());
            match (balanced.is_empty(), external.is_empty()) {
                (true, true) => "<pending>".to_owned(),
                (false, false) => format!("{balanced},{external}"),
                (false, true) => balanced,
                (true, false) => external,
            }
        }
        "ExternalName" => text(&spec["externalName"]).to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

fn load_balancer(status: &Value) -> String {
    let points = items(&status["loadBalancer"]["ingress"]).iter();
    let addresses = points.map(|point| or(&point["ip"], text(&point["hostname"])));
    let addresses: BTreeSet<&str> = addresses.filter(|address| !address.is_empty()).collect();
    addresses.into_iter().collect::<Vec<_>>().join(",")
}

fn endpoints(seen: Seen<'_>) -> Vec<Value> {
    let subsets = items(&seen.object["subsets"]);
    let all: Vec<String> = subsets.iter().flat_map(subset_addresses).collect();
    let shown = if subsets.is_empty() {
        NONE.to_owned()
    } else {
        first_three(&all)
    };
    vec![json!(seen.name()), json!(shown), json!(seen.age())]
}

fn subset_addresses(subset: &Value) -> Vec<String> {
    let addresses = || {
        items(&subset["addresses"])
            .iter()
            .map(|address| text(&address["ip"]))
    };
    match items(&subset["ports"]) {
        [] => addresses().map(str::to_owned).collect(),
        ports => {
            let with = |port: i64| {
                addresses().map(move |address| match address.contains(':') {
                    true => format!("[{address}]:{port}"),
                    false => format!("{address}:{port}"),
                })
            };
            ports
                .iter()
                .flat_map(|port| with(number(&port["port"])))
                .collect()
        }
    }
}

fn endpoint_slice(seen: Seen<'_>) -> Vec<Value> {
    let ports = items(&seen.object["ports"])
        .iter()
        .map(|port| match port["port"].as_i64() {
            Some(port) => port.to_string(),
            None => or(&port["name"], "*").to_owned(),
        });
    let addresses = items(&seen.object["endpoints"]).iter();
    let addresses = addresses.flat_map(|endpoint| items(&endpoint["addresses"]));
    let shown = |list: Vec<String>| match list.is_empty() {
        true => UNSET.to_owned(),
        false => first_three(&list),
    };
    vec![
        json!(seen.name()),
        json!(text(&seen.object["addressType"])),
        json!(shown(ports.collect())),
        json!(shown(
            addresses.map(|address| text(address).to_owned()).collect()
        )),
        json!(seen.age()),
    ]
}

fn ingress(seen: Seen<'_>) -> Vec<Value> {
    let spec = seen.spec();
    let ports = if items(&spec["tls"]).is_empty() {
        "80"
    } else {
        "80, 443"
    };
    vec![
        json!(seen.name()),
        json!(or(&spec["ingressClassName"], NONE)),
        json!(hosts(items(&spec["rules"]))),
        json!(load_balancer(seen.status())),
        json!(ports),
        json!(seen.age()),
    ]
}

fn hosts(rules: &[Value]) -> String {
    let hosts = rules.iter().map(|rule| text(&rule["host"]).to_owned());
    let hosts: Vec<String> = hosts.filter(|host| !host.is_empty()).collect();
    match hosts.len() {
        0 => "*".to_owned(),
        _ => first_three(&hosts),
    }
}

fn ingress_class(seen: Seen<'_>) -> Vec<Value> {
    let marks = &seen.object["metadata"]["annotations"];
    let default = marks["ingressclass.kubernetes.io/is-default-class"] == "true";
    let mark = if default { " (default)" } else { "" };
    let parameters = match &seen.spec()["parameters"] {
        Value::Null => NONE.to_owned(),
        found => {
            let group = found["apiGroup"].as_str().map(|group| format!(".{group}"));
            format!(
                "{}{}/{}",
                text(&found["kind"]),
                group.unwrap_or_default(),
                text(&found["name"])
            )
        }
    };
    vec![
        json!(format!("{}{mark}", seen.name())),
        json!(text(&seen.spec()["controller"])),
        json!(parameters),
        json!(seen.age()),
    ]
}

fn network_policy(seen: Seen<'_>) -> Vec<Value> {
    let pods = selector(&seen.spec()["podSelector"]);
    vec![json!(seen.name()), json!(pods), json!(seen.age())]
}

fn service_cidr(seen: Seen<'_>) -> Vec<Value> {
    let ranges = joined(&seen.spec()["cidrs"], text);
    vec![json!(seen.name()), json!(ranges), json!(seen.age())]
}

fn ip_address(seen: Seen<'_>) -> Vec<Value> {
    let parent = &seen.spec()["parentRef"];
    let parent = match parent {
        Value::Null => NONE.to_owned(),
        parent => {
            let part = |name: &str, before: &str| match text(&parent[name]) {
                "" => String::new(),
                found => format!("{before}{found}"),
            };
            let resource = format!("{}{}", part("resource", ""), part("group", "."));
            format!("{resource}{}{}", part("namespace", "/"), part("name", "/"))
        }
    };
    vec![json!(seen.name()), json!(parent)]
}
