//! Plays a scenario against a cluster.

use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::clients::Clients;
use super::library::{Definitions, Recording};
use super::model::{Action, Scenario, Step, Until};
use super::normalise::Normaliser;
use super::places;
use super::reply::Reply;
use super::template::Values;

const PATIENCE: Duration = Duration::from_secs(30);

/// Plays `scenario` and returns the normalised reply to every step.
pub async fn run(scenario: &Scenario, definitions: &Definitions, clients: &Clients) -> Vec<Reply> {
    let mut play = Play {
        clients,
        values: Values {
            namespace: scenario.namespace(),
            ..Values::default()
        },
        normaliser: Normaliser::default(),
        replies: Vec::new(),
    };
    for step in definitions.steps_to_serve(&scenario.with) {
        play.step(&step).await;
    }
    let namespace = json!({"metadata": {"name": "{{ns}}"}});
    play.step(&Step::quiet("POST ns", Some(namespace))).await;
    for object in ["cm/kube-root-ca.crt", "sa/default"] {
        play.step(&Step::wait(object, Until::Code(200))).await;
    }
    // What the preparation met on a cluster that others use too must not count.
    play.replies.clear();
    play.normaliser = Normaliser::default();
    for step in &scenario.steps {
        play.step(step).await;
    }
    play.replies
}

/// Plays many scenarios, `width` at a time, each with the clients that `cluster_for` gives it.
pub async fn play_all(
    scenarios: &[Scenario],
    definitions: &Definitions,
    width: usize,
    cluster_for: impl AsyncFn(&Scenario) -> Clients,
) -> Recording {
    let cluster_for = &cluster_for;
    let plays = scenarios.iter().map(|scenario| async move {
        let clients = cluster_for(scenario).await;
        (scenario.id(), run(scenario, definitions, &clients).await)
    });
    futures::stream::iter(plays)
        .buffer_unordered(width)
        .collect()
        .await
}

struct Play<'a> {
    clients: &'a Clients,
    values: Values,
    normaliser: Normaliser,
    replies: Vec<Reply>,
}

impl Play<'_> {
    fn step<'b>(&'b mut self, step: &'b Step) -> BoxFuture<'b, ()> {
        Box::pin(async move {
            let (mut reply, inner) = match &step.action {
                Action::Do => (self.ask(step).await, Vec::new()),
                Action::Wait(until) => (self.wait(step, until).await, Vec::new()),
                Action::Watch(events, during) => self.watch(step, *events, during).await,
            };
            if let Some(id) = &step.details.id {
                self.values.replies.insert(id.clone(), reply.body.clone());
            }
            self.normaliser.learn(&reply.body);
            if !step.details.only.is_empty() && reply.status < 300 {
                reply.body = parts(&reply.body, &step.details.only);
            }
            reply.body = self.normaliser.value(reply.body);
            if step.details.quiet {
                reply = Reply {
                    body: Value::Null,
                    warnings: Vec::new(),
                    ..reply
                };
            }
            self.replies.extend(inner);
            self.replies.push(reply);
        })
    }

    async fn ask(&self, step: &Step) -> Reply {
        let reply = async {
            let response = self.send(step).await?;
            let head = Reply::head(&response);
            let body = response.into_body().collect_bytes().await?;
            Ok::<_, kube::Error>(Reply {
                body: json_or_text(&body),
                ..head
            })
        };
        match timeout(PATIENCE, reply).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(error)) => Reply::none(&error.to_string()),
            Err(_) => Reply::none("no reply in time"),
        }
    }

    async fn send(&self, step: &Step) -> Result<Response<Body>, kube::Error> {
        let client = self.clients.who(step.details.user.into());
        client.send(self.request(step)?).await
    }

    fn request(&self, step: &Step) -> Result<Request<Body>, kube::Error> {
        let (_, target) = places::expand(&step.request.target);
        let details = &step.details;
        let accept = match details.accept.as_deref() {
            None => "application/json",
            Some("table") => "application/json;as=Table;v=v1;g=meta.k8s.io",
            Some(other) => other,
        };
        let mut request = Request::builder()
            .method(step.request.method.clone())
            .uri(self.values.text(&target))
            .header(ACCEPT, accept)
            .header(USER_AGENT, details.agent.as_deref().unwrap_or("scenario/1"));
        for (name, value) in &details.headers {
            request = request.header(name, self.values.text(value));
        }
        let body = self.body(step);
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, media_type(details.content_type.as_deref()));
        }
        request
            .body(Body::from(body))
            .map_err(kube::Error::HttpError)
    }

    fn body(&self, step: &Step) -> Vec<u8> {
        let details = &step.details;
        if let Some(raw) = &details.raw {
            return self.values.text(raw).into_bytes();
        }
        let mut body = match &details.from {
            Some(id) => self.values.replies.get(id).cloned().unwrap_or(Value::Null),
            None => Value::Null,
        };
        match (&details.body, details.from.is_some()) {
            (Some(changes), true) => merge(&mut body, &self.values.value(changes)),
            (Some(whole), false) => body = self.values.value(whole),
            (None, true) => {}
            (None, false) => return Vec::new(),
        }
        self.fill_in_type(step, &mut body);
        body.to_string().into_bytes()
    }

    /// An applied object says its name, too.
    fn fill_in_name(&self, step: &Step, map: &mut Map<String, Value>) {
        let path = step.request.target.split('?').next().unwrap_or_default();
        let name = self.values.text(path.split('/').nth(1).unwrap_or_default());
        let metadata = map.entry("metadata").or_insert_with(|| json!({}));
        if let Value::Object(metadata) = metadata {
            metadata.entry("name").or_insert_with(|| json!(name));
        }
    }

    /// Objects that are created, replaced or applied say what they are.
    fn fill_in_type(&self, step: &Step, body: &mut Value) {
        let whole = matches!(
            step.details.content_type.as_deref(),
            None | Some("apply" | "yaml")
        );
        let is_object_verb = step.request.method != http::Method::DELETE;
        let (place, _) = places::expand(&step.request.target);
        let (Some(place), Value::Object(map)) = (place, body) else {
            return;
        };
        if whole && is_object_verb && !step.details.bare {
            let api_version = self.values.text(place.api_version);
            map.entry("apiVersion")
                .or_insert_with(|| json!(api_version));
            map.entry("kind").or_insert_with(|| json!(place.kind));
            if step.details.content_type.as_deref() == Some("apply") {
                self.fill_in_name(step, map);
            }
        }
    }

    async fn wait(&self, step: &Step, until: &Until) -> Reply {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let reply = self.ask(step).await;
            if until.holds(&reply) || Instant::now() > deadline {
                return reply;
            }
            sleep(Duration::from_millis(25)).await;
        }
    }

    /// Opens a stream, makes the inner steps, and reads events.
    async fn watch(
        &mut self,
        step: &Step,
        events: Option<usize>,
        during: &[Step],
    ) -> (Reply, Vec<Reply>) {
        let mut response = match self.send(&with_watch_parameters(step)).await {
            Ok(response) => response,
            Err(error) => return (Reply::none(&error.to_string()), Vec::new()),
        };
        let head = Reply::head(&response);
        let before = self.replies.len();
        for step in during {
            self.step(step).await;
        }
        let inner = self.replies.split_off(before);
        let read = read_events(response.body_mut(), events.unwrap_or(usize::MAX));
        let body = timeout(PATIENCE, read)
            .await
            .unwrap_or_else(|_| json!("no events in time"));
        let body = if head.status == 200 {
            body
        } else {
            body.get(0).cloned().unwrap_or(body)
        };
        (Reply { body, ..head }, inner)
    }
}

/// The parts of a body that these pointers lead to.
fn parts(body: &Value, pointers: &[String]) -> Value {
    let part = |pointer: &String| (pointer.clone(), part(body, pointer));
    Value::Object(pointers.iter().map(part).collect())
}

fn part(body: &Value, pointer: &str) -> Value {
    let Some((list, rest)) = pointer.split_once("/*") else {
        return body.pointer(pointer).cloned().unwrap_or(Value::Null);
    };
    let items = body.pointer(list).and_then(Value::as_array);
    let mut values: Vec<Value> = items
        .into_iter()
        .flatten()
        .map(|item| part(item, rest))
        .collect();
    values.sort_by_cached_key(ToString::to_string);
    values.into()
}

fn with_watch_parameters(step: &Step) -> Step {
    let mut step = step.clone();
    // A watch that waits for so many events ends with the last one, however slow the machine is.
    let seconds = match step.action {
        Action::Watch(Some(_), _) => "20",
        _ => "2",
    };
    let target = &mut step.request.target;
    for (key, value) in [("watch", "1"), ("timeoutSeconds", seconds)] {
        if !target.contains(&format!("{key}=")) {
            target.push(if target.contains('?') { '&' } else { '?' });
            target.push_str(&format!("{key}={value}"));
        }
    }
    step
}

async fn read_events(body: &mut Body, wanted: usize) -> Value {
    let mut events = Vec::new();
    let mut buffer = Vec::new();
    while events.len() < wanted {
        let Some(Ok(frame)) = body.frame().await else {
            break;
        };
        buffer.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
        while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = buffer.drain(..=end).collect();
            events.push(json_or_text(&line));
        }
    }
    if !buffer.is_empty() {
        events.push(json_or_text(&buffer));
    }
    events.truncate(wanted);
    Value::Array(events)
}

fn json_or_text(bytes: &[u8]) -> Value {
    if bytes.is_empty() {
        return Value::Null;
    }
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
}

fn media_type(short: Option<&str>) -> &str {
    match short {
        None => "application/json",
        Some("apply") => "application/apply-patch+yaml",
        Some("merge") => "application/merge-patch+json",
        Some("json") => "application/json-patch+json",
        Some("strategic") => "application/strategic-merge-patch+json",
        Some("yaml") => "application/yaml",
        Some(other) => other,
    }
}

/// JSON merge patch (RFC 7396).
fn merge(target: &mut Value, changes: &Value) {
    let Value::Object(changes) = changes else {
        *target = changes.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let Value::Object(map) = target else { return };
    for (key, change) in changes {
        match change {
            Value::Null => drop(map.remove(key)),
            change => merge(map.entry(key.clone()).or_insert(Value::Null), change),
        }
    }
}

impl Until {
    fn holds(&self, reply: &Reply) -> bool {
        match self {
            Self::Code(code) => reply.status == *code,
            Self::Values(values) => values.iter().all(|(pointer, wanted)| {
                reply.body.pointer(pointer).unwrap_or(&Value::Null) == wanted
            }),
        }
    }
}
