//! PersistentVolumeClaims, PersistentVolumes, StorageClasses and CSIDrivers.

use serde_json::{Value, json};

use super::at::At;
use super::kind::Kind;
use super::rules::Faults;
use super::{fill, names, selectors};
use crate::field_error::{FieldError, Path};
use crate::meta;
use crate::strategy::Surroundings;

const MODES: [&str; 4] = [
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];
const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];
const NOT_SOURCES: [&str; 9] = [
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
];

pub(super) const KINDS: [Kind; 4] = [
    Kind::plain("", "PersistentVolumeClaim")
        .defaults(default_claim)
        .prepares(prepare_claim)
        .checks(check_claim)
        .checks_update(check_claim_update),
    Kind::plain("", "PersistentVolume")
        .defaults(default_volume)
        .prepares(prepare_volume)
        .checks(check_volume)
        .checks_update(check_volume_update),
    Kind::plain("storage.k8s.io", "StorageClass")
        .defaults(default_class)
        .checks(check_class)
        .checks_update(check_class_update),
    Kind::plain("storage.k8s.io", "CSIDriver").defaults(default_driver),
];

fn default_claim(claim: &mut Value) {
    if let Some(spec) = fill::part(claim, "spec") {
        fill::absent(spec, "volumeMode", "Filesystem");
    }
    if let Some(status) = fill::part(claim, "status") {
        fill::empty(status, "phase", "Pending");
    }
}

fn prepare_claim(claim: &mut Value, around: &dyn Surroundings) {
    claim["status"] = json!({"phase": "Pending"});
    choose_class(claim, around);
    protect(claim, "kubernetes.io/pvc-protection");
}

/// A claim that names no class gets the default one: the newest, if there are several.
fn choose_class(claim: &mut Value, around: &dyn Surroundings) {
    if !claim["spec"]["storageClassName"].is_null() {
        return;
    }
    let is_default = |class: &&std::sync::Arc<Value>| {
        let annotations = &class["metadata"]["annotations"];
        [
            "storageclass.kubernetes.io",
            "storageclass.beta.kubernetes.io",
        ]
        .iter()
        .any(|group| annotations[format!("{group}/is-default-class")] == "true")
    };
    let classes = around.objects("storage.k8s.io", "storageclasses");
    let age = |class: &&std::sync::Arc<Value>| meta::revision(class);
    if let Some(class) = classes.iter().filter(is_default).max_by_key(age) {
        claim["spec"]["storageClassName"] = class["metadata"]["name"].clone();
    }
}

/// Volumes in use are not deleted under their users.
fn protect(object: &mut Value, finalizer: &str) {
    let Some(meta) = fill::part(object, "metadata") else {
        return;
    };
    fill::absent(meta, "finalizers", json!([]));
    if let Some(list) = meta["finalizers"].as_array_mut()
        && !list.iter().any(|name| name == finalizer)
    {
        list.push(finalizer.into());
    }
}

fn check_claim(claim: &At<'_>, faults: &mut Faults) {
    let spec = claim.field("spec");
    let modes = spec.field("accessModes");
    faults.require(&modes, "at least 1 access mode is required");
    selectors::check(&spec.field("selector"), faults);
    check_modes(&modes, faults);
    let resources = spec.field("resources");
    let requests = resources.field("requests");
    match requests.value.get("storage") {
        None => faults.add(FieldError::required(&resources.path.key("storage"), "")),
        Some(value) => check_storage(
            &At {
                value,
                path: resources.path.key("storage"),
            },
            faults,
        ),
    }
    let class = spec.field("storageClassName");
    if !class.is_empty() {
        faults.name(&class, names::dns1123_subdomain);
    }
    faults.one_of(&spec.field("volumeMode"), &VOLUME_MODES);
}

fn check_modes(modes: &At<'_>, faults: &mut Faults) {
    for mode in modes.items() {
        if !MODES.contains(&mode.text()) {
            faults.add(FieldError::not_supported(&modes.path, mode.text(), &MODES));
        }
    }
    let is_exclusive = modes.items().any(|mode| mode.text() == "ReadWriteOncePod");
    if is_exclusive && modes.len() > 1 {
        let words = "may not use ReadWriteOncePod with other access modes";
        faults.add(FieldError::forbidden(&modes.path, words));
    }
}

fn check_storage(amount: &At<'_>, faults: &mut Faults) {
    use crate::quantity::Quantity;
    let found = Quantity::of(amount.value);
    if found.is_some_and(|q| q.is_negative() || q.is_zero()) {
        faults.add(amount.invalid("must be greater than zero"));
    }
}

fn check_claim_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let mut spec = new.value["spec"].clone();
    let mut before = old.value["spec"].clone();
    let bound = !fill::text(&before, "volumeName").is_empty();
    if !bound {
        for spec in [&mut spec, &mut before] {
            fill::remove(spec, "volumeName");
        }
    } else {
        for spec in [&mut spec, &mut before] {
            fill::remove(spec, "resources");
        }
    }
    for spec in [&mut spec, &mut before] {
        fill::remove(spec, "volumeAttributesClassName");
    }
    if spec != before {
        let words = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        faults.add(new.field("spec").forbidden(words));
    }
}

fn default_volume(volume: &mut Value) {
    if let Some(spec) = fill::part(volume, "spec") {
        fill::empty(spec, "persistentVolumeReclaimPolicy", "Retain");
        fill::absent(spec, "volumeMode", "Filesystem");
        if let Some(path) = fill::part(spec, "hostPath") {
            fill::absent(path, "type", "");
        }
    }
    if let Some(status) = fill::part(volume, "status") {
        fill::empty(status, "phase", "Pending");
    }
}

fn prepare_volume(volume: &mut Value, _around: &dyn Surroundings) {
    let since = volume["metadata"]["creationTimestamp"].clone();
    volume["status"] = json!({"phase": "Pending", "lastPhaseTransitionTime": since});
    protect(volume, "kubernetes.io/pv-protection");
}

fn check_volume(volume: &At<'_>, faults: &mut Faults) {
    let spec = volume.field("spec");
    let modes = spec.field("accessModes");
    faults.require(&modes, "");
    check_modes(&modes, faults);
    let capacity = spec.field("capacity");
    if capacity.is_empty() {
        faults.add(capacity.required(""));
    }
    if capacity.value.get("storage").is_none() || capacity.entries().count() > 1 {
        faults.add(capacity.not_supported(&["storage"]));
    }
    for (_, amount) in capacity.entries() {
        check_storage(&amount, faults);
    }
    let policies = ["Delete", "Recycle", "Retain"];
    faults.one_of(&spec.field("persistentVolumeReclaimPolicy"), &policies);
    let has_source = spec.value.as_object().is_some_and(|fields| {
        fields
            .keys()
            .any(|name| !NOT_SOURCES.contains(&name.as_str()))
    });
    if !has_source {
        faults.add(FieldError::required(
            &spec.path,
            "must specify a volume type",
        ));
    }
    let class = spec.field("storageClassName");
    if !class.is_empty() {
        faults.name(&class, names::dns1123_subdomain);
    }
    faults.one_of(&spec.field("volumeMode"), &VOLUME_MODES);
}

fn check_volume_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let source = |spec: &Value| {
        let fields = spec.as_object().into_iter().flatten();
        let sources = fields.filter(|(name, _)| !NOT_SOURCES.contains(&name.as_str()));
        sources
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect::<Vec<_>>()
    };
    let (spec, before) = (new.field("spec"), old.field("spec"));
    if source(spec.value) != source(before.value) {
        let words = "spec.persistentvolumesource is immutable after creation";
        let path = spec.path.child("persistentvolumesource");
        faults.add(FieldError::forbidden(&path, words));
    }
    let (mode, was) = (spec.field("volumeMode"), before.field("volumeMode"));
    if mode.value != was.value {
        // The real server leaves out the parent here.
        let path = Path::field("volumeMode");
        faults.add(FieldError::invalid(
            &path,
            mode.value.clone(),
            "field is immutable",
        ));
    }
}

fn default_class(class: &mut Value) {
    fill::absent(class, "reclaimPolicy", "Delete");
    fill::absent(class, "volumeBindingMode", "Immediate");
}

fn check_class(class: &At<'_>, faults: &mut Faults) {
    let provisioner = class.field("provisioner");
    if faults.require(&provisioner, "") {
        for fault in names::qualified_name(&provisioner.text().to_lowercase()) {
            faults.add(provisioner.invalid(fault));
        }
    }
    faults.one_of(&class.field("reclaimPolicy"), &["Delete", "Retain"]);
    let modes = ["Immediate", "WaitForFirstConsumer"];
    faults.one_of(&class.field("volumeBindingMode"), &modes);
}

fn check_class_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    for name in [
        "parameters",
        "provisioner",
        "reclaimPolicy",
        "volumeBindingMode",
    ] {
        faults.immutable(&new.field(name), &old.field(name));
    }
}

fn default_driver(driver: &mut Value) {
    let Some(spec) = fill::part(driver, "spec") else {
        return;
    };
    fill::absent(spec, "attachRequired", true);
    for name in [
        "podInfoOnMount",
        "storageCapacity",
        "requiresRepublish",
        "seLinuxMount",
    ] {
        fill::absent(spec, name, false);
    }
    fill::absent(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    fill::absent(spec, "volumeLifecycleModes", json!(["Persistent"]));
}
