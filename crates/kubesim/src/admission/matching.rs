//! Whether policies and webhooks are concerned by a write.

use serde_json::Value;

use super::Act;
use crate::meta;
use crate::selectors::LabelSelector;
use crate::store::{Key, ResourceId};

/// Whether a write is what these rules and selectors are about.
pub(super) fn concerns(
    act: &Act<'_>,
    rules: &Value,
    selectors: &Value,
    new: Option<&Value>,
) -> bool {
    let rules = rules.as_array().into_iter().flatten();
    let mut rules = rules.into_iter();
    let object = new.or(act.old);
    rules.any(|rule| fits_rule(act, rule, object))
        && fits_namespace(act, &selectors["namespaceSelector"], object)
        && fits_object(act, &selectors["objectSelector"], new)
}

fn has(list: &Value, wanted: &str) -> bool {
    meta::strings(Some(list))
        .iter()
        .any(|one| *one == "*" || *one == wanted)
}

fn fits_rule(act: &Act<'_>, rule: &Value, object: Option<&Value>) -> bool {
    let scope = match rule["scope"].as_str() {
        Some("Namespaced") => act.resource.namespaced,
        Some("Cluster") => !act.resource.namespaced,
        _ => true,
    };
    let names = meta::strings(rule.get("resourceNames"));
    let named =
        names.is_empty() || object.is_some_and(|object| names.contains(&meta::name(object)));
    // Objects are handed over in the version that is asked for, so that versions do not matter.
    scope
        && named
        && has(&rule["operations"], act.operation.as_str())
        && has(&rule["apiGroups"], &act.resource.id.group)
        && meta::strings(rule.get("resources"))
            .iter()
            .any(|one| fits_resource(act, one))
}

/// `pods`, `pods/status`, `pods/*`, `*`, `*/*` or `*/scale`.
fn fits_resource(act: &Act<'_>, wanted: &str) -> bool {
    let (resource, part) = wanted.split_once('/').unwrap_or((wanted, ""));
    let fits = |wanted: &str, found: &str| wanted == "*" || wanted == found;
    fits(resource, &act.resource.id.plural) && fits(part, act.subresource)
}

fn fits_namespace(act: &Act<'_>, selector: &Value, object: Option<&Value>) -> bool {
    if selector
        .as_object()
        .is_none_or(|selector| selector.is_empty())
    {
        return true;
    }
    let labels = match object {
        Some(object) if act.resource.is("", "namespaces") => object["metadata"]["labels"].clone(),
        Some(object) if act.resource.namespaced => {
            namespace_of(act, object)["metadata"]["labels"].clone()
        }
        _ => return true,
    };
    LabelSelector::of(selector).matches(&labels)
}

/// The namespace that an object lies in; null outside of namespaces.
pub(super) fn namespace_of(act: &Act<'_>, object: &Value) -> Value {
    let key = Key::cluster(meta::namespace(object));
    let found = act
        .cluster
        .store()
        .get(&ResourceId::new("", "namespaces"), &key);
    found.map_or(Value::Null, |found| Value::clone(&found))
}

fn fits_object(act: &Act<'_>, selector: &Value, new: Option<&Value>) -> bool {
    let selector = LabelSelector::of(selector);
    let mut objects = new.into_iter().chain(act.old);
    objects.any(|object| selector.matches(&object["metadata"]["labels"]))
}
