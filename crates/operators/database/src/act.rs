//! The writes that are not plain children: the Secret, the volumes, the pods' labels, the farewell.
//! Each carries the state that it was decided on, so that a decision on an old view writes nothing.

use evenkeel_controller::{Context, Error};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, Secret};
use kube::api::{
    DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions, PropagationPolicy,
};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::names::{Names, ROLE};
use crate::resource::Database;
use crate::roles::Role;

/// The objects of a Database's namespace.
fn api<K>(database: &Database, cx: &Context) -> Api<K>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
{
    Api::namespaced(cx.client().clone(), database.namespace_or_default())
}

fn posting(cx: &Context) -> PostParams {
    PostParams {
        field_manager: Some(cx.manager().to_owned()),
        ..PostParams::default()
    }
}

fn patching(cx: &Context) -> PatchParams {
    PatchParams {
        field_manager: Some(cx.manager().to_owned()),
        ..PatchParams::default()
    }
}

/// Whether the primary has a volume. Credentials are made or thrown away on the answer, so the
/// server is asked: what is followed may be a moment old.
pub(crate) async fn has_data(database: &Database, cx: &Context) -> Result<bool, Error> {
    let claim = Names::of(database).claim(0);
    let found = api::<PersistentVolumeClaim>(database, cx)
        .get_metadata_opt(&claim)
        .await;
    let found = found.map_err(Error::kube(format!("look for {claim}")))?;
    Ok(found.is_some())
}

/// The Secret as the server has it at this moment, whoever it belongs to.
pub(crate) async fn secret_now(database: &Database, cx: &Context) -> Result<Option<Secret>, Error> {
    let name = Names::of(database).secret();
    let found = api::<Secret>(database, cx).get_opt(&name).await;
    found.map_err(Error::kube(format!("read Secret {name}")))
}

/// The StatefulSet as the server has it at this moment, whoever it belongs to.
pub(crate) async fn servers_now(
    database: &Database,
    cx: &Context,
) -> Result<Option<StatefulSet>, Error> {
    let name = Names::of(database).main();
    let found = api::<StatefulSet>(database, cx).get_opt(&name).await;
    found.map_err(Error::kube(format!("read StatefulSet {name}")))
}

/// The volumes as the server has them at this moment.
pub(crate) async fn claims_now(
    database: &Database,
    cx: &Context,
) -> Result<Vec<PersistentVolumeClaim>, Error> {
    let names = Names::of(database);
    let mut claims = labelled_now::<PersistentVolumeClaim>(database, cx).await?;
    claims.retain(|claim| names.is_claim(&claim.name_any()));
    Ok(claims)
}

/// The servers that nobody controls, as they are at this moment.
pub(crate) async fn strays_now(database: &Database, cx: &Context) -> Result<Vec<Pod>, Error> {
    let names = Names::of(database);
    let mut pods = labelled_now::<Pod>(database, cx).await?;
    let controlled = |pod: &Pod| {
        let mut owners = pod.owner_references().iter();
        owners.any(|owner| owner.controller == Some(true))
    };
    pods.retain(|pod| names.is_pod(&pod.name_any()) && !controlled(pod));
    Ok(pods)
}

/// What carries the label of the Database at this moment.
async fn labelled_now<K>(database: &Database, cx: &Context) -> Result<Vec<K>, Error>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned,
{
    let selector = Names::of(database).selector_text();
    let listed = api::<K>(database, cx)
        .list(&ListParams::default().labels(&selector))
        .await;
    let attempt = format!("list every {} with {selector}", K::kind(&()));
    listed.map(|list| list.items).map_err(Error::kube(attempt))
}

/// Makes the Secret. One that exists already wins: the conflict leads to another look.
pub(crate) async fn create_secret(
    database: &Database,
    secret: &Secret,
    cx: &Context,
) -> Result<Secret, Error> {
    let created = api::<Secret>(database, cx)
        .create(&posting(cx), secret)
        .await;
    created.map_err(Error::kube(format!("create Secret {}", secret.name_any())))
}

/// Writes the Secret, unless somebody changed it since it was read.
pub(crate) async fn replace_secret(
    database: &Database,
    secret: &Secret,
    cx: &Context,
) -> Result<Secret, Error> {
    let name = secret.name_any();
    let replaced = api::<Secret>(database, cx)
        .replace(&name, &posting(cx), secret)
        .await;
    replaced.map_err(Error::kube(format!("write Secret {name}")))
}

/// Asks a claim for the size that the Database wants, unless it changed since it was seen.
pub(crate) async fn grow(
    database: &Database,
    claim: &PersistentVolumeClaim,
    cx: &Context,
) -> Result<(), Error> {
    let (name, size) = (claim.name_any(), &database.spec.storage.size);
    let patch = Patch::Merge(json!({
        "metadata": {"uid": claim.uid(), "resourceVersion": claim.resource_version()},
        "spec": {"resources": {"requests": {"storage": size}}},
    }));
    let grown = api::<PersistentVolumeClaim>(database, cx)
        .patch(&name, &patching(cx), &patch)
        .await;
    grown
        .map(drop)
        .map_err(Error::kube(format!("grow {name} to {size}")))
}

/// Tells a pod what it is, unless it changed since it was seen.
pub(crate) async fn label(
    database: &Database,
    pod: &Pod,
    role: Role,
    cx: &Context,
) -> Result<(), Error> {
    let labels = json!({ROLE: role.as_str()});
    let seen = json!({
        "uid": pod.uid(), "resourceVersion": pod.resource_version(), "labels": labels,
    });
    let patch = Patch::Merge(json!({ "metadata": seen }));
    let name = pod.name_any();
    match api::<Pod>(database, cx)
        .patch(&name, &patching(cx), &patch)
        .await
    {
        Ok(_) => Ok(()),
        // It went, or another one took its name: the next look will tell.
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        Err(error) => Err(Error::kube(format!(
            "label pod {name} as {}",
            role.as_str()
        ))(error)),
    }
}

/// Deletes a pod that only stands in the way, if it is still as it was seen.
pub(crate) async fn take_away(database: &Database, pod: &Pod, cx: &Context) -> Result<(), Error> {
    match delete(database, pod, PropagationPolicy::Background, cx).await {
        // It moved; the next look will tell.
        Err(error) if error.is_conflict() => Ok(()),
        taken => taken,
    }
}

/// Deletes the StatefulSet but not its pods: they serve on and are taken up by the next one.
pub(crate) async fn orphan_servers(
    database: &Database,
    servers: &StatefulSet,
    cx: &Context,
) -> Result<(), Error> {
    delete(database, servers, PropagationPolicy::Orphan, cx).await
}

/// Deletes exactly the object that was seen.
pub(crate) async fn delete<K>(
    database: &Database,
    seen: &K,
    propagation: PropagationPolicy,
    cx: &Context,
) -> Result<(), Error>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned,
{
    let how = DeleteParams {
        propagation_policy: Some(propagation),
        preconditions: Some(Preconditions {
            uid: seen.uid(),
            resource_version: seen.resource_version(),
        }),
        ..DeleteParams::default()
    };
    let name = seen.name_any();
    match api::<K>(database, cx).delete(&name, &how).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(Error::kube(format!("delete {} {name}", K::kind(&())))(
            error,
        )),
    }
}
