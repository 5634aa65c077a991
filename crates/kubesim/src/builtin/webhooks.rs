//! Configurations of webhooks: what they mean when they do not say.

use serde_json::{Value, json};

use super::fill;
use super::kind::{Kind, set_generation};

const GROUP: &str = "admissionregistration.k8s.io";

pub(super) const KINDS: [Kind; 2] = [
    Kind::plain(GROUP, "ValidatingWebhookConfiguration")
        .prepares(|hooks, _| set_generation(hooks, Some(1)))
        .defaults(|hooks| fill::each(hooks, "webhooks").for_each(default_webhook)),
    Kind::plain(GROUP, "MutatingWebhookConfiguration")
        .prepares(|hooks, _| set_generation(hooks, Some(1)))
        .defaults(|hooks| {
            fill::each(hooks, "webhooks").for_each(|hook| {
                default_webhook(hook);
                fill::absent(hook, "reinvocationPolicy", "Never");
            });
        }),
];

fn default_webhook(hook: &mut Value) {
    fill::absent(hook, "failurePolicy", "Fail");
    fill::absent(hook, "matchPolicy", "Equivalent");
    fill::absent(hook, "namespaceSelector", json!({}));
    fill::absent(hook, "objectSelector", json!({}));
    fill::absent(hook, "timeoutSeconds", 10);
    fill::each(hook, "rules").for_each(|rule| fill::absent(rule, "scope", "*"));
    if let Some(Value::Object(_)) = hook.pointer("/clientConfig/service") {
        fill::absent(&mut hook["clientConfig"]["service"], "port", 443);
    }
}
