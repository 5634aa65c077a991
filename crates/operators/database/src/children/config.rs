//! The ConfigMap: settings, access rules and the start script.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use sha2::{Digest, Sha256};

use crate::children::named;
use crate::names::{Names, REPLICATION_ROLE};
use crate::resource::Database;

/// The script that the container runs.
pub(crate) const START: &str = include_str!("start.sh");

/// The ConfigMap of a Database.
pub(super) fn config(database: &Database) -> ConfigMap {
    ConfigMap {
        metadata: named(database, Names::of(database).config()),
        data: Some(files(database)),
        ..ConfigMap::default()
    }
}

/// The files that the servers read.
#[must_use]
pub(crate) fn files(database: &Database) -> BTreeMap<String, String> {
    BTreeMap::from([
        ("postgresql.conf".to_owned(), settings(database)),
        ("pg_hba.conf".to_owned(), access()),
        ("start.sh".to_owned(), START.to_owned()),
    ])
}

/// What the servers would read at their next start, as a short word: a change restarts them.
pub(super) fn checksum(config: &ConfigMap) -> String {
    let mut hash = Sha256::new();
    for (name, text) in config.data.iter().flatten() {
        hash.update((name.len() as u64).to_be_bytes());
        hash.update(name);
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    hex::encode(&hash.finalize()[..16])
}

/// Ours first, so that people may overrule what is only a default.
fn settings(database: &Database) -> String {
    let mut lines = vec![
        "listen_addresses = '*'".to_owned(),
        format!("port = {}", database.spec.port),
        "hot_standby = on".to_owned(),
        "wal_level = replica".to_owned(),
        "max_wal_senders = 20".to_owned(),
        "wal_keep_size = '1GB'".to_owned(),
        "password_encryption = 'scram-sha-256'".to_owned(),
    ];
    let wished = &database.spec.settings;
    lines.extend(
        wished
            .iter()
            .map(|(key, value)| format!("{key} = {}", quoted(&value.0))),
    );
    lines.join("\n") + "\n"
}

/// A value as postgresql.conf reads it back unchanged.
fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

/// Passwords from everywhere; no password only inside the container.
fn access() -> String {
    format!(
        "local all all trust\n\
         host replication {REPLICATION_ROLE} all scram-sha-256\n\
         host all all all scram-sha-256\n"
    )
}
