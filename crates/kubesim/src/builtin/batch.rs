//! Jobs and CronJobs.

mod cron;

pub(crate) use cron::Schedule;

use serde_json::{Value, json};

use super::at::At;
use super::kind::Kind;
use super::rules::Faults;
use super::{fill, pods};
use crate::field_error::FieldError;
use crate::strategy::Surroundings;

const UID_LABEL: &str = "batch.kubernetes.io/controller-uid";

pub(super) const KINDS: [Kind; 2] = [
    Kind::plain("batch", "Job")
        .counted()
        .defaults(default_job)
        .prepares(select_own_pods)
        .checks(check_job)
        .checks_update(check_job_update)
        .warns(|job| warnings(&job.field("spec"))),
    Kind::plain("batch", "CronJob")
        .counted()
        .defaults(default_cron_job)
        .checks(check_cron_job)
        .warns(|job| warnings(&job.field("spec").field("jobTemplate").field("spec"))),
];

fn warnings(job_spec: &At<'_>) -> Vec<String> {
    pods::warnings(&job_spec.field("template").field("spec"))
}

fn default_job(job: &mut Value) {
    let labels = job["spec"]["template"]["metadata"]["labels"].clone();
    let has_labels = job["metadata"]["labels"]
        .as_object()
        .is_some_and(|l| !l.is_empty());
    if labels.is_object() && !has_labels {
        job["metadata"]["labels"] = labels;
    }
    let Some(spec) = fill::part(job, "spec") else {
        return;
    };
    default_template(spec);
    if spec.get("parallelism").is_none() {
        fill::absent(spec, "completions", 1);
    }
    fill::absent(spec, "parallelism", 1);
    let per_index = spec.get("backoffLimitPerIndex").is_some();
    fill::absent(spec, "backoffLimit", if per_index { i32::MAX } else { 6 });
    fill::absent(spec, "completionMode", "NonIndexed");
    fill::absent(spec, "suspend", false);
    let replaces = match spec.get("podFailurePolicy").is_some() {
        true => "Failed",
        false => "TerminatingOrFailed",
    };
    fill::absent(spec, "podReplacementPolicy", replaces);
    fill::absent(spec, "manualSelector", false);
}

fn default_template(spec: &mut Value) {
    if let Some(template) = fill::part(spec, "template") {
        pods::default_template(template);
    }
}

fn default_cron_job(job: &mut Value) {
    let Some(spec) = fill::part(job, "spec") else {
        return;
    };
    fill::empty(spec, "concurrencyPolicy", "Allow");
    fill::absent(spec, "suspend", false);
    fill::absent(spec, "successfulJobsHistoryLimit", 3);
    fill::absent(spec, "failedJobsHistoryLimit", 1);
    if let Some(job) = spec
        .pointer_mut("/jobTemplate/spec")
        .filter(|s| s.is_object())
    {
        default_template(job);
    }
}

/// A job finds its pods by its own uid, unless its maker selects them.
fn select_own_pods(job: &mut Value, _around: &dyn Surroundings) {
    if job["spec"]["manualSelector"] == true || !job["spec"]["template"].is_object() {
        return;
    }
    let uid = job["metadata"]["uid"].clone();
    let name = job["metadata"]["name"].clone();
    let spec = &mut job["spec"];
    let meta = &mut spec["template"]["metadata"];
    if !meta.is_object() {
        *meta = json!({});
    }
    fill::absent(meta, "labels", json!({}));
    for prefix in ["", "batch.kubernetes.io/"] {
        meta["labels"][format!("{prefix}controller-uid")] = uid.clone();
        meta["labels"][format!("{prefix}job-name")] = name.clone();
    }
    let labels = meta["labels"].clone();
    fill::absent(spec, "selector", json!({}));
    fill::absent(&mut spec["selector"], "matchLabels", json!({}));
    fill::absent(&mut spec["selector"]["matchLabels"], UID_LABEL, uid);
    label_like_pods(job, &labels);
}

/// A job without labels of its own shares those of its pods.
fn label_like_pods(job: &mut Value, labels: &Value) {
    let own = job["metadata"]["labels"].as_object();
    let template = labels.as_object();
    let inherits = match (own, template) {
        (None, _) => true,
        (Some(own), Some(template)) => own.iter().all(|(k, v)| template.get(k) == Some(v)),
        (Some(_), None) => false,
    };
    if inherits {
        job["metadata"]["labels"] = labels.clone();
    }
}

fn check_job(job: &At<'_>, faults: &mut Faults) {
    let spec = job.field("spec");
    if !spec.field("selector").is_set() {
        faults.add(spec.field("selector").required(""));
        let template = spec.field("template");
        let meta = template.field("metadata");
        let words = "`selector` does not match template `labels`";
        faults.add(meta.field("labels").invalid(words));
    }
    check_spec(&spec, faults);
}

fn check_spec(spec: &At<'_>, faults: &mut Faults) {
    for name in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        faults.non_negative(&spec.field(name));
    }
    check_mode(spec, faults);
    faults.one_of(
        &spec.field("podReplacementPolicy"),
        &["Failed", "TerminatingOrFailed"],
    );
    let template = spec.field("template");
    pods::check_template(&template, &[], faults);
    let pod = template.field("spec");
    let policy = pod.field("restartPolicy");
    match policy.text() {
        "" | "Always" => faults.add(policy.required("valid values: \"OnFailure\", \"Never\"")),
        "OnFailure" | "Never" => {}
        _ => faults.add(policy.not_supported(&["OnFailure", "Never"])),
    }
}

fn check_mode(spec: &At<'_>, faults: &mut Faults) {
    let mode = spec.field("completionMode");
    faults.one_of(&mode, &["NonIndexed", "Indexed"]);
    let indexed = mode.text() == "Indexed";
    if indexed && !spec.field("completions").is_set() {
        let words = "when completion mode is Indexed";
        faults.add(spec.field("completions").required(words));
    }
    for name in ["backoffLimitPerIndex", "maxFailedIndexes"] {
        if !indexed && spec.field(name).is_set() {
            faults.add(spec.field(name).invalid("requires indexed completion mode"));
        }
    }
}

fn check_job_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let (spec, before) = (new.field("spec"), old.field("spec"));
    let indexed = before.field("completionMode").text() == "Indexed";
    if !indexed {
        faults.immutable(&spec.field("completions"), &before.field("completions"));
    }
    faults.immutable(&spec.field("selector"), &before.field("selector"));
    if before.value["suspend"] != true {
        faults.immutable(&spec.field("template"), &before.field("template"));
    }
    for name in [
        "completionMode",
        "podFailurePolicy",
        "backoffLimitPerIndex",
        "managedBy",
        "successPolicy",
    ] {
        faults.immutable(&spec.field(name), &before.field(name));
    }
}

fn check_cron_job(job: &At<'_>, faults: &mut Faults) {
    let spec = job.field("spec");
    let schedule = spec.field("schedule");
    if faults.require(&schedule, "") {
        check_schedule(&schedule, faults);
    }
    faults.non_negative(&spec.field("startingDeadlineSeconds"));
    check_time_zone(&spec.field("timeZone"), faults);
    let policies = ["Allow", "Forbid", "Replace"];
    faults.require_one_of(&spec.field("concurrencyPolicy"), &policies);
    let template = spec.field("jobTemplate");
    check_job_template(&template.field("spec"), faults);
    faults.non_negative(&spec.field("successfulJobsHistoryLimit"));
    faults.non_negative(&spec.field("failedJobsHistoryLimit"));
    let meta = job.field("metadata");
    let name = meta.field("name");
    if name.text().len() > 52 {
        faults.add(name.invalid("must be no more than 52 characters"));
    }
}

fn check_job_template(spec: &At<'_>, faults: &mut Faults) {
    if spec.field("manualSelector").is_true() {
        faults.add(
            spec.field("manualSelector")
                .not_supported(&["nil", "false"]),
        );
    }
    check_spec(spec, faults);
}

fn check_schedule(schedule: &At<'_>, faults: &mut Faults) {
    let text = schedule.text();
    if text.contains("TZ") {
        let words = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
        return faults.add(schedule.invalid(words));
    }
    if let Some(wrong) = cron::fault(text) {
        faults.add(schedule.invalid(wrong));
    }
}

fn check_time_zone(zone: &At<'_>, faults: &mut Faults) {
    if !zone.is_set() {
        return;
    }
    match zone.text() {
        "" => faults.add(zone.invalid("timeZone must be nil or non-empty string")),
        name if name.eq_ignore_ascii_case("local") => {
            faults.add(zone.invalid("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"));
        }
        name if name.contains(' ') => {
            faults.add(FieldError::invalid(
                &zone.path,
                name,
                format!("unknown time zone {name}"),
            ));
        }
        _ => {}
    }
}
