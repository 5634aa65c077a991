//! CustomResourceDefinitions as objects; what they define is the matter of [`crate::crd`].

use serde_json::{Value, json};

use super::fill;
use super::kind::Kind;
use crate::crd;

pub(super) const KINDS: [Kind; 1] =
    [
        Kind::plain("apiextensions.k8s.io", "CustomResourceDefinition")
            .counted()
            .defaults(default)
            .prepares(|crd, _| store_version(crd))
            .prepares_update(|crd, _, _| store_version(crd))
            .checks(crd::check)
            .checks_update(crd::check_update),
    ];

fn default(crd: &mut Value) {
    let Some(spec) = fill::part(crd, "spec") else {
        return;
    };
    if let Some(names) = fill::part(spec, "names") {
        let kind = fill::text(names, "kind").to_owned();
        if !kind.is_empty() {
            fill::empty(names, "singular", kind.to_lowercase());
            fill::empty(names, "listKind", format!("{kind}List"));
        }
    }
    fill::absent(spec, "conversion", json!({"strategy": "None"}));
    let webhook = spec.pointer_mut("/conversion/webhook/clientConfig/service");
    if let Some(service) = webhook.filter(|service| service.is_object()) {
        fill::absent(service, "port", 443);
    }
}

/// The storage version joins the versions that objects may be stored in.
fn store_version(crd: &mut Value) {
    let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
    let storage = versions
        .filter(|v| v["storage"] == true)
        .map(|v| v["name"].clone())
        .next();
    let Some(storage) = storage else { return };
    if !crd["status"].is_object() {
        crd["status"] = json!({});
    }
    let stored = &mut crd["status"]["storedVersions"];
    match stored.as_array_mut() {
        Some(list) if list.contains(&storage) => {}
        Some(list) => list.push(storage),
        None => *stored = json!([storage]),
    }
}
