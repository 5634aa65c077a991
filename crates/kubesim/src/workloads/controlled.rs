//! Which objects belong to a controller: those that name it, and those that it may adopt.

use serde_json::Value;

use super::desk::{Desk, Noun};
use super::pod;
use crate::meta;
use crate::selectors::LabelSelector;
use crate::status::ApiError;
use crate::store::Object;

/// The reference to the controller of an object.
pub(super) fn controller_of(object: &Value) -> Option<&Value> {
    let mut owners = meta::owners(object).iter();
    owners.find(|owner| owner["controller"] == true)
}

/// Whether `owner` controls `object`.
pub(super) fn is_controlled_by(object: &Value, owner: &Value) -> bool {
    controller_of(object).is_some_and(|reference| reference["uid"] == owner["metadata"]["uid"])
}

/// The objects that `owner` controls. What fits its selector and has no controller is adopted;
/// what no longer fits is let go.
pub(super) fn claim(
    desk: &Desk<'_>,
    wanted: Noun,
    noun: Noun,
    owner: &Value,
    selector: &LabelSelector,
) -> Result<Vec<Object>, ApiError> {
    let mut claimed = Vec::new();
    for object in desk.list(wanted, Some(meta::namespace(owner))) {
        let fits = selector.matches(&object["metadata"]["labels"]);
        let free = controller_of(&object).is_none();
        if is_controlled_by(&object, owner) {
            match fits || meta::is_deleting(owner) {
                true => claimed.push(object),
                false => release(desk, wanted, owner, &object)?,
            }
        } else if free && fits && !meta::is_deleting(owner) && !meta::is_deleting(&object) {
            adopt(desk, wanted, noun, owner, &object)?;
            claimed.extend(desk.get(wanted, &meta::key(&object)));
        }
    }
    Ok(claimed)
}

fn adopt(
    desk: &Desk<'_>,
    wanted: Noun,
    noun: Noun,
    owner: &Value,
    object: &Value,
) -> Result<(), ApiError> {
    desk.update(wanted, &meta::key(object), |object| {
        let mut owners = meta::owners(object).to_vec();
        owners.push(pod::controller_reference(noun, owner));
        meta::set(object, "ownerReferences", owners);
    })
}

fn release(desk: &Desk<'_>, wanted: Noun, owner: &Value, object: &Value) -> Result<(), ApiError> {
    desk.update(wanted, &meta::key(object), |object| {
        let mut owners = meta::owners(object).to_vec();
        owners.retain(|reference| reference["uid"] != owner["metadata"]["uid"]);
        match owners.is_empty() {
            true => meta::remove(object, "ownerReferences"),
            false => meta::set(object, "ownerReferences", owners),
        }
    })
}
