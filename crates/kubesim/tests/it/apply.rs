//! Writes of every kind to ConfigMaps, Deployments, Services and a custom resource, as a real
//! 1.36.4 server answered them (`applies.json`): the same objects, managers and refusals.

use evenkeel_kubesim::Cluster;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::Ask;

#[derive(Deserialize)]
struct Scenario {
    name: String,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    method: String,
    path: String,
    #[serde(rename = "type")]
    content_type: String,
    body: Value,
    #[serde(default)]
    code: u16,
    #[serde(default)]
    reply: Value,
}

#[tokio::test]
async fn config_maps() {
    let scenarios = [
        "config map by hand",
        "config map applied",
        "config map mixed",
    ];
    check(&scenarios).await;
}

#[tokio::test]
async fn forgotten_managers_and_too_many_of_them() {
    check(&["managers reset", "many updaters", "namespace"]).await;
}

#[tokio::test]
async fn custom_resources() {
    check(&["widget applied", "widget by hand"]).await;
}

#[tokio::test]
async fn deployments() {
    check(&["deployment applied", "deployment by hand"]).await;
}

#[tokio::test]
async fn services() {
    check(&["service applied"]).await;
}

#[tokio::test]
async fn refusals() {
    check(&["bad requests"]).await;
}

/// Repeats recorded scenarios and compares every answer.
async fn check(names: &[&str]) {
    let recorded: Vec<Scenario> =
        serde_json::from_str(include_str!("applies.json")).expect("the recording");
    let find = |name: &str| recorded.iter().find(|scenario| scenario.name == name);
    let cluster = Cluster::new();
    answer(
        &cluster,
        &find("definition").expect("the custom resource").steps[0],
    )
    .await;
    for name in names {
        for (nth, step) in find(name).expect("a scenario").steps.iter().enumerate() {
            let (code, reply) = answer(&cluster, step).await;
            let difference = first_difference("", &reply, &step.reply);
            assert_eq!((code, &*difference), (step.code, ""), "{name}, step {nth}");
        }
    }
}

async fn answer(cluster: &Cluster, step: &Step) -> (u16, Value) {
    let ask = Ask {
        method: step.method.clone().leak(),
        path: step.path.clone(),
        content_type: step.content_type.clone().leak(),
        body: if step.body.is_null() {
            String::new()
        } else {
            step.body.to_string()
        },
        ..Ask::default()
    };
    let answer = ask.of(cluster).await;
    let mut reply = answer.json();
    normalise(&mut reply);
    (answer.code, reply)
}

/// Takes out what no two servers have in common.
fn normalise(value: &mut Value) {
    if let Value::Array(items) = value {
        items.iter_mut().for_each(normalise);
    }
    let Value::Object(fields) = value else { return };
    fields.retain(|name, _| {
        !["uid", "resourceVersion", "creationTimestamp"].contains(&name.as_str())
    });
    if fields.contains_key("fieldsType") && fields.contains_key("time") {
        fields["time"] = json!("T");
    }
    if let Some(Value::Array(entries)) = fields.get_mut("managedFields") {
        let text = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        entries.sort_by_key(|e| {
            (
                text(e, "operation"),
                text(e, "manager"),
                text(e, "subresource"),
            )
        });
    }
    if let Some(Value::Array(causes)) = fields.get_mut("causes") {
        causes.sort_by_key(|cause| (cause["message"].to_string(), cause["field"].to_string()));
    }
    for (name, value) in [("clusterIP", json!("IP")), ("clusterIPs", json!(["IP"]))] {
        if let Some(field) = fields.get_mut(name) {
            *field = value;
        }
    }
    fields.values_mut().for_each(normalise);
}

/// Where two values differ first.
fn first_difference(path: &str, ours: &Value, theirs: &Value) -> String {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let names = a
                .keys()
                .chain(b.keys().filter(|name| !a.contains_key(*name)));
            names
                .map(|name| (name, &ours[name], &theirs[name]))
                .find(|(_, a, b)| a != b)
                .map_or_else(String::new, |(name, a, b)| {
                    first_difference(&format!("{path}.{name}"), a, b)
                })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let found = a.iter().zip(b).enumerate().find(|(_, (a, b))| a != b);
            found.map_or_else(String::new, |(nth, (a, b))| {
                first_difference(&format!("{path}[{nth}]"), a, b)
            })
        }
        _ => format!("{path}\n    ours {ours}\n  theirs {theirs}"),
    }
}
