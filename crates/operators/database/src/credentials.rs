//! The Secret of a Database: made once, never invented again, changed only together with the server.
//!
//! ```text
//! no Secret, no volume  ─▶ make one
//! no Secret, a volume   ─▶ lost: say so, invent nothing
//! a new password wanted ─▶ write it down as "next" ─▶ change it in the server ─▶ make it the password
//! ```
//!
//! The next password is in the Secret before the server hears of it, so a crash at any point finds
//! both, and one of them works.

use std::collections::BTreeMap;

use evenkeel_ambient::Random;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;

use crate::names::{DATABASE, Names};
use crate::resource::Database;

/// The annotation with the request for a new password that is being carried out.
pub(crate) const ROTATING: &str = "evenkeel.io/rotating";
/// The annotation with the request that was carried out last.
pub(crate) const ROTATED: &str = "evenkeel.io/rotated";

const PASSWORD: &str = "password";
const NEXT: &str = "next-password";
const REPLICATION: &str = "replication-password";

/// The password that people gave, if they gave one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// They did not; the operator makes one.
    Nothing,
    /// They did, but it cannot be read; the text says why.
    Unreadable(String),
    /// This one.
    Password(String),
}

/// What is to be done about the Secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Make it, with this password or a fresh one.
    Create {
        /// The password that people gave.
        given: Option<String>,
    },
    /// Nothing can be done until people do something.
    Stuck(Stuck),
    /// Write down the next password, before the server hears of it.
    Announce {
        /// The password that people gave; a fresh one otherwise.
        given: Option<String>,
        /// The request that is carried out.
        request: Option<String>,
    },
    /// The server must take the next password, then it becomes the password.
    Change(Exchange),
    /// Host, port or the like are out of date.
    Refresh,
    /// Nothing.
    Nothing,
}

/// Why nothing can be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stuck {
    /// There is data, but the Secret that opens it is gone.
    Lost,
    /// The Secret of that name is somebody else's.
    Foreign(String),
    /// The Secret that people named cannot be read.
    Unreadable(String),
    /// The Secret has no password in it any more.
    Damaged(&'static str),
}

/// Two passwords, one of which the server takes.
#[derive(Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The one in use.
    pub old: String,
    /// The one that follows.
    pub next: String,
}

// Passwords must not end up in a log by accident.
impl std::fmt::Debug for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Exchange { .. }")
    }
}

/// What is to be done about the Secret.
#[must_use]
pub fn decide(
    database: &Database,
    secret: Option<&Secret>,
    given: &Given,
    has_volumes: bool,
) -> Step {
    let given = match given {
        Given::Nothing => None,
        Given::Unreadable(why) => return Step::Stuck(Stuck::Unreadable(why.clone())),
        Given::Password(password) => Some(password),
    };
    match secret {
        None if has_volumes => Step::Stuck(Stuck::Lost),
        None => Step::Create {
            given: given.cloned(),
        },
        Some(secret) => match foreign(database, secret) {
            Some(owner) => Step::Stuck(Stuck::Foreign(owner)),
            None => decide_existing(database, secret, given),
        },
    }
}

fn decide_existing(database: &Database, secret: &Secret, given: Option<&String>) -> Step {
    let Some(old) = text(secret, PASSWORD) else {
        return Step::Stuck(Stuck::Damaged(PASSWORD));
    };
    if text(secret, REPLICATION).is_none() {
        return Step::Stuck(Stuck::Damaged(REPLICATION));
    }
    if let Some(next) = text(secret, NEXT) {
        return Step::Change(Exchange { old, next });
    }
    if let Some(given) = given {
        if *given != old {
            return Step::Announce {
                given: Some(given.clone()),
                request: None,
            };
        }
    } else if let Some(request) = unheard(database, secret) {
        return Step::Announce {
            given: None,
            request: Some(request.to_owned()),
        };
    }
    match says(secret, &connection(database, &old)) {
        true => Step::Nothing,
        false => Step::Refresh,
    }
}

/// A request for a new password that was not carried out yet.
fn unheard<'a>(database: &'a Database, secret: &Secret) -> Option<&'a str> {
    let request = database.rotation_request()?;
    (rotated(secret) != Some(request)).then_some(request)
}

/// The request that was carried out last.
pub(crate) fn rotated(secret: &Secret) -> Option<&str> {
    secret.annotations().get(ROTATED).map(String::as_str)
}

/// Whose it is, if it is not this Database's.
fn foreign(database: &Database, secret: &Secret) -> Option<String> {
    if let Some(owner) = secret.owner_references().first() {
        return Some(format!("{} {}", owner.kind, owner.name));
    }
    let whose = secret.labels().get(DATABASE);
    (whose != database.metadata.name.as_ref())
        .then(|| "nobody that the operator knows: it lacks the label of this Database".to_owned())
}

/// Whether a Secret was made for this Database and belongs to nothing else.
pub(crate) fn is_ours(database: &Database, secret: &Secret) -> bool {
    foreign(database, secret).is_none()
}

/// The Secret of a Database that has none.
#[must_use]
pub fn create(database: &Database, given: Option<String>, dice: &dyn Random) -> Secret {
    let names = Names::of(database);
    let password = given.unwrap_or_else(|| fresh_password(dice));
    let mut secret = Secret {
        type_: Some("Opaque".to_owned()),
        ..Secret::default()
    };
    secret.metadata.name = Some(names.secret());
    secret.metadata.namespace = database.metadata.namespace.clone();
    secret.metadata.labels = Some(names.labels());
    // Requests from before there was a password are fulfilled by the first one.
    if let Some(request) = database.rotation_request() {
        secret
            .annotations_mut()
            .insert(ROTATED.to_owned(), request.to_owned());
    }
    let data = secret.data.get_or_insert_default();
    put(data, REPLICATION, fresh_password(dice));
    data.extend(connection(database, &password));
    secret
}

/// The Secret with the next password written down beside the one in use.
#[must_use]
pub fn announce(
    mut secret: Secret,
    given: Option<String>,
    request: Option<String>,
    dice: &dyn Random,
) -> Secret {
    let next = given.unwrap_or_else(|| fresh_password(dice));
    put(secret.data.get_or_insert_default(), NEXT, next);
    if let Some(request) = request {
        secret
            .annotations_mut()
            .insert(ROTATING.to_owned(), request);
    }
    secret
}

/// The Secret after the server took the next password.
#[must_use]
pub fn conclude(database: &Database, mut secret: Secret) -> Secret {
    let next = text(&secret, NEXT);
    let data = secret.data.get_or_insert_default();
    data.remove(NEXT);
    if let Some(next) = next {
        data.extend(connection(database, &next));
    }
    if let Some(request) = secret.annotations_mut().remove(ROTATING) {
        secret.annotations_mut().insert(ROTATED.to_owned(), request);
    }
    secret
}

/// The Secret with host, port and the like as they are now.
#[must_use]
pub fn refresh(database: &Database, mut secret: Secret) -> Secret {
    if let Some(password) = text(&secret, PASSWORD) {
        let data = secret.data.get_or_insert_default();
        data.extend(connection(database, &password));
    }
    secret
}

/// Everything that a client needs.
fn connection(database: &Database, password: &str) -> BTreeMap<String, ByteString> {
    let host = host(database);
    let (port, user, name) = (
        database.spec.port,
        &database.spec.owner,
        &database.spec.database,
    );
    let uri = format!(
        "postgresql://{user}:{}@{host}:{port}/{name}",
        escaped(password)
    );
    let mut data = BTreeMap::new();
    for (key, value) in [
        ("host", host),
        ("port", port.to_string()),
        ("user", user.clone()),
        (PASSWORD, password.to_owned()),
        ("dbname", name.clone()),
        ("uri", uri),
    ] {
        put(&mut data, key, value);
    }
    data
}

/// Where clients that write connect.
#[must_use]
pub fn host(database: &Database) -> String {
    service_host(database, &Names::of(database).main())
}

/// A Service as seen from the whole cluster.
pub(crate) fn service_host(database: &Database, service: &str) -> String {
    format!("{service}.{}.svc", database.namespace_or_default())
}

/// Whether a Secret says all of this; what people put beside it is theirs.
fn says(secret: &Secret, wanted: &BTreeMap<String, ByteString>) -> bool {
    let said = |key: &String| secret.data.as_ref().and_then(|data| data.get(key));
    wanted.iter().all(|(key, value)| said(key) == Some(value))
}

fn put(data: &mut BTreeMap<String, ByteString>, key: &str, value: String) {
    data.insert(key.to_owned(), ByteString(value.into_bytes()));
}

fn text(secret: &Secret, key: &str) -> Option<String> {
    let bytes = &secret.data.as_ref()?.get(key)?.0;
    String::from_utf8(bytes.clone())
        .ok()
        .filter(|text| !text.is_empty())
}

/// 32 letters and digits: 190 bits, and nothing that anybody would have to quote.
fn fresh_password(dice: &dyn Random) -> String {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    std::iter::repeat_with(|| dice.next_u64() % 64)
        // Drawn again when it falls outside, so that every letter is as likely as any other.
        .filter_map(|number| LETTERS.get(usize::try_from(number).ok()?))
        .map(|letter| char::from(*letter))
        .take(32)
        .collect()
}

/// A password as it may stand in a URI.
fn escaped(password: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    password
        .bytes()
        .map(|byte| match plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}
