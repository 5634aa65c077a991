//! Claims and volumes: found or pretended to be made for one another.

mod binding;

use serde_json::{Value, json};

use super::desk::{CLAIMS, CLASSES, Desk, PODS, VOLUMES};
use super::{Again, pod};
use crate::meta;
use crate::quantity::Quantity;
use crate::status::ApiError;
use crate::store::{Key, Object};

const CLAIM_PROTECTION: &str = "kubernetes.io/pvc-protection";
const VOLUME_PROTECTION: &str = "kubernetes.io/pv-protection";
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

/// Makes sure that there is a class for claims that name none.
pub(super) fn found(desk: &Desk<'_>) {
    if !desk.list(CLASSES, None).is_empty() {
        return;
    }
    let class = json!({
        "metadata": {"name": "standard", "annotations": {DEFAULT_CLASS: "true"}},
        "provisioner": "kubesim.evenkeel.io/pretended",
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
        "allowVolumeExpansion": true,
    });
    if let Err(error) = desk.create(CLASSES, class) {
        tracing::debug!(%error, "the standard storage class could not be created");
    }
}

pub(super) fn reconcile_claim(desk: &Desk<'_>, key: &Key) -> Again {
    let Some(claim) = desk.get(CLAIMS, key) else {
        return Ok(None);
    };
    if meta::is_deleting(&claim) {
        return protect_claim(desk, &claim).map(|()| None);
    }
    match claim["spec"]["volumeName"].as_str() {
        None | Some("") => binding::find(desk, &claim)?,
        Some(volume) => {
            let volume = desk.get(VOLUMES, &Key::cluster(volume));
            if let Some(volume) = volume {
                settle(desk, &claim, &volume)?;
            }
        }
    }
    Ok(None)
}

/// A claim that is deleted goes when no pod uses it any more.
fn protect_claim(desk: &Desk<'_>, claim: &Value) -> Result<(), ApiError> {
    let pods = desk.list(PODS, Some(meta::namespace(claim)));
    let used = pods
        .iter()
        .any(|pod| !pod::has_ended(pod) && uses(pod, meta::name(claim)));
    match used {
        true => Ok(()),
        false => desk.update(CLAIMS, &meta::key(claim), |claim| {
            meta::remove_finalizer(claim, CLAIM_PROTECTION);
        }),
    }
}

/// Whether a pod names a claim.
pub(super) fn uses(pod: &Value, claim: &str) -> bool {
    claims_of(pod).any(|name| name == claim)
}

/// The claims that a pod names.
pub(super) fn claims_of(pod: &Value) -> impl Iterator<Item = &str> {
    let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
    volumes.filter_map(|volume| volume["persistentVolumeClaim"]["claimName"].as_str())
}

/// Writes of a claim that has its volume that it does, and lets both grow to what is asked.
fn settle(desk: &Desk<'_>, claim: &Value, volume: &Value) -> Result<(), ApiError> {
    if volume["spec"]["claimRef"]["uid"] != claim["metadata"]["uid"] {
        return binding::bind_named(desk, claim, volume);
    }
    let asked = &claim["spec"]["resources"]["requests"]["storage"];
    let has = &volume["spec"]["capacity"]["storage"];
    let bound = claim["status"]["phase"] == "Bound";
    let grows = bound
        && Quantity::of(asked)
            .zip(Quantity::of(has))
            .is_some_and(|(a, b)| a > b);
    let size = if grows { asked.clone() } else { has.clone() };
    if grows {
        desk.update(VOLUMES, &meta::key(volume), |volume| {
            volume["spec"]["capacity"]["storage"] = size.clone();
        })?;
    }
    desk.update(CLAIMS, &meta::key(claim), |claim| {
        meta::annotate(claim, "pv.kubernetes.io/bind-completed", "yes");
    })?;
    desk.update_status(CLAIMS, &meta::key(claim), |claim| {
        claim["status"]["phase"] = "Bound".into();
        claim["status"]["accessModes"] = volume["spec"]["accessModes"].clone();
        claim["status"]["capacity"] = json!({"storage": size});
    })
}

pub(super) fn reconcile_volume(desk: &Desk<'_>, key: &Key) -> Again {
    let Some(volume) = desk.get(VOLUMES, key) else {
        return Ok(None);
    };
    let claim = claim_of(desk, &volume);
    if meta::is_deleting(&volume) && claim.is_none() {
        let free = |volume: &mut Value| meta::remove_finalizer(volume, VOLUME_PROTECTION);
        return desk.update(VOLUMES, key, free).map(|()| None);
    }
    let referred = volume["spec"]["claimRef"]["uid"].is_string();
    let phase = match (&claim, referred) {
        (Some(_), _) => "Bound",
        (None, true) => "Released",
        (None, false) => "Available",
    };
    desk.update_status(VOLUMES, key, |volume| {
        if volume["status"]["phase"] != phase {
            volume["status"]["lastPhaseTransitionTime"] = desk.timestamp().into();
        }
        volume["status"]["phase"] = phase.into();
    })?;
    if phase == "Released" && volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete" {
        desk.delete(VOLUMES, &volume)?;
    }
    Ok(None)
}

/// The claim that a volume is bound to, if it is there.
fn claim_of(desk: &Desk<'_>, volume: &Value) -> Option<Object> {
    let reference = &volume["spec"]["claimRef"];
    let namespace = reference["namespace"].as_str()?;
    let key = Key::namespaced(namespace, reference["name"].as_str()?);
    desk.get(CLAIMS, &key)
        .filter(|claim| claim["metadata"]["uid"] == reference["uid"])
}
