//! A volume for a claim: one that waits for it, or a pretended new one.

use serde_json::{Value, json};

use super::{CLAIMS, CLASSES, Desk, PODS, VOLUMES, uses};
use crate::meta;
use crate::quantity::Quantity;
use crate::status::ApiError;
use crate::store::{Key, Object};
use crate::workloads::pod;

const PROVISIONER: &str = "volume.kubernetes.io/storage-provisioner";
const OLD_PROVISIONER: &str = "volume.beta.kubernetes.io/storage-provisioner";
const BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";

/// Finds a volume for a claim that has none, or makes one if its class can.
pub(super) fn find(desk: &Desk<'_>, claim: &Value) -> Result<(), ApiError> {
    let class = class_name(&claim["spec"]);
    let class = desk.get(CLASSES, &Key::cluster(class));
    if class
        .as_ref()
        .is_some_and(|class| waits(desk, class, claim))
    {
        return Ok(());
    }
    if let Some(volume) = fitting(desk, claim) {
        return bind(desk, claim, &volume);
    }
    match class.filter(|class| class["provisioner"] != "kubernetes.io/no-provisioner") {
        Some(class) => provision(desk, claim, &class),
        None => Ok(()),
    }
}

fn class_name(spec: &Value) -> &str {
    spec["storageClassName"].as_str().unwrap_or_default()
}

/// Some classes wait for a pod that wants the claim and has a node.
fn waits(desk: &Desk<'_>, class: &Value, claim: &Value) -> bool {
    if class["volumeBindingMode"] != "WaitForFirstConsumer" {
        return false;
    }
    let pods = desk.list(PODS, Some(meta::namespace(claim)));
    !pods
        .iter()
        .any(|pod| pod::node(pod).is_some() && uses(pod, meta::name(claim)))
}

/// The smallest free volume that will do.
fn fitting(desk: &Desk<'_>, claim: &Value) -> Option<Object> {
    let spec = &claim["spec"];
    let asked = Quantity::of(&spec["resources"]["requests"]["storage"])?;
    let modes = meta::strings(spec.get("accessModes"));
    let fits = |volume: &Object| {
        let has = meta::strings(volume["spec"].get("accessModes"));
        let free = volume["spec"]["claimRef"].is_null() || is_reserved_for(volume, claim);
        free && !meta::is_deleting(volume)
            && class_name(&volume["spec"]) == class_name(spec)
            && volume["spec"]["volumeMode"] == spec["volumeMode"]
            && modes.iter().all(|mode| has.contains(mode))
            && size(volume).is_some_and(|size| size >= asked)
    };
    let volumes = desk.list(VOLUMES, None).into_iter().filter(fits);
    volumes.min_by_key(|volume| size(volume).map(Quantity::nanos))
}

fn size(volume: &Value) -> Option<Quantity> {
    Quantity::of(&volume["spec"]["capacity"]["storage"])
}

fn is_reserved_for(volume: &Value, claim: &Value) -> bool {
    let reference = &volume["spec"]["claimRef"];
    reference["name"] == claim["metadata"]["name"]
        && reference["namespace"] == claim["metadata"]["namespace"]
        && (reference["uid"].is_null() || reference["uid"] == claim["metadata"]["uid"])
}

/// A claim that names its volume gets it if nobody else has it.
pub(super) fn bind_named(desk: &Desk<'_>, claim: &Value, volume: &Value) -> Result<(), ApiError> {
    match volume["spec"]["claimRef"].is_null() || is_reserved_for(volume, claim) {
        true => bind(desk, claim, volume),
        false => Ok(()),
    }
}

fn bind(desk: &Desk<'_>, claim: &Value, volume: &Value) -> Result<(), ApiError> {
    let reference = reference(claim);
    desk.update(VOLUMES, &meta::key(volume), |volume| {
        volume["spec"]["claimRef"] = reference.clone();
        meta::annotate(volume, BY_CONTROLLER, "yes");
    })?;
    name_volume(desk, claim, meta::name(volume))
}

fn name_volume(desk: &Desk<'_>, claim: &Value, volume: &str) -> Result<(), ApiError> {
    desk.update(CLAIMS, &meta::key(claim), |claim| {
        if claim["spec"]["volumeName"] != volume {
            claim["spec"]["volumeName"] = volume.into();
            meta::annotate(claim, BY_CONTROLLER, "yes");
        }
        meta::annotate(claim, "pv.kubernetes.io/bind-completed", "yes");
    })
}

fn reference(claim: &Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "name": meta::name(claim),
        "namespace": meta::namespace(claim),
        "resourceVersion": meta::text(claim, "resourceVersion"),
        "uid": meta::uid(claim),
    })
}

fn provision(desk: &Desk<'_>, claim: &Value, class: &Value) -> Result<(), ApiError> {
    let provisioner = class["provisioner"].as_str().unwrap_or_default();
    let name = format!("pvc-{}", meta::uid(claim));
    desk.update(CLAIMS, &meta::key(claim), |claim| {
        meta::annotate(claim, PROVISIONER, provisioner);
        meta::annotate(claim, OLD_PROVISIONER, provisioner);
    })?;
    let spec = &claim["spec"];
    let volume = json!({
        "metadata": {
            "name": name,
            "annotations": {"pv.kubernetes.io/provisioned-by": provisioner},
        },
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "claimRef": reference(claim),
            "csi": {"driver": provisioner.replace('/', "."), "volumeHandle": name},
            "persistentVolumeReclaimPolicy": class["reclaimPolicy"],
            "storageClassName": meta::name(class),
            "volumeMode": spec["volumeMode"],
        },
    });
    match desk.create(VOLUMES, volume) {
        Err(error) if error.reason != "AlreadyExists" => Err(error),
        _ => name_volume(desk, claim, &name),
    }
}
