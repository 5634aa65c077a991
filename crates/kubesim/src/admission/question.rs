//! A write as policies and webhooks are told of it.

use serde_json::{Value, json};

use super::{Act, Operation};
use crate::meta;

/// What is asked for, with the object as it would be and as it was.
pub(super) fn of(act: &Act<'_>, new: Option<&Value>) -> Value {
    let id = &act.resource.id;
    let version = &*act.resource.version;
    let kind = json!({"group": &*id.group, "version": version, "kind": &*act.resource.kind});
    let resource = json!({"group": &*id.group, "version": version, "resource": &*id.plural});
    let object = new.or(act.old).unwrap_or(&Value::Null);
    let options = match act.operation {
        Operation::Create => "CreateOptions",
        Operation::Update => "UpdateOptions",
        Operation::Delete => "DeleteOptions",
    };
    let mut question = json!({
        "uid": act.cluster.ambient().random.uuid().to_string(),
        "kind": kind,
        "resource": resource,
        "requestKind": kind,
        "requestResource": resource,
        "name": meta::name(object),
        "operation": act.operation.as_str(),
        "userInfo": act.actor.to_value(),
        "object": new,
        "oldObject": act.old,
        "dryRun": act.dry_run,
        "options": {"apiVersion": "meta.k8s.io/v1", "kind": options},
    });
    if act.resource.namespaced {
        question["namespace"] = meta::namespace(object).into();
    }
    if !act.subresource.is_empty() {
        question["subResource"] = act.subresource.into();
        question["requestSubResource"] = act.subresource.into();
    }
    question
}
