//! How a translation is shown, and how it is applied.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Map, Value};

use super::objects::Translation;
use crate::go::{json, object};

/// What kagent's own golden files leave out, at any depth.
const LEFT_OUT: [&str; 4] = ["id", "created_at", "updated_at", "uuid"];

impl Translation {
    /// The objects in the order in which kagent makes them, as Go writes them; then what it does
    /// not make.
    pub fn manifest(&self) -> Vec<Value> {
        let secret = value(&self.secret);
        let account = self.service_account.iter().map(value);
        let skills = self.skills.iter().map(value);
        let deployment = with(value(&self.deployment), "status", serde_json::json!({}));
        let service = with(
            value(&self.service),
            "status",
            serde_json::json!({"loadBalancer": {}}),
        );
        let running = [deployment, service];
        let budget = self.disruption_budget.iter().map(value);
        [secret]
            .into_iter()
            .chain(account)
            .chain(skills)
            .chain(running)
            .chain(budget)
            .collect()
    }

    /// The objects as they are applied: without what the API server fills in, and with the Secret
    /// in the form in which it is kept, so that every entry has an owner.
    pub fn to_apply(&self) -> Vec<Value> {
        self.manifest()
            .into_iter()
            .map(without_status)
            .map(kept_form)
            .collect()
    }

    /// One object in the form of kagent's golden files: `{agentCard, config, manifest}`.
    pub fn golden(&self) -> Value {
        let manifest: Vec<_> = self.manifest().into_iter().map(as_typed).collect();
        golden_form(serde_json::json!({
            "agentCard": as_read(self.card.about()),
            "config": as_read(&self.config),
            "manifest": manifest,
        }))
    }
}

/// An object of Kubernetes, as Go writes it.
fn value<T: Serialize>(object: &T) -> Value {
    object::as_go(value_of(object))
}

/// What somebody reads who is given the text.
fn as_read<T: Serialize>(value: &T) -> Value {
    let text = json::marshal(value).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn value_of<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn with(mut object: Value, field: &str, value: Value) -> Value {
    object[field] = value;
    object
}

fn without_status(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    object
}

/// What was given as text is kept as bytes.
fn kept_form(mut object: Value) -> Value {
    let texts = object
        .as_object_mut()
        .and_then(|fields| fields.remove("stringData"));
    if let Some(Value::Object(texts)) = texts {
        let texts = texts.into_iter().map(|(name, text)| {
            (
                name,
                Value::from(STANDARD.encode(text.as_str().unwrap_or_default())),
            )
        });
        object["data"] = texts.collect::<Map<_, _>>().into();
    }
    object
}

/// kagent's code does not say what its ConfigMap is; its client does.
fn as_typed(mut object: Value) -> Value {
    if object["kind"] == "ConfigMap"
        && let Some(fields) = object.as_object_mut()
    {
        fields.remove("kind");
        fields.remove("apiVersion");
    }
    object
}

fn golden_form(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields
                .into_iter()
                .filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
            kept.map(|(name, value)| (name, golden_form(value)))
                .collect()
        }
        Value::Array(items) if items.is_empty() => Value::Null,
        Value::Array(items) => items.into_iter().map(golden_form).collect(),
        other => other,
    }
}
