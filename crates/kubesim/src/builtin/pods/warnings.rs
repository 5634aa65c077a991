//! What the server remarks on in the spec of a pod without refusing it.

use std::collections::HashMap;

use serde_json::Value;

use super::super::at::At;

const LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Ports that containers of one pod both claim, by number or by name.
pub(in super::super) fn of_spec(spec: &At<'_>) -> Vec<String> {
    let ports = ports(spec);
    let mut warnings = Vec::new();
    for (index, (place, port)) in ports.iter().enumerate() {
        let others = ports[..index].iter();
        let clashes = others.filter_map(|(other, earlier)| {
            clash(port, earlier).map(|how| format!("{place}: {how} port definition with {other}"))
        });
        warnings.extend(clashes);
    }
    warnings.extend(repeated_names(&ports));
    warnings
}

/// All ports of all containers, each with its place.
fn ports(spec: &At<'_>) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for list in LISTS {
        for container in spec.field(list).items() {
            for port in container.field("ports").items() {
                found.push((port.path.to_string(), port.value.clone()));
            }
        }
    }
    found
}

/// How two ports are at odds.
fn clash(port: &Value, other: &Value) -> Option<&'static str> {
    let host = |port: &Value| port["hostPort"].as_u64().unwrap_or(0);
    let address = |port: &Value| port["hostIP"].as_str().unwrap_or_default().to_owned();
    if ["containerPort", "protocol"]
        .iter()
        .any(|name| port[name] != other[name])
    {
        return None;
    }
    let same_host = host(port) == host(other);
    let (own, others) = (address(port), address(other));
    if same_host && own == others {
        Some("duplicate")
    } else if host(port) == 0 || host(other) == 0 {
        Some("overlapping")
    } else if same_host && own.is_empty() != others.is_empty() {
        Some("dangerously ambiguous")
    } else {
        None
    }
}

fn repeated_names(ports: &[(String, Value)]) -> Vec<String> {
    let mut first: HashMap<&str, &str> = HashMap::new();
    let mut warnings = Vec::new();
    for (place, port) in ports {
        let Some(name) = port["name"].as_str().filter(|name| !name.is_empty()) else {
            continue;
        };
        let other = *first.entry(name).or_insert(place);
        if other != place {
            warnings.push(format!(
                "{place}: duplicate port name {name:?} with {other}, services and probes that \
                 select ports by name will use {other}"
            ));
        }
    }
    warnings
}
