//! Everything about a broker that can be set.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use evenkeel_manifest::Limits as ManifestLimits;
use serde::{Deserialize, Serialize};

/// The settings of a broker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where it listens and how it stops.
    pub server: Server,
    /// Where it keeps what it knows.
    pub database: Database,
    /// How much a caller may ask of it.
    pub limits: Limits,
    /// How it tells others.
    pub webhooks: Webhooks,
    /// How long it remembers what only history needs.
    pub retention: Retention,
}

/// Where the broker listens and how it stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// The address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The certificate and key for TLS; without them the broker speaks plain HTTP.
    pub tls: Option<Tls>,
    /// How long requests in progress may take when the broker stops.
    pub drain_seconds: u64,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 3000)),
            tls: None,
            drain_seconds: 20,
        }
    }
}

impl Server {
    pub(crate) const fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_seconds)
    }
}

/// The files of a TLS identity, in PEM form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificate chain.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Where the broker keeps what it knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Database {
    /// `sqlite://PATH` or `postgres://...`; without it a file in the data directory.
    pub url: Option<String>,
    /// Where the first admin key and the sealing key are written; beside an SQLite file if unset.
    pub data_dir: Option<PathBuf>,
}

/// How much a caller may ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The largest request body.
    pub body_bytes: usize,
    /// The largest manifest.
    pub manifest_bytes: usize,
    /// The most documents in a manifest.
    pub manifest_documents: usize,
    /// Requests per second and key; 0 for no limit.
    pub requests_per_second: u32,
    /// How many requests of a key may come at once before the rate counts.
    pub burst: u32,
    /// Refused keys per second and address; 0 for no limit.
    pub refusals_per_second: u32,
    /// The longest that a poll may wait for a change.
    pub longest_wait_seconds: u64,
    /// How many bytes of manifests are kept in memory.
    pub manifest_cache_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 6 << 20,
            manifest_bytes: 4 << 20,
            manifest_documents: 5000,
            requests_per_second: 1000,
            burst: 2000,
            refusals_per_second: 5,
            longest_wait_seconds: 60,
            manifest_cache_bytes: 64 << 20,
        }
    }
}

impl Limits {
    pub(crate) const fn manifest(&self) -> ManifestLimits {
        ManifestLimits {
            bytes: self.manifest_bytes,
            documents: self.manifest_documents,
        }
    }

    pub(crate) const fn longest_wait(&self) -> Duration {
        Duration::from_secs(self.longest_wait_seconds)
    }
}

/// How the broker tells others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Webhooks {
    /// Seals addresses and secrets at rest: 64 hexadecimal digits, the same on every broker of one
    /// database. Without it, a broker on SQLite makes one and keeps it in the data directory.
    pub encryption_key: Option<String>,
    /// Whether receivers on loopback, link-local and private addresses are allowed.
    pub allow_private: bool,
    /// How often the outbox is looked at.
    pub period_seconds: u64,
    /// How many deliveries are under way at once.
    pub at_once: u32,
}

impl Default for Webhooks {
    fn default() -> Self {
        Self {
            encryption_key: None,
            allow_private: false,
            period_seconds: 1,
            at_once: 50,
        }
    }
}

/// How many days the broker remembers what only history needs; 0 for ever.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// What agents reported.
    pub event_days: u32,
    /// The audit log.
    pub audit_days: u32,
    /// Deliveries that succeeded or were given up.
    pub delivery_days: u32,
    /// Changes that other brokers may still want to hear of.
    pub change_days: u32,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            event_days: 30,
            audit_days: 90,
            delivery_days: 7,
            change_days: 1,
        }
    }
}

impl Config {
    /// The settings as YAML, fit to be shown: secrets are only said to be there.
    pub fn shown(&self) -> String {
        let mut shown = self.clone();
        shown.webhooks.encryption_key = shown.webhooks.encryption_key.map(|_| "(set)".to_owned());
        shown.database.url = shown.database.url.map(|url| without_password(&url));
        serde_saphyr::to_string(&shown).unwrap_or_default()
    }
}

fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    match rest
        .rsplit_once('@')
        .and_then(|(user, host)| Some((user.split_once(':')?.0, host)))
    {
        Some((user, host)) => format!("{scheme}://{user}:(set)@{host}"),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_settings::Layers;

    #[test]
    fn what_is_shown_can_be_read_again_and_holds_no_secret() {
        let config = Layers::<Config>::default()
            .set("webhooks.encryption_key", &"ab".repeat(32))
            .and_then(|layers| layers.set("database.url", "postgres://me:hunter2@db/fleet"))
            .unwrap()
            .finish();
        let shown = config.shown();
        assert!(
            !shown.contains("hunter2") && !shown.contains("abab"),
            "{shown}"
        );
        let read: Config = serde_saphyr::from_str(&shown).unwrap();
        assert_eq!(read.limits, config.limits);
        assert_eq!(
            read.database.url.as_deref(),
            Some("postgres://me:(set)@db/fleet")
        );
    }

    #[test]
    fn the_environment_reaches_every_section() {
        let variable = (
            "EVENKEEL__SERVER__LISTEN".to_owned(),
            "0.0.0.0:0".to_owned(),
        );
        let config = Layers::<Config>::default()
            .environment([variable])
            .unwrap()
            .finish();
        assert_eq!(config.server.listen.port(), 0);
    }
}
