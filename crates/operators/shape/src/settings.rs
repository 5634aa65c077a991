//! How the operator behaves.

use std::time::Duration;

use evenkeel_reconcile::Tenancy;
use jiff::SignedDuration;

use crate::marking::Marking;

/// How the operator behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How it knows its own shapes.
    pub marking: Marking,
    /// Whether others use the cloud too.
    pub tenancy: Tenancy,
    /// How long the cloud may take to show what was made. Until then "not found" is not believed.
    pub window: SignedDuration,
    /// How often the whole cloud is listed.
    pub survey: Duration,
    /// What becomes of shapes that nobody declares.
    pub orphans: Orphanage,
}

/// What becomes of shapes that nobody declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Orphanage {
    /// Whether they are removed.
    pub mode: OrphanMode,
    /// For how long one has to be seen before it is removed.
    pub grace: SignedDuration,
    /// How many are removed after one survey.
    pub cap: usize,
}

/// Whether shapes that nobody declares are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrphanMode {
    /// They are.
    Collect,
    /// They are not; it is only said which would be.
    DryRun,
    /// Nobody looks.
    Off,
}

impl Settings {
    /// The careful choice in everything: a shared cloud, five minutes of grace, ten at a time.
    pub fn new(marking: Marking) -> Self {
        Self {
            marking,
            tenancy: Tenancy::Shared,
            window: SignedDuration::from_secs(30),
            survey: Duration::from_secs(60),
            orphans: Orphanage {
                mode: OrphanMode::Collect,
                grace: SignedDuration::from_secs(300),
                cap: 10,
            },
        }
    }
}
