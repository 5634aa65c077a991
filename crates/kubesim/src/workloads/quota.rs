//! Resource quotas: how much of them is used.

use serde_json::{Map, Value};

use super::Again;
use super::desk::{Desk, QUOTAS};
use crate::admission;
use crate::store::Key;

pub(super) fn reconcile(desk: &Desk<'_>, key: &Key) -> Again {
    let Some(quota) = desk.get(QUOTAS, key) else {
        return Ok(None);
    };
    let used = admission::used(desk.cluster, &quota, None);
    let used: Map<String, Value> = used
        .into_iter()
        .map(|(name, amount)| (name, amount.to_string().into()))
        .collect();
    desk.update_status(QUOTAS, key, |quota| {
        quota["status"]["hard"] = quota["spec"]["hard"].clone();
        quota["status"]["used"] = used.clone().into();
    })?;
    Ok(None)
}
