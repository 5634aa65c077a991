//! What happens when a Database is deleted.
//!
//! ```text
//! pods that lost their StatefulSet ─▶ (policy Delete) StatefulSet ─▶ volumes ─▶ Secret ─▶ let it go
//! ```
//!
//! The children go with it, by their owner references. Volumes and Secret go or stay, both by one
//! policy, which people may still change while the servers shut down: a volume goes only after the
//! last server has, and the Secret only after the last volume. Each step asks the server anew,
//! since what is decided here cannot be taken back; a crash anywhere begins from the top.

use evenkeel_controller::{Context, Outcome, Ran, is_held};
use k8s_openapi::api::apps::v1::StatefulSet;
use kube::ResourceExt;
use kube::api::PropagationPolicy::{Background, Foreground};

use crate::act;
use crate::credentials;
use crate::error::Error;
use crate::names::FINALIZER;
use crate::report::report_farewell;
use crate::resource::{Database, DeletionPolicy};
use crate::storage;

/// The finalizer of those who want to keep what belongs to a thing that they delete.
const ORPHAN: &str = "orphan";

/// Takes the next step.
pub(crate) async fn farewell(database: &Database, cx: &Context) -> Ran<Error> {
    if !is_held(database, FINALIZER) {
        return Ok(Outcome::Done);
    }
    let waits_for = match is_held(database, ORPHAN) {
        true => None,
        false => clean_up(database, cx).await?,
    };
    if let Some(what) = waits_for {
        report_farewell(database, what, cx).await?;
        return Ok(Outcome::wait(what));
    }
    cx.release(database, FINALIZER).await?;
    Ok(Outcome::Done)
}

/// Does what can be done now; what it then waits for, if there is more.
async fn clean_up(database: &Database, cx: &Context) -> Result<Option<&'static str>, Error> {
    let servers = act::servers_now(database, cx).await?;
    if servers.is_none() && !stop_strays(database, cx).await? {
        return Ok(Some("the servers to shut down"));
    }
    match (database.spec.deletion_policy, servers) {
        (DeletionPolicy::Retain, _) => Ok(None),
        (DeletionPolicy::Delete, None) => delete_keepsakes(database, cx).await,
        (DeletionPolicy::Delete, Some(servers)) if is_ours(database, &servers) => {
            if servers.metadata.deletion_timestamp.is_none() {
                act::delete(database, &servers, Foreground, cx).await?;
            }
            Ok(Some("the servers to shut down"))
        }
        // Somebody has set the servers free, or taken them: the data is theirs now.
        (DeletionPolicy::Delete, Some(_)) => Ok(None),
    }
}

/// Stops the servers of a StatefulSet that is gone, as one is while volumes grow: nobody else would.
/// Whether there are none left.
async fn stop_strays(database: &Database, cx: &Context) -> Result<bool, Error> {
    let strays = act::strays_now(database, cx).await?;
    for pod in &strays {
        if pod.metadata.deletion_timestamp.is_none() {
            act::delete(database, pod, Background, cx).await?;
        }
    }
    Ok(strays.is_empty())
}

/// Volumes first: while one of them is there, so is the Secret that opens it.
async fn delete_keepsakes(
    database: &Database,
    cx: &Context,
) -> Result<Option<&'static str>, Error> {
    let mut claims = act::claims_now(database, cx).await?;
    claims.retain(|claim| storage::is_ours(database, claim));
    for claim in &claims {
        if claim.metadata.deletion_timestamp.is_none() {
            act::delete(database, claim, Background, cx).await?;
        }
    }
    if !claims.is_empty() {
        return Ok(Some("the volumes to go"));
    }
    if let Some(secret) = act::secret_now(database, cx).await?
        && credentials::is_ours(database, &secret)
    {
        act::delete(database, &secret, Background, cx).await?;
    }
    Ok(None)
}

fn is_ours(database: &Database, servers: &StatefulSet) -> bool {
    let ours = |uid: &str| database.metadata.uid.as_deref() == Some(uid);
    let owners = servers.owner_references().iter();
    let mut controllers = owners.filter(|owner| owner.controller == Some(true));
    controllers.any(|owner| ours(&owner.uid))
}
