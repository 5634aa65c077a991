//! What is seen of a Database: everything from what the controller follows, and one Secret of the
//! people's, which is asked for because nobody should keep a copy of it.

use std::sync::Arc;

use evenkeel_controller::{Context, Error, Key, Metadata};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, Secret};
use k8s_openapi::api::storage::v1::StorageClass;
use kube::{Api, ResourceExt};

use crate::credentials::Given;
use crate::names::Names;
use crate::resource::{Database, SecretKey};
use crate::storage;

/// No more servers than the definition allows; claims of servers that were scaled away stay.
const MOST_SERVERS: i32 = 16;

/// What is seen of a Database.
#[derive(Debug)]
pub(crate) struct Observed {
    pub(crate) secret: Option<Arc<Secret>>,
    pub(crate) given: Given,
    pub(crate) servers: Option<Arc<StatefulSet>>,
    pub(crate) pods: Vec<Pod>,
    pub(crate) claims: Vec<PersistentVolumeClaim>,
    pub(crate) rigid_classes: Vec<String>,
}

impl Observed {
    pub(crate) async fn of(database: &Database, cx: &Context) -> Result<Self, Error> {
        let (key, names) = (cx.key(), Names::of(database));
        let own = own_servers(database, cx)?;
        Ok(Self {
            secret: cx.known::<Secret>()?.get(&key.beside(names.secret())),
            given: given(database, cx).await?,
            pods: pods(own.as_deref(), cx)?,
            claims: claims(database, cx)?,
            rigid_classes: rigid_classes(cx)?,
            servers: own,
        })
    }

    /// The claim of this name.
    pub(crate) fn claim(&self, name: &str) -> Option<&PersistentVolumeClaim> {
        self.claims.iter().find(|claim| claim.name_any() == name)
    }

    /// Whether a storage class lets its volumes grow; one that is not known is asked and will say.
    pub(crate) fn may_grow(&self, class: &str) -> bool {
        !self.rigid_classes.iter().any(|rigid| rigid == class)
    }
}

/// The StatefulSet, if it is this Database's own.
fn own_servers(database: &Database, cx: &Context) -> Result<Option<Arc<StatefulSet>>, Error> {
    let controlled = cx.known::<StatefulSet>()?.controlled_by(database);
    let name = Names::of(database).main();
    let named = |servers: &Arc<StatefulSet>| servers.metadata.name.as_ref() == Some(&name);
    Ok(controlled.into_iter().find(named))
}

fn pods(servers: Option<&StatefulSet>, cx: &Context) -> Result<Vec<Pod>, Error> {
    let Some(servers) = servers else {
        return Ok(Vec::new());
    };
    let pods = cx.known::<Pod>()?.controlled_by(servers);
    Ok(pods.iter().map(|pod| Pod::clone(pod)).collect())
}

fn claims(database: &Database, cx: &Context) -> Result<Vec<PersistentVolumeClaim>, Error> {
    let known = cx.known::<PersistentVolumeClaim>()?;
    let claims = claim_keys(Names::of(database), cx.key()).into_iter();
    Ok(claims
        .filter_map(|key| known.get(&key))
        .filter(|claim| storage::is_ours(database, claim))
        .map(|claim| PersistentVolumeClaim::clone(&claim))
        .collect())
}

/// The claims that a Database may have.
pub(crate) fn claim_keys(names: Names<'_>, database: &Key) -> Vec<Key> {
    let ordinals = 0..MOST_SERVERS;
    ordinals
        .map(|ordinal| database.beside(names.claim(ordinal)))
        .collect()
}

fn rigid_classes(cx: &Context) -> Result<Vec<String>, Error> {
    let classes = cx.known::<StorageClass>()?.all();
    let rigid = classes
        .iter()
        .filter(|class| class.allow_volume_expansion != Some(true));
    Ok(rigid
        .filter_map(|class| class.metadata.name.clone())
        .collect())
}

async fn given(database: &Database, cx: &Context) -> Result<Given, Error> {
    let Some(wanted) = &database.spec.password_secret_ref else {
        return Ok(Given::Nothing);
    };
    if cx
        .known::<Metadata<Secret>>()?
        .get(&cx.key().beside(&wanted.name))
        .is_none()
    {
        return Ok(Given::Unreadable(format!(
            "Secret {} does not exist",
            wanted.name
        )));
    }
    let secrets: Api<Secret> =
        Api::namespaced(cx.client().clone(), database.namespace_or_default());
    let secret = secrets.get_opt(&wanted.name).await;
    let secret = secret.map_err(Error::kube(format!("read Secret {}", wanted.name)))?;
    Ok(read(secret.as_ref(), wanted))
}

fn read(secret: Option<&Secret>, wanted: &SecretKey) -> Given {
    let unreadable = |why: &str| Given::Unreadable(format!("Secret {} {why}", wanted.name));
    let Some(secret) = secret else {
        return unreadable("does not exist");
    };
    let bytes = secret.data.as_ref().and_then(|data| data.get(&wanted.key));
    let Some(bytes) = bytes else {
        return unreadable(&format!("has no key {}", wanted.key));
    };
    let key = &wanted.key;
    // The end of the line belongs to the file that the Secret was made from, not to the password.
    match std::str::from_utf8(&bytes.0).map(|text| text.trim_end_matches(['\r', '\n'])) {
        Ok("") => unreadable(&format!("has nothing in {key}")),
        Ok(text) if text.contains(['\r', '\n', '\0']) => {
            unreadable(&format!("has more than one line in {key}"))
        }
        Ok(text) => Given::Password(text.to_owned()),
        Err(_) => unreadable(&format!("has something in {key} that is no text")),
    }
}
