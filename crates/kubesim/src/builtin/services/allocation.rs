//! Cluster addresses and node ports: chosen by the service's name, next free one if taken.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::super::fill;
use super::is_external;
use crate::strategy::Surroundings;

/// 10.96.0.0/12, without the network's own address, the API server's and the last one.
const FIRST_ADDRESS: u32 = 0x0a60_0002;
const ADDRESSES: u32 = (1 << 20) - 3;
const SINGLE_STACK: &str = "SingleStack";
const DUAL_STACK: &str = "RequireDualStack";
const FIRST_PORT: u32 = 30_000;
const PORTS: u32 = 2_768;

/// Gives a new service what it asks for.
pub(super) fn assign(service: &mut Value, around: &dyn Surroundings) {
    let taken = Taken::find(service, around);
    let seed = seed(service);
    let Some(spec) = fill::part(service, "spec") else {
        return;
    };
    match fill::text(spec, "type") {
        "ExternalName" => return,
        _ => assign_address(spec, &taken, seed),
    }
    assign_ports(spec, &taken, seed);
}

/// A changed service keeps what it has, gives up what it no longer needs, and gets what it now
/// needs.
pub(super) fn keep(service: &mut Value, old: &Value, around: &dyn Surroundings) {
    let before = &old["spec"];
    if let Some(spec) = fill::part(service, "spec") {
        let same_type = spec["type"] == before["type"];
        if has_address(spec) && has_address(before) {
            keep_address(spec, before);
        }
        if same_type || needs_ports(spec) {
            keep_ports(spec, before);
        }
        if !has_address(spec) && has_address(before) {
            release_address(spec, before);
        }
        if !needs_ports(spec) && needs_ports(before) {
            release_ports(spec, before);
        }
        release_traffic(spec, before);
    }
    assign(service, around);
}

fn assign_address(spec: &mut Value, taken: &Taken, seed: u64) {
    if fill::text(spec, "clusterIP").is_empty() {
        let first = spec["clusterIPs"]
            .get(0)
            .and_then(Value::as_str)
            .map(str::to_owned);
        let address = first.unwrap_or_else(|| taken.free_address(seed));
        spec["clusterIP"] = address.into();
    }
    let address = spec["clusterIP"].clone();
    fill::absent(spec, "clusterIPs", json!([address]));
    assign_families(spec);
}

/// A cluster of one family gives one family, but a service that has neither an address nor pods
/// may speak of both.
fn assign_families(spec: &mut Value) {
    let is_free = is_free_of_families(spec);
    let policy = if is_free { DUAL_STACK } else { SINGLE_STACK };
    fill::absent(spec, "ipFamilyPolicy", policy);
    fill::absent(spec, "ipFamilies", json!(["IPv4"]));
    let is_single = fill::text(spec, "ipFamilyPolicy") == SINGLE_STACK;
    let Some(families) = spec["ipFamilies"].as_array_mut() else {
        return;
    };
    if is_free && !is_single && families.len() == 1 {
        let other = if families[0] == "IPv4" {
            "IPv6"
        } else {
            "IPv4"
        };
        families.push(other.into());
    }
}

/// Headless and without a selector: what such a service says of families is nobody's concern.
pub(super) fn is_free_of_families(spec: &Value) -> bool {
    let selects = spec["selector"].as_object().is_some_and(|s| !s.is_empty());
    fill::text(spec, "clusterIP") == "None" && !selects
}

fn assign_ports(spec: &mut Value, taken: &Taken, seed: u64) {
    if !needs_ports(spec) {
        return;
    }
    let mut used = taken.ports.clone();
    used.extend(ports_of(spec));
    for (index, port) in fill::each(spec, "ports").enumerate() {
        if port.get("nodePort").is_none_or(|number| number == 0) {
            let number = free(seed.wrapping_add(index as u64), PORTS, |offset| {
                !used.contains(&u64::from(FIRST_PORT + offset))
            });
            used.insert(u64::from(FIRST_PORT + number));
            port["nodePort"] = (FIRST_PORT + number).into();
        }
    }
    if is_checked(spec) {
        let number = free(seed.wrapping_add(99), PORTS, |offset| {
            !used.contains(&u64::from(FIRST_PORT + offset))
        });
        fill::absent(spec, "healthCheckNodePort", FIRST_PORT + number);
    }
}

fn needs_ports(spec: &Value) -> bool {
    match fill::text(spec, "type") {
        "NodePort" => true,
        "LoadBalancer" => spec["allocateLoadBalancerNodePorts"] != false,
        _ => false,
    }
}

fn keep_address(spec: &mut Value, before: &Value) {
    let address = fill::text(before, "clusterIP").to_owned();
    fill::empty(spec, "clusterIP", address);
    for name in ["clusterIPs", "ipFamilyPolicy"] {
        if let Some(value) = before.get(name) {
            fill::absent(spec, name, value.clone());
        }
    }
    // A client that changes the one field means the other, too.
    if spec["clusterIP"] != before["clusterIP"] && spec["clusterIPs"] == before["clusterIPs"] {
        spec["clusterIPs"] = json!([spec["clusterIP"]]);
    }
    if fill::text(spec, "ipFamilyPolicy") == SINGLE_STACK
        && spec["ipFamilies"] == before["ipFamilies"]
        && let Some(families) = spec["ipFamilies"].as_array_mut()
    {
        families.truncate(1);
    }
}

fn keep_ports(spec: &mut Value, before: &Value) {
    for port in fill::each(spec, "ports") {
        let same = before["ports"].as_array().into_iter().flatten();
        let mut same = same.filter(|old| fill::text(old, "name") == fill::text(port, "name"));
        if let Some(number) = same.next().and_then(|old| old.get("nodePort")) {
            fill::absent(port, "nodePort", number.clone());
        }
    }
}

fn release_address(spec: &mut Value, before: &Value) {
    if spec.get("clusterIP") == before.get("clusterIP") {
        for name in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            fill::remove(spec, name);
        }
    }
}

fn release_ports(spec: &mut Value, before: &Value) {
    let old: HashSet<u64> = ports_of(before).collect();
    for port in fill::each(spec, "ports") {
        if port["nodePort"]
            .as_u64()
            .is_some_and(|number| old.contains(&number))
        {
            fill::remove(port, "nodePort");
        }
    }
}

/// What only some types have goes with the type, unless it was changed on the way.
fn release_traffic(spec: &mut Value, before: &Value) {
    type Needs = fn(&Value) -> bool;
    let parts: [(&str, Needs); 5] = [
        ("healthCheckNodePort", is_checked),
        ("allocateLoadBalancerNodePorts", is_balanced),
        ("loadBalancerClass", is_balanced),
        ("externalTrafficPolicy", is_external),
        ("internalTrafficPolicy", has_address),
    ];
    for (name, needs) in parts {
        if needs(before) && !needs(spec) && spec.get(name) == before.get(name) {
            fill::remove(spec, name);
        }
    }
}

/// Whether it has an address of its own, or at least could.
fn has_address(spec: &Value) -> bool {
    fill::text(spec, "type") != "ExternalName"
}

fn is_balanced(spec: &Value) -> bool {
    fill::text(spec, "type") == "LoadBalancer"
}

/// Whether a balancer asks each node for its health.
fn is_checked(spec: &Value) -> bool {
    is_balanced(spec) && fill::text(spec, "externalTrafficPolicy") == "Local"
}

/// What the other services hold.
struct Taken {
    addresses: HashSet<String>,
    ports: HashSet<u64>,
}

impl Taken {
    fn find(service: &Value, around: &dyn Surroundings) -> Self {
        let mut taken = Self {
            addresses: HashSet::new(),
            ports: HashSet::new(),
        };
        for other in around.objects("", "services") {
            if other["metadata"]["uid"] == service["metadata"]["uid"] {
                continue;
            }
            let spec = &other["spec"];
            taken
                .addresses
                .extend(spec["clusterIP"].as_str().map(str::to_owned));
            taken.ports.extend(ports_of(spec));
        }
        taken
    }

    fn free_address(&self, seed: u64) -> String {
        let offset = free(seed, ADDRESSES, |offset| {
            !self.addresses.contains(&address(offset))
        });
        address(offset)
    }
}

fn address(offset: u32) -> String {
    Ipv4Addr::from(FIRST_ADDRESS + offset).to_string()
}

fn ports_of(spec: &Value) -> impl Iterator<Item = u64> {
    let ports = spec["ports"].as_array().into_iter().flatten();
    ports
        .filter_map(|port| port["nodePort"].as_u64())
        .filter(|number| *number != 0)
}

/// The first free place at or after the one that the seed points to.
fn free(seed: u64, size: u32, is_free: impl Fn(u32) -> bool) -> u32 {
    let start = u32::try_from(seed % u64::from(size)).unwrap_or(0);
    let mut places = (start..size).chain(0..start);
    places.find(|offset| is_free(*offset)).unwrap_or(start)
}

/// The same service gets the same places in every run.
fn seed(service: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    let meta = &service["metadata"];
    (meta["namespace"].as_str(), meta["name"].as_str()).hash(&mut hasher);
    hasher.finish()
}
