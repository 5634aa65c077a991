//! Deployments, ReplicaSets, StatefulSets, DaemonSets and ReplicationControllers.

use serde_json::{Value, json};

use super::at::At;
use super::kind::Kind;
use super::rules::{Faults, is_percent};
use super::{fill, names, pods, selectors};
use crate::field_error::FieldError;
use crate::strategy::Surroundings;

const TEMPLATE_COUNT: &str = "deprecated.daemonset.template.generation";

pub(super) const KINDS: [Kind; 5] = [
    Kind::plain("apps", "Deployment")
        .counted()
        .counts_annotations()
        .defaults(default_deployment)
        .checks(check_deployment)
        .checks_update(selector_is_immutable)
        .warns(warnings),
    Kind::plain("apps", "ReplicaSet")
        .counted()
        .defaults(default_replicas)
        .checks(check_replica_set)
        .checks_update(selector_is_immutable)
        .warns(warnings),
    Kind::plain("apps", "StatefulSet")
        .named(names::label_name)
        .counted()
        .defaults(default_stateful_set)
        .checks(check_stateful_set)
        .checks_update(check_stateful_set_update)
        .warns(warnings),
    Kind::plain("apps", "DaemonSet")
        .counted()
        .defaults(default_daemon_set)
        .prepares(|set, _| count_template(set, 1))
        .prepares_update(count_changed_template)
        .checks(check_daemon_set)
        .checks_update(selector_is_immutable)
        .warns(warnings),
    Kind::plain("", "ReplicationController")
        .counted()
        .defaults(default_replication_controller)
        .checks(check_replication_controller)
        .warns(warnings),
];

fn warnings(workload: &At<'_>) -> Vec<String> {
    pods::warnings(&workload.field("spec").field("template").field("spec"))
}

fn spec_of(object: &mut Value) -> Option<&mut Value> {
    let spec = fill::part(object, "spec")?;
    if let Some(template) = fill::part(spec, "template") {
        pods::default_template(template);
    }
    Some(spec)
}

fn default_replicas(object: &mut Value) {
    if let Some(spec) = spec_of(object) {
        fill::absent(spec, "replicas", 1);
    }
}

fn default_deployment(deployment: &mut Value) {
    let Some(spec) = spec_of(deployment) else {
        return;
    };
    fill::absent(spec, "replicas", 1);
    fill::absent(spec, "strategy", json!({}));
    default_rolling(
        &mut spec["strategy"],
        &json!({"maxSurge": "25%", "maxUnavailable": "25%"}),
    );
    fill::absent(spec, "revisionHistoryLimit", 10);
    fill::absent(spec, "progressDeadlineSeconds", 600);
}

fn default_rolling(strategy: &mut Value, settings: &Value) {
    fill::empty(strategy, "type", "RollingUpdate");
    if strategy["type"] != "RollingUpdate" {
        return;
    }
    fill::absent(strategy, "rollingUpdate", json!({}));
    for (name, value) in settings.as_object().into_iter().flatten() {
        fill::absent(&mut strategy["rollingUpdate"], name, value.clone());
    }
}

fn default_daemon_set(set: &mut Value) {
    let Some(spec) = spec_of(set) else { return };
    fill::absent(spec, "updateStrategy", json!({}));
    default_rolling(
        &mut spec["updateStrategy"],
        &json!({"maxSurge": 0, "maxUnavailable": 1}),
    );
    fill::absent(spec, "revisionHistoryLimit", 10);
    count_template(set, template_count(set));
}

/// Daemon sets once counted the changes of their template; the number lives on as an annotation,
/// which even those objects have that do not say so.
fn count_template(set: &mut Value, number: i64) {
    let Some(metadata) = fill::part(set, "metadata") else {
        return;
    };
    fill::absent(metadata, "annotations", json!({}));
    if let Some(annotations) = fill::part(metadata, "annotations") {
        annotations[TEMPLATE_COUNT] = number.to_string().into();
    }
}

fn template_count(set: &Value) -> i64 {
    let text = set["metadata"]["annotations"][TEMPLATE_COUNT].as_str();
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn count_changed_template(set: &mut Value, old: &Value, _around: &dyn Surroundings) {
    let changed = i64::from(set["spec"]["template"] != old["spec"]["template"]);
    count_template(set, template_count(old) + changed);
}

fn default_stateful_set(set: &mut Value) {
    let Some(spec) = spec_of(set) else { return };
    fill::empty(spec, "podManagementPolicy", "OrderedReady");
    fill::absent(spec, "updateStrategy", json!({}));
    let strategy = &mut spec["updateStrategy"];
    if fill::text(strategy, "type").is_empty() {
        strategy["type"] = "RollingUpdate".into();
        fill::absent(strategy, "rollingUpdate", json!({}));
    }
    if let Some(rolling) = fill::part(strategy, "rollingUpdate") {
        fill::absent(rolling, "partition", 0);
    }
    fill::absent(spec, "persistentVolumeClaimRetentionPolicy", json!({}));
    for name in ["whenDeleted", "whenScaled"] {
        fill::empty(
            &mut spec["persistentVolumeClaimRetentionPolicy"],
            name,
            "Retain",
        );
    }
    fill::absent(spec, "replicas", 1);
    fill::absent(spec, "revisionHistoryLimit", 10);
    for claim in fill::each(spec, "volumeClaimTemplates") {
        claim["apiVersion"] = "v1".into();
        claim["kind"] = "PersistentVolumeClaim".into();
        if let Some(spec) = fill::part(claim, "spec") {
            fill::absent(spec, "volumeMode", "Filesystem");
        }
        if !claim["status"].is_object() {
            claim["status"] = json!({});
        }
        fill::empty(&mut claim["status"], "phase", "Pending");
    }
}

fn default_replication_controller(controller: &mut Value) {
    default_replicas(controller);
    let labels = controller["spec"]["template"]["metadata"]["labels"].clone();
    if !labels.is_object() {
        return;
    }
    let empty = |value: &Value| value.as_object().is_none_or(serde_json::Map::is_empty);
    if empty(&controller["spec"]["selector"]) {
        controller["spec"]["selector"] = labels.clone();
    }
    if empty(&controller["metadata"]["labels"]) {
        controller["metadata"]["labels"] = labels;
    }
}

fn check_deployment(deployment: &At<'_>, faults: &mut Faults) {
    let spec = deployment.field("spec");
    faults.non_negative(&spec.field("replicas"));
    check_selector(&spec.field("selector"), "deployment", faults);
    check_template(&spec, "ReplicaSet", faults);
    check_strategy(&spec.field("strategy"), faults);
    faults.non_negative(&spec.field("minReadySeconds"));
    faults.non_negative(&spec.field("revisionHistoryLimit"));
    let deadline = spec.field("progressDeadlineSeconds");
    faults.non_negative(&deadline);
    let ready = spec.field("minReadySeconds").integer().unwrap_or(0);
    if deadline.integer().is_some_and(|seconds| seconds <= ready) {
        faults.add(deadline.invalid("must be greater than minReadySeconds"));
    }
}

fn check_selector(selector: &At<'_>, whose: &str, faults: &mut Faults) {
    if !selector.is_set() {
        return faults.add(selector.required(""));
    }
    let before = faults.0.len();
    selectors::check(selector, faults);
    if faults.0.len() > before {
        faults.add(selector.invalid("invalid label selector"));
    }
    if selectors::is_empty(selector.value) {
        faults.add(selector.invalid(format!("empty selector is invalid for {whose}")));
    }
}

/// The template must make pods that the selector finds, and that run until they are stopped.
fn check_template(spec: &At<'_>, whose: &str, faults: &mut Faults) {
    let template = spec.field("template");
    let selector = spec.field("selector").value;
    let meta = template.field("metadata");
    let labels = meta.field("labels");
    let is_all = selector.is_object() && selectors::is_empty(selector);
    let mut broken = Faults::default();
    selectors::check(&spec.field("selector"), &mut broken);
    let fits = selector.is_object() && selectors::matches(selector, labels.value);
    if !is_all && broken.0.is_empty() && !fits {
        let shown = match labels.value {
            Value::Null => Value::Null,
            labels => labels.clone(),
        };
        let words = "`selector` does not match template `labels`";
        faults.add(FieldError::invalid(&labels.path, shown, words));
    }
    let claims: Vec<_> = spec.value["volumeClaimTemplates"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|claim| claim["metadata"]["name"].as_str())
        .collect();
    pods::check_template(&template, &claims, faults);
    check_endless(&template, whose, faults);
}

fn check_endless(template: &At<'_>, whose: &str, faults: &mut Faults) {
    let spec = template.field("spec");
    let policy = spec.field("restartPolicy");
    if policy.text() != "Always" {
        faults.add(policy.not_supported(&["Always"]));
    }
    if spec.field("activeDeadlineSeconds").is_set() {
        let words = format!("activeDeadlineSeconds in {whose} is not Supported");
        faults.add(spec.field("activeDeadlineSeconds").forbidden(words));
    }
}

fn check_strategy(strategy: &At<'_>, faults: &mut Faults) {
    let rolling = strategy.field("rollingUpdate");
    match strategy.field("type").text() {
        "Recreate" => {
            if rolling.is_set() {
                let words = "may not be specified when strategy `type` is 'Recreate'";
                faults.add(rolling.forbidden(words));
            }
        }
        "RollingUpdate" => check_rolling(&rolling, faults),
        _ => {
            let fault = strategy.not_supported(&["Recreate", "RollingUpdate"]);
            faults.add(fault.showing(inner_strategy(strategy)));
        }
    }
}

/// A strategy of an unknown type in the server's inner form.
fn inner_strategy(strategy: &At<'_>) -> String {
    let kind = strategy.field("type");
    format!("{{\"Type\":{},\"RollingUpdate\":null}}", kind.value)
}

fn check_rolling(rolling: &At<'_>, faults: &mut Faults) {
    let (unavailable, surge) = (rolling.field("maxUnavailable"), rolling.field("maxSurge"));
    faults.count_or_percent(&unavailable);
    faults.count_or_percent(&surge);
    if is_none(&unavailable) && is_none(&surge) {
        faults.add(unavailable.invalid("may not be 0 when `maxSurge` is 0"));
    }
    check_at_most_all(&unavailable, faults);
}

fn is_none(count: &At<'_>) -> bool {
    matches!(count.integer(), Some(0)) || matches!(count.text(), "0%")
}

fn check_at_most_all(count: &At<'_>, faults: &mut Faults) {
    let text = count.text();
    let percent = text.trim_end_matches('%').parse::<u32>();
    if is_percent(text) && percent.is_ok_and(|p| p > 100) {
        faults.add(count.invalid("must not be greater than 100%"));
    }
}

fn check_replica_set(set: &At<'_>, faults: &mut Faults) {
    let spec = set.field("spec");
    faults.non_negative(&spec.field("replicas"));
    faults.non_negative(&spec.field("minReadySeconds"));
    // The real server's text says deployment here, too.
    check_selector(&spec.field("selector"), "deployment", faults);
    check_template(&spec, "ReplicaSet", faults);
}

fn check_daemon_set(set: &At<'_>, faults: &mut Faults) {
    let spec = set.field("spec");
    selectors::check(&spec.field("selector"), faults);
    if spec.field("selector").is_set() && selectors::is_empty(spec.field("selector").value) {
        let words = "empty selector is invalid for daemonset";
        faults.add(spec.field("selector").invalid(words));
    }
    check_template(&spec, "DaemonSet", faults);
    faults.non_negative(&spec.field("minReadySeconds"));
    let strategy = spec.field("updateStrategy");
    match strategy.field("type").text() {
        "OnDelete" => {}
        "RollingUpdate" => check_daemon_rolling(&strategy.field("rollingUpdate"), faults),
        _ => {
            let fault = strategy.not_supported(&["RollingUpdate", "OnDelete"]);
            faults.add(fault.showing(inner_strategy(&strategy)));
        }
    }
    faults.non_negative(&spec.field("revisionHistoryLimit"));
}

fn check_daemon_rolling(rolling: &At<'_>, faults: &mut Faults) {
    if !rolling.is_set() {
        return faults.add(rolling.required(""));
    }
    let (unavailable, surge) = (rolling.field("maxUnavailable"), rolling.field("maxSurge"));
    faults.count_or_percent(&unavailable);
    faults.count_or_percent(&surge);
    match (is_none(&unavailable), is_none(&surge)) {
        (false, false) => {
            faults.add(surge.invalid("may not be set when maxUnavailable is non-zero"));
        }
        (true, true) => faults.add(unavailable.required("cannot be 0 when maxSurge is 0")),
        _ => {}
    }
}

fn check_stateful_set(set: &At<'_>, faults: &mut Faults) {
    let spec = set.field("spec");
    let policy = spec.field("podManagementPolicy");
    if !matches!(policy.text(), "OrderedReady" | "Parallel") {
        faults.add(policy.invalid("must be 'OrderedReady' or 'Parallel'"));
    }
    let strategy = spec.field("updateStrategy");
    if !matches!(strategy.field("type").text(), "RollingUpdate" | "OnDelete") {
        let fault = strategy.invalid("must be 'RollingUpdate' or 'OnDelete'");
        faults.add(fault.showing(inner_strategy(&strategy)));
    }
    let rolling = strategy.field("rollingUpdate");
    faults.non_negative(&rolling.field("partition"));
    let retention = spec.field("persistentVolumeClaimRetentionPolicy");
    for name in ["whenDeleted", "whenScaled"] {
        faults.one_of(&retention.field(name), &["Retain", "Delete"]);
    }
    faults.non_negative(&spec.field("replicas"));
    faults.non_negative(&spec.field("minReadySeconds"));
    check_selector(&spec.field("selector"), "statefulset", faults);
    check_template(&spec, "StatefulSet", faults);
}

fn check_stateful_set_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let fixed = |spec: &Value| {
        let mut spec = spec.clone();
        for name in [
            "replicas",
            "ordinals",
            "template",
            "updateStrategy",
            "revisionHistoryLimit",
            "persistentVolumeClaimRetentionPolicy",
            "minReadySeconds",
        ] {
            fill::remove(&mut spec, name);
        }
        spec
    };
    if fixed(&new.value["spec"]) != fixed(&old.value["spec"]) {
        let words = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        faults.add(new.field("spec").forbidden(words));
    }
}

fn check_replication_controller(controller: &At<'_>, faults: &mut Faults) {
    let spec = controller.field("spec");
    faults.non_negative(&spec.field("replicas"));
    faults.non_negative(&spec.field("minReadySeconds"));
    faults.require(&spec.field("selector"), "");
    let template = spec.field("template");
    if !template.is_set() {
        return faults.add(template.required(""));
    }
    pods::check_template(&template, &[], faults);
    check_endless(&template, "ReplicationController", faults);
}

fn selector_is_immutable(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let (spec, before) = (new.field("spec"), old.field("spec"));
    faults.immutable(&spec.field("selector"), &before.field("selector"));
}
