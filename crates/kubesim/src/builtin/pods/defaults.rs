//! What a pod means when it does not say.

use serde_json::{Value, json};

use super::super::fill;

pub(in crate::builtin) fn default_pod(pod: &mut Value) {
    if let Some(status) = fill::part(pod, "status") {
        name_first_address(status);
    }
    let Some(spec) = fill::part(pod, "spec") else {
        return;
    };
    for list in ["containers", "initContainers"] {
        fill::each(spec, list).for_each(request_limits);
    }
    fill::absent(spec, "enableServiceLinks", true);
    default_spec(spec);
    if spec["hostNetwork"] == true {
        for list in ["containers", "initContainers"] {
            fill::each(spec, list).for_each(expose_on_host);
        }
    }
}

/// The older field is the first of the newer ones.
fn name_first_address(status: &mut Value) {
    for (one, many) in [("podIP", "podIPs"), ("hostIP", "hostIPs")] {
        let first = status.pointer(&format!("/{many}/0/ip")).cloned();
        match (first, fill::text(status, one).to_owned()) {
            (Some(first), _) => status[one] = first,
            (None, only) if !only.is_empty() => status[many] = json!([{ "ip": only }]),
            _ => {}
        }
    }
}

pub(in crate::builtin) fn default_template(template: &mut Value) {
    if let Some(spec) = fill::part(template, "spec") {
        default_spec(spec);
    }
}

fn default_spec(spec: &mut Value) {
    fill::empty(spec, "dnsPolicy", "ClusterFirst");
    fill::empty(spec, "restartPolicy", "Always");
    fill::absent(spec, "securityContext", json!({}));
    fill::absent(spec, "terminationGracePeriodSeconds", 30);
    fill::empty(spec, "schedulerName", "default-scheduler");
    let account = fill::text(spec, "serviceAccountName").to_owned();
    let alias = fill::text(spec, "serviceAccount").to_owned();
    match (account.as_str(), alias.as_str()) {
        ("", "") => {}
        ("", alias) => spec["serviceAccountName"] = alias.into(),
        (account, _) => spec["serviceAccount"] = account.into(),
    }
    fill::each(spec, "volumes").for_each(default_volume);
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        fill::each(spec, list).for_each(default_container);
    }
}

fn default_container(container: &mut Value) {
    let policy = pull_policy(fill::text(container, "image"));
    fill::empty(container, "imagePullPolicy", policy);
    fill::empty(container, "terminationMessagePath", "/dev/termination-log");
    fill::empty(container, "terminationMessagePolicy", "File");
    for port in fill::each(container, "ports") {
        fill::empty(port, "protocol", "TCP");
    }
    for variable in fill::each(container, "env") {
        if let Some(field) = variable.pointer_mut("/valueFrom/fieldRef") {
            fill::empty(field, "apiVersion", "v1");
        }
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = fill::part(container, probe) {
            default_probe(probe);
        }
    }
    for hook in ["/lifecycle/postStart/httpGet", "/lifecycle/preStop/httpGet"] {
        container
            .pointer_mut(hook)
            .into_iter()
            .for_each(default_http_get);
    }
}

/// An image without a tag, or tagged `latest`, may change under its name.
fn pull_policy(image: &str) -> &'static str {
    let (image, digest) = image.split_once('@').map_or((image, ""), |(i, d)| (i, d));
    let last = image.rsplit('/').next().unwrap_or(image);
    match last.split_once(':').map(|(_, tag)| tag) {
        Some("latest") => "Always",
        None if digest.is_empty() => "Always",
        Some(_) | None => "IfNotPresent",
    }
}

fn default_probe(probe: &mut Value) {
    for (name, value) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        fill::absent(probe, name, value);
    }
    fill::part(probe, "httpGet")
        .into_iter()
        .for_each(default_http_get);
    if let Some(grpc) = fill::part(probe, "grpc") {
        fill::absent(grpc, "service", "");
    }
}

fn default_http_get(action: &mut Value) {
    fill::empty(action, "path", "/");
    fill::empty(action, "scheme", "HTTP");
}

fn default_volume(volume: &mut Value) {
    let sources = volume.as_object().map_or(0, serde_json::Map::len);
    let has_name = usize::from(volume.get("name").is_some());
    if sources == has_name {
        volume["emptyDir"] = json!({});
    }
    for source in ["secret", "configMap", "downwardAPI", "projected"] {
        if let Some(source) = fill::part(volume, source) {
            fill::absent(source, "defaultMode", 0o644);
        }
    }
    if let Some(path) = fill::part(volume, "hostPath") {
        fill::absent(path, "type", "");
    }
    default_volume_parts(volume);
}

fn default_volume_parts(volume: &mut Value) {
    for item in fill::part(volume, "downwardAPI")
        .into_iter()
        .flat_map(|v| fill::each(v, "items"))
    {
        if let Some(field) = fill::part(item, "fieldRef") {
            fill::empty(field, "apiVersion", "v1");
        }
    }
    for source in fill::part(volume, "projected")
        .into_iter()
        .flat_map(|v| fill::each(v, "sources"))
    {
        if let Some(token) = fill::part(source, "serviceAccountToken") {
            fill::absent(token, "expirationSeconds", 3600);
        }
        for item in fill::part(source, "downwardAPI")
            .into_iter()
            .flat_map(|v| fill::each(v, "items"))
        {
            if let Some(field) = fill::part(item, "fieldRef") {
                fill::empty(field, "apiVersion", "v1");
            }
        }
    }
    if let Some(claim) = volume.pointer_mut("/ephemeral/volumeClaimTemplate/spec") {
        fill::absent(claim, "volumeMode", "Filesystem");
    }
}

/// What is limited is also requested.
fn request_limits(container: &mut Value) {
    let limits = container
        .pointer("/resources/limits")
        .and_then(Value::as_object)
        .cloned();
    let Some(limits) = limits else { return };
    let resources = &mut container["resources"];
    fill::absent(resources, "requests", json!({}));
    for (name, amount) in limits {
        fill::absent(&mut resources["requests"], &name, amount);
    }
}

fn expose_on_host(container: &mut Value) {
    for port in fill::each(container, "ports") {
        let number = port["containerPort"].clone();
        fill::absent(port, "hostPort", number);
    }
}
