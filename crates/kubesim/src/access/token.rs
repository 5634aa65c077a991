//! Tokens of service accounts: signed claims, for this cluster only.
//!
//! They look like those of a real server (a JSON Web Token with the same claims) but are signed
//! with a random key that the cluster keeps where no request leads.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::User;
use crate::cluster::Cluster;
use crate::meta;
use crate::store::{Key, ResourceId};

/// Who signs, and for whom, when nothing else is asked for.
pub(super) const ISSUER: &str = "https://kubernetes.default.svc";
const BLOCK: usize = 64;

/// What a token is to say.
pub(super) struct Claims<'a> {
    pub(super) account: &'a Value,
    pub(super) audiences: Vec<String>,
    pub(super) seconds: i64,
    /// The object (kind, name, uid) with which the token ends.
    pub(super) bound: Option<&'a Value>,
}

/// A signed token and its end.
pub(super) fn issue(cluster: &Cluster, claims: &Claims<'_>) -> (String, Timestamp) {
    let now = cluster.ambient().clock.now();
    let end = now
        .saturating_add(SignedDuration::from_secs(claims.seconds))
        .unwrap_or(now);
    let (namespace, name) = (meta::namespace(claims.account), meta::name(claims.account));
    let mut about = json!({
        "namespace": namespace,
        "serviceaccount": {"name": name, "uid": meta::uid(claims.account)},
    });
    if let Some(bound) = claims.bound {
        let kind = bound["kind"].as_str().unwrap_or_default().to_lowercase();
        about[kind] = json!({"name": bound["name"], "uid": bound["uid"]});
    }
    let payload = json!({
        "aud": claims.audiences,
        "exp": end.as_second(),
        "iat": now.as_second(),
        "iss": ISSUER,
        "jti": cluster.ambient().random.uuid().to_string(),
        "kubernetes.io": about,
        "nbf": now.as_second(),
        "sub": format!("system:serviceaccount:{namespace}:{name}"),
    });
    let head = BASE64.encode(json!({"alg": "HS256", "kid": "kubesim"}).to_string());
    let body = format!("{head}.{}", BASE64.encode(payload.to_string()));
    let signature = BASE64.encode(sign(&key(cluster), body.as_bytes()));
    (format!("{body}.{signature}"), end)
}

/// Whose token this is, if it is good at this moment for one of these audiences.
pub(super) fn read(cluster: &Cluster, token: &str, audiences: Option<&[String]>) -> Option<User> {
    let (body, signature) = token.rsplit_once('.')?;
    let wanted = sign(&kept_key(cluster)?, body.as_bytes());
    if BASE64.decode(signature).ok()? != wanted {
        return None;
    }
    let payload = BASE64.decode(body.split_once('.')?.1).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    let now = cluster.ambient().clock.now().as_second();
    if claims["exp"].as_i64()? <= now || !fits(&claims["aud"], audiences) {
        return None;
    }
    known(cluster, &claims)
}

fn fits(audience: &Value, wanted: Option<&[String]>) -> bool {
    let own = meta::strings(Some(audience));
    match wanted {
        Some(wanted) => wanted.iter().any(|one| own.contains(&one.as_str())),
        None => own.contains(&ISSUER),
    }
}

/// The account must still be the one that the token was made for.
fn known(cluster: &Cluster, claims: &Value) -> Option<User> {
    let about = &claims["kubernetes.io"];
    let namespace = about["namespace"].as_str()?;
    let name = about["serviceaccount"]["name"].as_str()?;
    let account = find(cluster, "serviceaccounts", namespace, name)?;
    let mut user = User::service_account(namespace, name);
    user.uid = meta::uid(&account).to_owned();
    if about["serviceaccount"]["uid"] != user.uid.as_str() {
        return None;
    }
    let id = format!("JTI={}", claims["jti"].as_str().unwrap_or_default());
    let mut extra = |key: &str, value: &str| {
        user.extra.insert(
            format!("authentication.kubernetes.io/{key}"),
            vec![value.to_owned()],
        );
    };
    extra("credential-id", &id);
    if let Some(pod) = about.get("pod") {
        let pod_name = pod["name"].as_str()?;
        find(cluster, "pods", namespace, pod_name)
            .filter(|found| found["metadata"]["uid"] == pod["uid"])?;
        extra("pod-name", pod_name);
        extra("pod-uid", pod["uid"].as_str()?);
    }
    Some(user)
}

fn find(
    cluster: &Cluster,
    plural: &str,
    namespace: &str,
    name: &str,
) -> Option<crate::store::Object> {
    let key = Key::namespaced(namespace, name);
    cluster.store().get(&ResourceId::new("", plural), &key)
}

/// Where the key is kept: among the objects, so that every process which opens the cluster's file
/// has the same, but under a name that no path and no definition can have.
fn keeping_place() -> (ResourceId, Key) {
    (
        ResourceId::new("kubesim", "signing keys"),
        Key::cluster("0"),
    )
}

/// The key, if a token was ever asked for.
fn kept_key(cluster: &Cluster) -> Option<Vec<u8>> {
    let (resource, place) = keeping_place();
    let kept = cluster.store().get(&resource, &place)?;
    BASE64.decode(kept["key"].as_str()?).ok()
}

/// The key, drawn now if there is none.
fn key(cluster: &Cluster) -> Vec<u8> {
    if let Some(key) = kept_key(cluster) {
        return key;
    }
    let mut drawn = [0; 32];
    cluster.ambient().random.fill(&mut drawn);
    let (resource, place) = keeping_place();
    let object = json!({"metadata": {}, "key": BASE64.encode(drawn)});
    // If somebody else was quicker, theirs is the key.
    let _ = cluster.store().create(&resource, &place, object);
    kept_key(cluster).unwrap_or_else(|| drawn.to_vec())
}

/// HMAC with SHA-256 (RFC 2104); the key is shorter than a block.
fn sign(key: &[u8], message: &[u8]) -> Vec<u8> {
    let pad = |byte: u8| {
        let mut block = [byte; BLOCK];
        block
            .iter_mut()
            .zip(key)
            .for_each(|(place, key)| *place ^= key);
        block
    };
    let inner = Sha256::new()
        .chain_update(pad(0x36))
        .chain_update(message)
        .finalize();
    Sha256::new()
        .chain_update(pad(0x5c))
        .chain_update(inner)
        .finalize()
        .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_drawn_and_kept_and_not_served() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("cluster");
        let open = || Cluster::builder().open(&path).unwrap();
        let cluster = open();
        assert_eq!(kept_key(&cluster), None, "nobody has asked yet");
        let drawn = key(&cluster);
        assert_ne!(drawn, key(&Cluster::new()));
        let (resource, _) = keeping_place();
        assert!(cluster.registry().find_stored(&resource).is_none());
        drop(cluster);
        assert_eq!(key(&open()), drawn, "tokens outlive the process");
    }

    #[test]
    fn signatures_are_those_of_the_standard() {
        let signature = sign(b"Jefe", b"what do ya want for nothing?");
        let text: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            text,
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
