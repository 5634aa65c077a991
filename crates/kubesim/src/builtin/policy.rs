//! PodDisruptionBudgets, HorizontalPodAutoscalers, PriorityClasses, LimitRanges and quotas.

use serde_json::{Value, json};

use super::at::At;
use super::kind::{Kind, set_generation};
use super::rules::Faults;
use super::{fill, names, selectors};
use crate::field_error::FieldError;
use crate::quantity::Quantity;

pub(super) const KINDS: [Kind; 5] = [
    Kind::plain("policy", "PodDisruptionBudget")
        .counted()
        .checks(check_budget),
    Kind::plain("autoscaling", "HorizontalPodAutoscaler")
        .defaults(default_autoscaler)
        .checks(check_autoscaler),
    Kind::plain("scheduling.k8s.io", "PriorityClass")
        .prepares(|class, _| set_generation(class, Some(1)))
        .defaults(|class| fill::absent(class, "preemptionPolicy", "PreemptLowerPriority"))
        .checks(check_priority)
        .checks_update(check_priority_update),
    Kind::plain("", "LimitRange")
        .defaults(default_limits)
        .checks(check_limits),
    Kind::plain("", "ResourceQuota").checks(check_quota),
];

fn check_budget(budget: &At<'_>, faults: &mut Faults) {
    let spec = budget.field("spec");
    let (most, least) = (spec.field("maxUnavailable"), spec.field("minAvailable"));
    if most.is_set() && least.is_set() {
        let words = "minAvailable and maxUnavailable cannot be both set";
        faults.add(spec.invalid(words).showing(format!(
            "{{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
            least.value,
            spec.field("selector").value,
            most.value,
            spec.field("unhealthyPodEvictionPolicy").value,
        )));
    }
    for count in [&least, &most] {
        faults.count_or_percent(count);
        let percent = count.text().trim_end_matches('%').parse::<u32>();
        if percent.is_ok_and(|p| p > 100) {
            faults.add(count.invalid("must not be greater than 100%"));
        }
    }
    selectors::check(&spec.field("selector"), faults);
    let policies = ["AlwaysAllow", "IfHealthyBudget"];
    faults.one_of(&spec.field("unhealthyPodEvictionPolicy"), &policies);
}

fn default_autoscaler(scaler: &mut Value) {
    let is_first = scaler["apiVersion"] == "autoscaling/v1";
    let Some(spec) = fill::part(scaler, "spec") else {
        return;
    };
    fill::absent(spec, "minReplicas", 1);
    if is_first {
        return;
    }
    let target = json!({"type": "Utilization", "averageUtilization": 80});
    let cpu = json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]);
    fill::absent(spec, "metrics", cpu);
    if let Some(behavior) = fill::part(spec, "behavior") {
        default_behavior(behavior);
    }
}

fn default_behavior(behavior: &mut Value) {
    let percent = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
    let pods = json!({"type": "Pods", "value": 4, "periodSeconds": 15});
    fill::absent(behavior, "scaleUp", json!({}));
    fill::absent(behavior, "scaleDown", json!({}));
    let up = &mut behavior["scaleUp"];
    fill::absent(up, "stabilizationWindowSeconds", 0);
    fill::absent(up, "selectPolicy", "Max");
    fill::absent(up, "policies", json!([pods, percent]));
    let down = &mut behavior["scaleDown"];
    fill::absent(down, "selectPolicy", "Max");
    fill::absent(down, "policies", json!([percent]));
}

fn check_autoscaler(scaler: &At<'_>, faults: &mut Faults) {
    let spec = scaler.field("spec");
    let (least, most) = (spec.field("minReplicas"), spec.field("maxReplicas"));
    if least.integer().is_some_and(|number| number < 1) {
        faults.add(least.invalid("must be greater than or equal to 1"));
    }
    if most.integer().unwrap_or(0) < 1 {
        faults.add(most.required("must be set and greater than 0"));
    }
    if most.integer().unwrap_or(0) < least.integer().unwrap_or(0) {
        faults.add(most.invalid("must be greater than or equal to `minReplicas`"));
    }
    if least.integer() == Some(0) && !scales_from_outside(&spec) {
        let words = "must specify at least one Object or External metric to support scaling to zero replicas";
        faults.add(spec.field("metrics").forbidden(words));
    }
    let target = spec.field("scaleTargetRef");
    let version = target.field("apiVersion");
    let is_core = target.field("kind").text() == "ReplicationController";
    if !version.text().contains('/') && !is_core {
        let words = "apiVersion must specify API group";
        faults.add(FieldError::invalid(&version.path, version.text(), words));
    }
    for name in ["kind", "name"] {
        let at = target.field(name);
        if faults.require(&at, "") {
            faults.name(&at, |text| names::path_segment_name(text, false));
        }
    }
}

/// A target without pods can only be scaled by what others measure.
fn scales_from_outside(spec: &At<'_>) -> bool {
    let metrics = spec.field("metrics");
    metrics
        .items()
        .any(|metric| matches!(metric.field("type").text(), "Object" | "External"))
}

fn check_priority(class: &At<'_>, faults: &mut Faults) {
    let meta = class.field("metadata");
    let name = meta.field("name");
    let value = class.field("value");
    let system = [
        ("system-node-critical", 2_000_001_000),
        ("system-cluster-critical", 2_000_000_000),
    ];
    let is_known = system.contains(&(name.text(), value.integer().unwrap_or(0)));
    if name.text().starts_with("system-") && !is_known {
        let words = format!(
            "priority class names with 'system-' prefix are reserved for system use only. error: {} is not a known system priority class",
            name.text()
        );
        faults.add(name.forbidden(words));
    } else if !is_known && value.integer().is_some_and(|v| v > 1_000_000_000) {
        let words = "maximum allowed value of a user defined priority is 1000000000";
        faults.add(value.forbidden(words));
    }
    let policies = ["PreemptLowerPriority", "Never"];
    faults.one_of(&class.field("preemptionPolicy"), &policies);
}

fn check_priority_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    if new.field("value").value != old.field("value").value {
        faults.add(
            new.field("value")
                .forbidden("may not be changed in an update."),
        );
    }
    faults.immutable(
        &new.field("preemptionPolicy"),
        &old.field("preemptionPolicy"),
    );
}

fn default_limits(range: &mut Value) {
    let Some(spec) = fill::part(range, "spec") else {
        return;
    };
    for limit in fill::each(spec, "limits") {
        if limit["type"] == "Container" {
            default_container_limits(limit);
        }
    }
}

/// A container that asks for nothing may have the most, and is counted with it.
fn default_container_limits(limit: &mut Value) {
    for (to, from) in [
        ("default", "max"),
        ("defaultRequest", "default"),
        ("defaultRequest", "min"),
    ] {
        let Some(amounts) = limit.get(from).and_then(Value::as_object).cloned() else {
            continue;
        };
        fill::absent(limit, to, json!({}));
        for (name, amount) in amounts {
            fill::absent(&mut limit[to], &name, amount);
        }
    }
}

fn check_limits(range: &At<'_>, faults: &mut Faults) {
    let spec = range.field("spec");
    for limit in spec.field("limits").items() {
        for list in ["max", "min", "default", "defaultRequest"] {
            for (_, amount) in limit.field(list).entries() {
                if Quantity::of(amount.value).is_none() {
                    faults.quantity(&amount);
                }
            }
        }
    }
}

fn check_quota(quota: &At<'_>, faults: &mut Faults) {
    let spec = quota.field("spec");
    for (name, amount) in spec.field("hard").entries() {
        for fault in names::qualified_name(name) {
            faults.add(FieldError::invalid(&amount.path, name, fault));
        }
        faults.quantity(&amount);
    }
}
