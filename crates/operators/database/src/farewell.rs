//! What happens when a Database is deleted.
//!
//! The children go with it, by their owner references. Volumes and Secret go or stay, both by one
//! policy, which people may still change while the servers shut down. A volume goes only after the
//! last server has.

use evenkeel_controller::{Context, Outcome, Ran, is_held};
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::ResourceExt;
use kube::api::PropagationPolicy;

use crate::act;
use crate::credentials;
use crate::error::Error;
use crate::names::{DATABASE, FINALIZER};
use crate::observe::Observed;
use crate::resource::{Database, DeletionPolicy};

/// Takes the next step.
pub(crate) async fn farewell(database: &Database, cx: &Context) -> Ran<Error> {
    if !is_held(database, FINALIZER) {
        return Ok(Outcome::Done);
    }
    if database.spec.deletion_policy == DeletionPolicy::Delete {
        let observed = Observed::of(database, cx).await?;
        if let Some(servers) = &observed.servers {
            if servers.metadata.deletion_timestamp.is_none() {
                act::delete(database, &**servers, PropagationPolicy::Foreground, cx).await?;
            }
            return Ok(Outcome::wait("the servers to shut down"));
        }
        delete_keepsakes(database, &observed, cx).await?;
    }
    cx.release(database, FINALIZER).await?;
    Ok(Outcome::Done)
}

/// Volumes first: while one of them is there, so is the Secret that opens it.
async fn delete_keepsakes(
    database: &Database,
    observed: &Observed,
    cx: &Context,
) -> Result<(), Error> {
    let live = |claim: &&PersistentVolumeClaim| claim.metadata.deletion_timestamp.is_none();
    let ours = |claim: &&PersistentVolumeClaim| is_ours(database, claim);
    for claim in observed.claims.iter().filter(live).filter(ours) {
        act::delete(database, claim, PropagationPolicy::Background, cx).await?;
    }
    if let Some(secret) = &observed.secret
        && credentials::is_ours(database, secret)
    {
        act::delete(database, &**secret, PropagationPolicy::Background, cx).await?;
    }
    Ok(())
}

/// Whether a volume was made for this Database and belongs to nothing else.
fn is_ours(database: &Database, claim: &PersistentVolumeClaim) -> bool {
    let labelled = claim.labels().get(DATABASE) == database.metadata.name.as_ref();
    labelled && claim.owner_references().is_empty()
}
