//! Webhooks: sealing what must not be read at rest, and sending what must arrive.
//!
//! ```text
//! outbox ── claim ──▶ open (seal) ──▶ sign ──▶ POST (guard) ──▶ delivered | retry | dead
//! ```
//!
//! Read [`sign`] for what receivers check, then [`mod@seal`], [`guard`] and [`send`].

mod guard;
mod seal;
mod send;
mod sign;

use evenkeel_ambient::Random;

use crate::config::Webhooks as Settings;
pub(crate) use guard::{RefusedAddress, check_address};
pub(crate) use seal::{BadKey, Sealer};
pub(crate) use sign::made_up_secret;

/// What the broker needs to tell others.
#[derive(Debug)]
pub(crate) struct Webhooks {
    /// Missing when several brokers share a database and nobody gave them a common key.
    sealer: Option<Sealer>,
    http: reqwest::Client,
    allow_private: bool,
}

impl Webhooks {
    pub(crate) fn new(settings: &Settings, sealer: Option<Sealer>) -> Result<Self, reqwest::Error> {
        let http = guard::client(settings.allow_private)?;
        Ok(Self {
            sealer,
            http,
            allow_private: settings.allow_private,
        })
    }

    /// What seals, if anything does.
    pub(crate) const fn sealer(&self) -> Option<&Sealer> {
        self.sealer.as_ref()
    }

    /// Refuses an address that must not be reached.
    pub(crate) fn check(&self, url: &str) -> Result<(), RefusedAddress> {
        check_address(url, self.allow_private)
    }
}

/// Seals a text.
pub(crate) fn seal(sealer: &Sealer, random: &dyn Random, text: &str) -> Vec<u8> {
    sealer.seal(random, text.as_bytes())
}
