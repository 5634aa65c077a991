//! The rules of containers.

use std::collections::HashSet;

use serde_json::Value;

use super::super::at::At;
use super::super::names;
use super::super::rules::Faults;
use super::{probes, volumes};
use crate::field_error::{FieldError, Path};
use crate::quantity::Quantity;

pub(super) fn check<'a>(
    list: &'a At<'a>,
    volumes: &HashSet<&str>,
    seen: &mut HashSet<&'a str>,
    faults: &mut Faults,
) {
    if list.is_empty() {
        return faults.add(list.required(""));
    }
    for container in list.items() {
        check_container(&container, volumes, faults);
        check_unique(&container, name_of(container.value), seen, faults);
        probes::check(&container, faults);
    }
}

/// Init containers keep the same rules, but share the names of the others.
pub(super) fn check_init<'a>(
    list: &'a At<'a>,
    volumes: &HashSet<&str>,
    seen: &mut HashSet<&'a str>,
    faults: &mut Faults,
) {
    for container in list.items() {
        check_container(&container, volumes, faults);
        check_unique(&container, name_of(container.value), seen, faults);
        let policy = container.field("restartPolicy");
        match policy.text() {
            "Always" => probes::check(&container, faults),
            _ => probes::forbid(&container, faults),
        }
    }
}

fn name_of(container: &Value) -> &str {
    container["name"].as_str().unwrap_or_default()
}

fn check_unique<'a>(
    container: &At<'_>,
    name: &'a str,
    seen: &mut HashSet<&'a str>,
    faults: &mut Faults,
) {
    if !seen.insert(name) {
        faults.add(FieldError::duplicate(&container.path.child("name"), name));
    }
}

fn check_container(container: &At<'_>, volumes: &HashSet<&str>, faults: &mut Faults) {
    let name = container.field("name");
    if faults.require(&name, "") {
        faults.name(&name, names::dns1123_label);
    }
    faults.require(&container.field("image"), "");
    check_security(&container.field("securityContext"), faults);
    let policies = ["File", "FallbackToLogsOnError"];
    faults.require_one_of(&container.field("terminationMessagePolicy"), &policies);
    check_ports(&container.field("ports"), faults);
    for variable in container.field("env").items() {
        check_variable(&variable, faults);
    }
    for source in container.field("envFrom").items() {
        check_env_source(&container.path, &source, faults);
    }
    check_mounts(&container.field("volumeMounts"), volumes, faults);
    let pulls = ["Always", "IfNotPresent", "Never"];
    faults.require_one_of(&container.field("imagePullPolicy"), &pulls);
    check_resources(&container.field("resources"), faults);
}

fn check_ports(ports: &At<'_>, faults: &mut Faults) {
    let mut seen = HashSet::new();
    for port in ports.items() {
        let name = port.field("name");
        if !name.is_empty() {
            match names::port_name(name.text()).is_empty() {
                false => faults.name(&name, names::port_name),
                true if !seen.insert(name.text().to_owned()) => faults.add(name.duplicate()),
                true => {}
            }
        }
        let number = port.field("containerPort");
        match number.integer() {
            None | Some(0) => faults.add(number.required("")),
            Some(_) => faults.port(&number),
        }
        if port.field("hostPort").is_set() {
            faults.port(&port.field("hostPort"));
        }
        faults.require_one_of(&port.field("protocol"), &["SCTP", "TCP", "UDP"]);
    }
}

fn check_variable(variable: &At<'_>, faults: &mut Faults) {
    let name = variable.field("name");
    if faults.require(&name, "") {
        faults.name(&name, names::env_name);
    }
    let from = variable.field("valueFrom");
    if !from.is_set() {
        return;
    }
    for reference in ["configMapKeyRef", "secretKeyRef"] {
        let reference = from.field(reference);
        if reference.is_set() {
            faults.require(&reference.field("name"), "");
            let key = reference.field("key");
            if faults.require(&key, "") {
                faults.name(&key, names::config_key);
            }
        }
    }
    if from.field("fieldRef").is_set() {
        let reference = from.field("fieldRef");
        faults.require(&reference.field("fieldPath"), "");
    }
    let sources = from.value.as_object().map_or(0, serde_json::Map::len);
    let words = match (sources, variable.field("value").is_empty()) {
        (0, _) => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        }
        (_, false) => "may not be specified when `value` is not empty",
        (1, true) => return,
        (_, true) => "may not have more than one field specified at a time",
    };
    faults.add(FieldError::invalid(&from.path, "", words));
}

fn check_env_source(container: &Path<'_>, source: &At<'_>, faults: &mut Faults) {
    let prefix = source.field("prefix");
    if !prefix.is_empty() {
        faults.name(&prefix, names::env_name);
    }
    let (map, secret) = (source.field("configMapRef"), source.field("secretRef"));
    for reference in [&map, &secret] {
        if reference.is_set() {
            faults.require(&reference.field("name"), "");
        }
    }
    let words = match (map.is_set(), secret.is_set()) {
        (false, false) => "must specify one of: `configMapRef` or `secretRef`",
        (true, true) => "may not have more than one field specified at a time",
        _ => return,
    };
    // The real server names the list here, not the item.
    faults.add(FieldError::invalid(&container.child("envFrom"), "", words));
}

fn check_mounts(mounts: &At<'_>, known: &HashSet<&str>, faults: &mut Faults) {
    let mut seen = HashSet::new();
    for mount in mounts.items() {
        let name = mount.field("name");
        faults.require(&name, "");
        if !known.contains(name.text()) {
            faults.add(FieldError::not_found(&name.path, name.text()));
        }
        let path = mount.field("mountPath");
        faults.require(&path, "");
        if !seen.insert(path.text().to_owned()) {
            faults.add(path.invalid("must be unique"));
        }
        let below = mount.field("subPath");
        if !below.is_empty() {
            // The real server names the list here, not the mount.
            let at = At {
                value: below.value,
                path: mounts.path.child("subPath"),
            };
            volumes::check_relative(&at, faults);
        }
    }
}

fn check_resources(resources: &At<'_>, faults: &mut Faults) {
    let (limits, requests) = (resources.field("limits"), resources.field("requests"));
    for (name, amount) in limits.entries() {
        check_resource(name, &amount, faults);
    }
    for (name, amount) in requests.entries() {
        check_resource(name, &amount, faults);
        let limit = limits.value.get(name);
        let (Some(limit), Some(request)) =
            (limit.and_then(Quantity::of), Quantity::of(amount.value))
        else {
            continue;
        };
        if request > limit {
            let words = format!("must be less than or equal to {name} limit of {limit}");
            let shown = request.to_string();
            faults.add(FieldError::invalid(&requests.path, shown, words));
        }
    }
}

fn check_resource(name: &str, amount: &At<'_>, faults: &mut Faults) {
    for fault in names::qualified_name(name) {
        faults.add(FieldError::invalid(&amount.path, name, fault));
    }
    let standard = ["cpu", "memory", "ephemeral-storage"];
    let is_known = standard.contains(&name) || name.starts_with("hugepages-");
    if !name.contains('/') && !is_known {
        let words = "must be a standard resource type or fully qualified";
        faults.add(FieldError::invalid(&amount.path, name, words));
        let words = "must be a standard resource for containers";
        faults.add(FieldError::invalid(&amount.path, name, words));
    }
    faults.quantity(amount);
    let whole = Quantity::of(amount.value).is_some_and(Quantity::is_whole);
    if name.contains('/') && !whole {
        faults.add(amount.invalid("must be an integer"));
    }
}

fn check_security(context: &At<'_>, faults: &mut Faults) {
    for name in ["runAsUser", "runAsGroup"] {
        let id = context.field(name);
        let range = 0..=i64::from(i32::MAX);
        if id.integer().is_some_and(|id| !range.contains(&id)) {
            faults.add(id.invalid("must be between 0 and 2147483647, inclusive"));
        }
    }
}
