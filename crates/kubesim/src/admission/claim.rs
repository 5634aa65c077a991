//! Claims grow only where their class lets them.

use serde_json::Value;

use super::{Act, Operation};
use crate::meta;
use crate::quantity::Quantity;
use crate::status::ApiError;
use crate::store::{Key, ResourceId};

pub(super) fn check(act: &Act<'_>, claim: &Value) -> Result<(), ApiError> {
    let (Operation::Update, Some(old)) = (act.operation, act.old) else {
        return Ok(());
    };
    if !act.is_about("", "persistentvolumeclaims") || !grows(claim, old) {
        return Ok(());
    }
    let refuse = |why| {
        Err(ApiError::forbidden(
            &act.resource.id,
            meta::name(claim),
            why,
        ))
    };
    if old["status"]["phase"] != "Bound" {
        return refuse("Only bound persistent volume claims can be expanded");
    }
    let class = claim["spec"]["storageClassName"]
        .as_str()
        .unwrap_or_default();
    let classes = ResourceId::new("storage.k8s.io", "storageclasses");
    let class = act.cluster.store().get(&classes, &Key::cluster(class));
    match class.is_some_and(|class| class["allowVolumeExpansion"] == true) {
        true => Ok(()),
        false => refuse(
            "only dynamically provisioned pvc can be resized and the storageclass that \
             provisions the pvc must support resize",
        ),
    }
}

fn grows(claim: &Value, old: &Value) -> bool {
    let size = |claim: &Value| Quantity::of(&claim["spec"]["resources"]["requests"]["storage"]);
    size(claim)
        .zip(size(old))
        .is_some_and(|(new, old)| new > old)
}
