//! Who owns which fields, as `managedFields` says it.
//!
//! Our own entry lists exactly the fields that we applied and nobody took since, so its
//! [`fingerprint`] changes when, and only when, somebody changed or removed one of them.

use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::metadata::{Fields, Managed};

/// The first eight bytes of a text's SHA-256.
pub(crate) fn hash(text: &str) -> u64 {
    let digest = Sha256::digest(text.as_bytes());
    digest
        .iter()
        .take(8)
        .fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

/// The entry of what `manager` applied.
pub(crate) fn own_entry<'m>(entries: &'m [Managed], manager: &str) -> Option<&'m Managed> {
    entries.iter().find(|entry| {
        entry.manager.as_deref() == Some(manager)
            && entry.operation.as_deref() == Some("Apply")
            && entry.subresource.as_deref().is_none_or(str::is_empty)
    })
}

/// The fingerprint of what `manager` owns by applying it; 0 when it owns nothing.
pub(crate) fn fingerprint(entries: &[Managed], manager: &str) -> u64 {
    let fields = own_entry(entries, manager).and_then(|entry| entry.fields.as_ref());
    fields.map_or(0, |fields| hash(fields.text()))
}

/// A field of ours that somebody took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostField {
    /// Where it is, as a JSON pointer into the object.
    pub pointer: String,
    /// Who owns it now; `None` when it was removed.
    pub manager: Option<String>,
    /// When that manager last wrote, as far as the server says.
    pub at: Option<Timestamp>,
}

/// The fields of `object` that `manager` applied once and does not own any more.
pub(crate) fn lost(object: &Value, entries: &[Managed], manager: &str) -> Vec<LostField> {
    let own = own_entry(entries, manager);
    let others = entries
        .iter()
        .filter(|entry| own.is_none_or(|own| !std::ptr::eq(*entry, own)));
    let others = others.filter_map(|entry| Some((entry, entry.fields.as_ref()?.tree())));
    let others: Vec<_> = others.collect();
    let others: Vec<_> = others
        .iter()
        .map(|(entry, fields)| (*entry, fields))
        .collect();
    let own = own
        .and_then(|entry| entry.fields.as_ref())
        .map(Fields::tree);
    let mut walk = Walk::default();
    walk.value(object, own.as_ref(), &others);
    walk.lost
}

type Other<'m> = (&'m Managed, &'m Value);

/// A walk over an object beside the fields that people own of it.
#[derive(Default)]
struct Walk {
    pointer: String,
    lost: Vec<LostField>,
}

impl Walk {
    fn value(&mut self, value: &Value, own: Option<&Value>, others: &[Other<'_>]) {
        match (value, own) {
            // What has no parts of its own is owned as a whole.
            (_, Some(fields)) if !has_parts(fields) => {}
            (Value::Object(map), own) if !map.is_empty() => {
                for (name, value) in map {
                    if self.counts(name, value) {
                        self.step(name, value, own, others, |fields| {
                            fields.get(format!("f:{name}"))
                        });
                    }
                }
            }
            (Value::Array(items), Some(own)) => {
                for (at, item) in items.iter().enumerate() {
                    self.step(&at.to_string(), item, Some(own), others, |fields| {
                        part_of(fields, item)
                    });
                }
            }
            (_, Some(_)) => {}
            (_, None) => self.lose(others),
        }
    }

    fn step<'m>(
        &mut self,
        name: &str,
        value: &Value,
        own: Option<&'m Value>,
        others: &[Other<'m>],
        descend: impl Fn(&'m Value) -> Option<&'m Value>,
    ) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer
            .push_str(&name.replace('~', "~0").replace('/', "~1"));
        let below = others
            .iter()
            .filter_map(|(entry, fields)| Some((*entry, descend(fields)?)));
        self.value(value, own.and_then(&descend), &below.collect::<Vec<_>>());
        self.pointer.truncate(length);
    }

    /// Identity is nobody's field, and a null is no value.
    fn counts(&self, name: &str, value: &Value) -> bool {
        let identity = match self.pointer.as_str() {
            "" => matches!(name, "apiVersion" | "kind"),
            "/metadata" => matches!(name, "name" | "namespace"),
            _ => false,
        };
        !identity && !value.is_null()
    }

    fn lose(&mut self, others: &[Other<'_>]) {
        let taker = others
            .iter()
            .max_by_key(|(entry, _)| entry.time.as_ref().map(|time| time.0));
        self.lost.push(LostField {
            pointer: self.pointer.clone(),
            manager: taker.and_then(|(entry, _)| entry.manager.clone()),
            at: taker.and_then(|(entry, _)| entry.time.as_ref().map(|time| time.0)),
        });
    }
}

fn has_parts(fields: &Value) -> bool {
    fields
        .as_object()
        .is_some_and(|fields| fields.keys().any(|name| name != "."))
}

/// The part of a list's fields that stands for `item`: by its keys, or by its value.
fn part_of<'f>(fields: &'f Value, item: &Value) -> Option<&'f Value> {
    let stands_for = |name: &str| match name.split_once(':') {
        Some(("k", keys)) => {
            serde_json::from_str::<Value>(keys).is_ok_and(|keys| has_keys(item, &keys))
        }
        Some(("v", value)) => {
            serde_json::from_str::<Value>(value).is_ok_and(|value| value == *item)
        }
        _ => false,
    };
    let mut parts = fields.as_object()?.iter();
    parts
        .find(|(name, _)| stands_for(name))
        .map(|(_, part)| part)
}

/// Keys that the item does not write are the server's defaults.
fn has_keys(item: &Value, keys: &Value) -> bool {
    let written = |(name, key): (&String, &Value)| item.get(name).is_none_or(|value| value == key);
    item.is_object()
        && keys
            .as_object()
            .is_some_and(|keys| keys.iter().all(written))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use serde_json::json;

    use super::*;

    fn entry(manager: &str, operation: &str, second: i64, fields: Value) -> Managed {
        Managed {
            manager: Some(manager.into()),
            operation: Some(operation.into()),
            time: Some(Time(Timestamp::from_second(second).unwrap())),
            fields: Some(Fields::from(fields)),
            ..Managed::default()
        }
    }

    fn object() -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "labels": {"app": "web", "tier": "front"}},
            "spec": {"replicas": 3, "template": {"spec": {"containers": [
                {"name": "a", "image": "a:1", "ports": [{"containerPort": 80}], "command": ["x", "y"]},
            ]}}},
        })
    }

    fn whole() -> Value {
        json!({
            "f:metadata": {"f:labels": {"f:app": {}, "f:tier": {}}},
            "f:spec": {"f:replicas": {}, "f:template": {"f:spec": {"f:containers": {
                r#"k:{"name":"a"}"#: {".": {}, "f:name": {}, "f:image": {}, "f:command": {},
                    "f:ports": {r#"k:{"containerPort":80,"protocol":"TCP"}"#: {".": {}, "f:containerPort": {}}}},
            }}}},
        })
    }

    #[test]
    fn nothing_is_lost_of_a_whole_entry() {
        assert_eq!(
            lost(&object(), &[entry("us", "Apply", 1, whole())], "us"),
            []
        );
    }

    #[test]
    fn a_scaled_deployment_tells_who_scaled_it_and_when() {
        let mut ours = whole();
        ours["f:spec"].as_object_mut().unwrap().remove("f:replicas");
        let entries = [
            entry("us", "Apply", 1, ours),
            entry(
                "kubectl-edit",
                "Update",
                5,
                json!({"f:spec": {"f:paused": {}}}),
            ),
            entry(
                "kubectl",
                "Update",
                9,
                json!({"f:spec": {"f:replicas": {}}}),
            ),
        ];
        assert_eq!(
            lost(&object(), &entries, "us"),
            [LostField {
                pointer: "/spec/replicas".into(),
                manager: Some("kubectl".into()),
                at: Some(Timestamp::from_second(9).unwrap()),
            }]
        );
    }

    #[test]
    fn a_removed_field_is_nobodys() {
        let mut ours = whole();
        ours["f:metadata"]["f:labels"]
            .as_object_mut()
            .unwrap()
            .remove("f:tier");
        let found = lost(&object(), &[entry("us", "Apply", 1, ours)], "us");
        assert_eq!(found[0].pointer, "/metadata/labels/tier");
        assert_eq!(found[0].manager, None);
    }

    #[test]
    fn a_field_in_a_list_is_found_by_its_keys() {
        let mut ours = whole();
        let container =
            &mut ours["f:spec"]["f:template"]["f:spec"]["f:containers"][r#"k:{"name":"a"}"#];
        container.as_object_mut().unwrap().remove("f:image");
        let found = lost(&object(), &[entry("us", "Apply", 1, ours)], "us");
        assert_eq!(found[0].pointer, "/spec/template/spec/containers/0/image");
    }

    #[test]
    fn the_fingerprint_is_of_what_we_applied_alone() {
        let applied = entry("us", "Apply", 1, whole());
        let mut status = entry("us", "Apply", 1, json!({"f:status": {}}));
        status.subresource = Some("status".into());
        let updated = entry("us", "Update", 2, json!({"f:data": {}}));
        let alone = fingerprint(std::slice::from_ref(&applied), "us");
        assert_eq!(fingerprint(&[status, updated, applied], "us"), alone);
        assert_eq!(fingerprint(&[], "us"), 0);
    }
}
