//! Workloads and what scales them.

use serde_json::{Value, json};

use super::{Cells, is_condition, name_and_creation};
use crate::meta;
use crate::tables::text::{NONE, UNSET, count, items, joined, moment, number, or, selector, text};
use crate::tables::{Seen, human_duration};

pub(super) fn core(plural: &str) -> Cells {
    match plural {
        "replicationcontrollers" => replica_set,
        "podtemplates" => pod_template,
        _ => name_and_creation,
    }
}

pub(super) fn apps(plural: &str) -> Cells {
    match plural {
        "deployments" => deployment,
        "replicasets" => replica_set,
        "statefulsets" => stateful_set,
        "daemonsets" => daemon_set,
        "controllerrevisions" => controller_revision,
        _ => name_and_creation,
    }
}

pub(super) fn batch(plural: &str) -> Cells {
    match plural {
        "jobs" => job,
        "cronjobs" => cron_job,
        _ => name_and_creation,
    }
}

pub(super) fn autoscaling(plural: &str) -> Cells {
    match plural {
        "horizontalpodautoscalers" => autoscaler,
        _ => name_and_creation,
    }
}

/// The names and the images of a template's containers.
fn containers(template: &Value) -> [Value; 2] {
    let list = &template["spec"]["containers"];
    let texts = |field: &'static str| json!(joined(list, |container| text(&container[field])));
    [texts("name"), texts("image")]
}

fn pod_template(seen: Seen<'_>) -> Vec<Value> {
    let template = &seen.object["template"];
    let [names, images] = containers(template);
    let labels = selector(&template["metadata"]["labels"]);
    vec![json!(seen.name()), names, images, json!(labels)]
}

fn replica_set(seen: Seen<'_>) -> Vec<Value> {
    let (spec, status) = (seen.spec(), seen.status());
    let [names, images] = containers(&spec["template"]);
    vec![
        json!(seen.name()),
        json!(number(&spec["replicas"])),
        json!(number(&status["replicas"])),
        json!(number(&status["readyReplicas"])),
        json!(seen.age()),
        names,
        images,
        json!(selector(&spec["selector"])),
    ]
}

fn deployment(seen: Seen<'_>) -> Vec<Value> {
    let (spec, status) = (seen.spec(), seen.status());
    let [names, images] = containers(&spec["template"]);
    vec![
        json!(seen.name()),
        json!(ready(spec, status)),
        json!(number(&status["updatedReplicas"])),
        json!(number(&status["availableReplicas"])),
        json!(seen.age()),
        names,
        images,
        json!(crate::selectors::selector_text(&spec["selector"])),
    ]
}

fn ready(spec: &Value, status: &Value) -> String {
    format!(
        "{}/{}",
        number(&status["readyReplicas"]),
        number(&spec["replicas"])
    )
}

fn stateful_set(seen: Seen<'_>) -> Vec<Value> {
    let [names, images] = containers(&seen.spec()["template"]);
    let ready = ready(seen.spec(), seen.status());
    vec![
        json!(seen.name()),
        json!(ready),
        json!(seen.age()),
        names,
        images,
    ]
}

fn daemon_set(seen: Seen<'_>) -> Vec<Value> {
    let (spec, status) = (seen.spec(), seen.status());
    let [names, images] = containers(&spec["template"]);
    vec![
        json!(seen.name()),
        json!(number(&status["desiredNumberScheduled"])),
        json!(number(&status["currentNumberScheduled"])),
        json!(number(&status["numberReady"])),
        json!(number(&status["updatedNumberScheduled"])),
        json!(number(&status["numberAvailable"])),
        json!(selector(&spec["template"]["spec"]["nodeSelector"])),
        json!(seen.age()),
        names,
        images,
        json!(selector(&spec["selector"])),
    ]
}

fn controller_revision(seen: Seen<'_>) -> Vec<Value> {
    let mut owners = meta::owners(seen.object).iter();
    let controller = owners.find(|owner| owner["controller"] == true);
    let controller = controller.map(|owner| {
        let group = text(&owner["apiVersion"])
            .split_once('/')
            .map_or("", |(group, _)| group);
        let kind = text(&owner["kind"]).to_lowercase();
        let dot = if group.is_empty() { "" } else { "." };
        format!("{kind}{dot}{group}/{}", text(&owner["name"]))
    });
    vec![
        json!(seen.name()),
        json!(controller.as_deref().unwrap_or(NONE)),
        json!(number(&seen.object["revision"])),
        json!(seen.age()),
    ]
}

fn job(seen: Seen<'_>) -> Vec<Value> {
    let spec = seen.spec();
    let [names, images] = containers(&spec["template"]);
    vec![
        json!(seen.name()),
        json!(job_state(seen)),
        json!(completions(seen)),
        json!(run_time(seen)),
        json!(seen.age()),
        names,
        images,
        json!(selector(&spec["selector"])),
    ]
}

fn job_state(seen: Seen<'_>) -> &'static str {
    let is = |kind| is_condition(seen.status(), kind);
    match () {
        () if is("Complete") => "Complete",
        () if is("Failed") => "Failed",
        () if meta::is_deleting(seen.object) => "Terminating",
        () if is("Suspended") => "Suspended",
        () if is("FailureTarget") => "FailureTarget",
        () if is("SuccessCriteriaMet") => "SuccessCriteriaMet",
        () => "Running",
    }
}

fn completions(seen: Seen<'_>) -> String {
    let done = number(&seen.status()["succeeded"]);
    let parallel = number(&seen.spec()["parallelism"]);
    match seen.spec()["completions"].as_i64() {
        Some(wanted) => format!("{done}/{wanted}"),
        None if parallel > 1 => format!("{done}/1 of {parallel}"),
        None => format!("{done}/1"),
    }
}

fn run_time(seen: Seen<'_>) -> String {
    let Some(start) = moment(&seen.status()["startTime"]) else {
        return String::new();
    };
    let end = moment(&seen.status()["completionTime"]).unwrap_or(seen.now);
    human_duration(end.duration_since(start))
}

fn cron_job(seen: Seen<'_>) -> Vec<Value> {
    let (spec, status) = (seen.spec(), seen.status());
    let job = &spec["jobTemplate"]["spec"];
    let [names, images] = containers(&job["template"]);
    let last = match &status["lastScheduleTime"] {
        Value::Null => NONE.to_owned(),
        time => seen.since(time),
    };
    let suspend = match spec["suspend"].as_bool() {
        Some(true) => "True",
        Some(false) => "False",
        None => UNSET,
    };
    vec![
        json!(seen.name()),
        json!(text(&spec["schedule"])),
        json!(or(&spec["timeZone"], NONE)),
        json!(suspend),
        json!(count(&status["active"])),
        json!(last),
        json!(seen.age()),
        names,
        images,
        json!(selector(&job["selector"])),
    ]
}

fn autoscaler(seen: Seen<'_>) -> Vec<Value> {
    let (spec, status) = (seen.spec(), seen.status());
    let target = &spec["scaleTargetRef"];
    let least = spec["minReplicas"].as_i64();
    vec![
        json!(seen.name()),
        json!(format!(
            "{}/{}",
            text(&target["kind"]),
            text(&target["name"])
        )),
        json!(metrics(spec, status)),
        json!(least.map_or(UNSET.to_owned(), |least| least.to_string())),
        json!(number(&spec["maxReplicas"])),
        json!(number(&status["currentReplicas"])),
        json!(seen.age()),
    ]
}

fn metrics(spec: &Value, status: &Value) -> String {
    const SHOWN: usize = 2;
    let current = items(&status["currentMetrics"]);
    let metrics = items(&spec["metrics"]).iter().enumerate();
    let all: Vec<String> = metrics
        .map(|(index, metric)| metric_text(metric, current.get(index).unwrap_or(&Value::Null)))
        .collect();
    let shown = all
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    match all.len() {
        0 => NONE.to_owned(),
        1..=SHOWN => shown,
        count => format!("{shown} + {} more...", count - SHOWN),
    }
}

fn metric_text(metric: &Value, current: &Value) -> String {
    let source = match text(&metric["type"]) {
        "External" => "external",
        "Pods" => "pods",
        "Object" => "object",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return "<unknown type>".to_owned(),
    };
    let (target, now) = (&metric[source]["target"], &current[source]["current"]);
    let by_resource = source == "resource" || source == "containerResource";
    let average = target["averageValue"].as_str();
    let (field, suffix) = match average {
        Some(_) if by_resource || source == "pods" => ("averageValue", ""),
        Some(_) => ("averageValue", " (avg)"),
        None if by_resource => ("averageUtilization", "%"),
        None => ("value", ""),
    };
    let shown = |value: &Value, absent: &str| match value {
        Value::Number(number) => format!("{number}{suffix}"),
        Value::String(text) => text.clone(),
        _ => absent.to_owned(),
    };
    let wanted = shown(&target[field], "<auto>");
    let tail = if suffix == " (avg)" { suffix } else { "" };
    let name = match by_resource {
        true => format!("{}: ", text(&metric[source]["name"])),
        false => String::new(),
    };
    format!("{name}{}/{wanted}{tail}", shown(&now[field], "<unknown>"))
}
