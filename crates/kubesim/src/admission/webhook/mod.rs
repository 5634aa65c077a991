//! Webhooks: programs elsewhere that change or refuse objects.
//!
//! ```text
//! write ──▶ no verdict: given up ──▶ the view asks the webhook ──▶ the write again, with the verdict
//! ```
//!
//! A write is quick and waits for nobody, so it cannot ask by itself. It leaves a [`Summons`] with
//! the [`Court`] and fails; whoever sent it (a client's view, a controller's task) has the summons
//! answered and tries again.

mod call;
mod court;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Act, Operation, matching, question};
use crate::meta;
use crate::patch::JsonPatch;
use crate::status::{ApiError, Cause, Details};
use crate::store::{Key, ResourceId};

pub(crate) use court::{Court, Summons};

const GROUP: &str = "admissionregistration.k8s.io";

/// Lets webhooks change an object; whether one did.
pub(super) fn mutate(act: &Act<'_>, object: &mut Value) -> Result<bool, ApiError> {
    let mut changed = false;
    for hook in hooks(act, "mutatingwebhookconfigurations", Some(object)) {
        let Some(answer) = ask(act, &hook, Some(object))? else {
            continue;
        };
        if let Some(patch) = answer["patch"].as_str() {
            *object = patched(&hook, object, patch)?;
            changed = true;
        }
    }
    Ok(changed)
}

/// Lets webhooks refuse a write.
pub(super) fn validate(act: &Act<'_>, object: Option<&Value>) -> Result<(), ApiError> {
    for hook in hooks(act, "validatingwebhookconfigurations", object) {
        ask(act, &hook, object)?;
    }
    Ok(())
}

/// The webhooks that are to be asked, by the names of their configurations.
fn hooks(act: &Act<'_>, plural: &str, object: Option<&Value>) -> Vec<Value> {
    if &*act.resource.id.group == GROUP {
        return Vec::new();
    }
    let snapshot = act
        .cluster
        .store()
        .snapshot(&ResourceId::new(GROUP, plural));
    let configurations = snapshot.objects.values();
    let hooks = configurations.flat_map(|one| one["webhooks"].as_array().into_iter().flatten());
    hooks
        .filter(|hook| matching::concerns(act, &hook["rules"], hook, object))
        .cloned()
        .collect()
}

/// The answer of a webhook that allows the write; nothing when it could not be asked and that
/// does not matter.
fn ask(act: &Act<'_>, hook: &Value, object: Option<&Value>) -> Result<Option<Value>, ApiError> {
    let name = hook["name"].as_str().unwrap_or_default();
    let harmless = matches!(hook["sideEffects"].as_str(), Some("None" | "NoneOnDryRun"));
    if act.dry_run && !harmless {
        let message = format!("admission webhook {name:?} does not support dry run");
        return Err(ApiError::bad_request(message));
    }
    let review = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": question::of(act, object),
    });
    let summons = Summons::new(name, &address(act, hook), hook, review);
    match act.cluster.court().verdict(summons)? {
        Ok(answer) if answer["allowed"] == true => Ok(Some(answer)),
        Ok(answer) => Err(denied(name, &answer["status"])),
        Err(_) if hook["failurePolicy"] == "Ignore" => Ok(None),
        Err(trouble) => Err(failed(name, &trouble)),
    }
}

/// Where a webhook is. One behind a service can be reached if the service names a host outside.
fn address(act: &Act<'_>, hook: &Value) -> String {
    let client = &hook["clientConfig"];
    if let Some(url) = client["url"].as_str() {
        return url.to_owned();
    }
    let service = &client["service"];
    let text = |field: &str| service[field].as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (text("namespace"), text("name"));
    let key = Key::namespaced(&namespace, &name);
    let found = act
        .cluster
        .store()
        .get(&ResourceId::new("", "services"), &key);
    let outside = found.and_then(|found| found["spec"]["externalName"].as_str().map(str::to_owned));
    let host = outside.unwrap_or_else(|| format!("{name}.{namespace}.svc"));
    let port = service["port"].as_i64().unwrap_or(443);
    format!("https://{host}:{port}{}", text("path"))
}

fn patched(hook: &Value, object: &Value, patch: &str) -> Result<Value, ApiError> {
    let name = hook["name"].as_str().unwrap_or_default();
    let wrong =
        |why: String| ApiError::internal(format!("webhook {name:?} sent a bad patch: {why}"));
    let patch = STANDARD
        .decode(patch)
        .map_err(|error| wrong(error.to_string()))?;
    let patch = JsonPatch::decode(&patch).map_err(|error| wrong(error.to_string()))?;
    patch
        .apply(object)
        .map_err(|error| wrong(error.to_string()))
}

fn denied(name: &str, status: &Value) -> ApiError {
    let by = format!("admission webhook {name:?} denied the request");
    let text = |field: &str| status[field].as_str().filter(|text| !text.is_empty());
    let message = match text("message").or_else(|| text("reason")) {
        Some(why) => format!("{by}: {why}"),
        None => format!("{by} without explanation"),
    };
    let code = status["code"]
        .as_u64()
        .and_then(|code| u16::try_from(code).ok());
    let code = code.filter(|code| *code >= 400).unwrap_or(400);
    let reason = match text("reason") {
        Some("Forbidden") => "Forbidden",
        Some("Invalid") => "Invalid",
        Some("Conflict") => "Conflict",
        Some("BadRequest") => "BadRequest",
        _ => "",
    };
    ApiError::new(code, reason, message)
}

fn failed(name: &str, trouble: &str) -> ApiError {
    let why = format!("failed calling webhook {name:?}: {trouble}");
    let cause = Cause {
        reason: "",
        message: why.clone(),
        field: String::new(),
    };
    ApiError::new(
        500,
        "InternalError",
        format!("Internal error occurred: {why}"),
    )
    .about(Details {
        causes: vec![cause],
        ..Details::default()
    })
}

/// Objects as a webhook tells them apart: without what differs from try to try.
fn steady(review: &Value) -> Value {
    let mut request = review["request"].clone();
    drop(request.as_object_mut().map(|request| request.remove("uid")));
    let generated = request["object"]["metadata"].get("generateName").is_some();
    let created = request["operation"] == Operation::Create.as_str();
    if generated && created {
        request["name"] = Value::Null;
        meta::remove(&mut request["object"], "name");
    }
    for field in ["uid", "creationTimestamp", "managedFields"] {
        if request["object"].is_object() && created {
            meta::remove(&mut request["object"], field);
        }
    }
    request
}
