//! How far the making of a cloud shape has come, written down before and after.

use evenkeel_reconcile::{Ledger, Recorded};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::key::ShapeKey;

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Progress {
    /// It may exist: the call that makes it may have been sent.
    Intended,
    /// It was made, and this is its id.
    Made,
}

/// How far the making of a cloud shape has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    /// How far it has come.
    pub progress: Progress,
    /// Since when.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub at: Timestamp,
    /// Counts the shapes that were made for this resource; part of the token, so that making the
    /// same one twice makes one.
    pub attempt: u32,
    /// The cloud's id of the shape that was made last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What was last written to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl Checkpoint {
    /// About to be made, after `earlier`. An attempt whose outcome is not known is the same attempt.
    pub(crate) fn intended(earlier: Option<&Self>, now: Timestamp) -> Self {
        let attempt = match earlier {
            None => 1,
            Some(earlier) if earlier.progress == Progress::Intended => earlier.attempt,
            Some(earlier) => earlier.attempt.saturating_add(1),
        };
        Self {
            progress: Progress::Intended,
            at: now,
            attempt,
            id: earlier.and_then(|earlier| earlier.id.clone()),
            version: None,
        }
    }

    /// About to be made, with a token that was never used.
    pub(crate) fn afresh(&self, now: Timestamp) -> Self {
        Self {
            at: now,
            attempt: self.attempt.saturating_add(1),
            ..self.clone()
        }
    }

    /// Made, or seen to have been made: since now, or since it was first known.
    pub(crate) fn made(earlier: Option<&Self>, id: &str, version: &str, now: Timestamp) -> Self {
        let known = earlier.filter(|earlier| earlier.made_id() == Some(id));
        Self {
            progress: Progress::Made,
            at: known.map_or(now, |known| known.at),
            attempt: earlier.map_or(1, |earlier| earlier.attempt),
            id: Some(id.to_owned()),
            version: Some(version.to_owned()),
        }
    }

    /// Whether "not found" is not to be believed yet.
    pub(crate) fn is_settling(&self, now: Timestamp, window: SignedDuration) -> bool {
        now.duration_since(self.at) < window
    }

    /// The id of what was made, unless something else may have been made since.
    pub(crate) fn made_id(&self) -> Option<&str> {
        self.id
            .as_deref()
            .filter(|_| self.progress == Progress::Made)
    }

    /// What goes with the call that makes it.
    pub(crate) fn token(&self, uid: &str) -> String {
        format!("{uid}.{}", self.attempt)
    }

    /// The same for the engine.
    pub(crate) fn recorded(
        &self,
        key: &ShapeKey,
        now: Timestamp,
        window: SignedDuration,
    ) -> Option<(ShapeKey, Recorded<String>)> {
        let mut ledger = Ledger::default();
        match (self.made_id(), &self.version) {
            (Some(id), Some(version)) => ledger.made(key, id, version.clone(), self.at),
            _ => ledger.intend(key, self.at),
        }
        ledger.record(now, window).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_outcome_is_tried_with_the_same_token_and_a_new_life_with_another() {
        let (early, late) = (Timestamp::UNIX_EPOCH, Timestamp::MAX);
        let first = Checkpoint::intended(None, early);
        let again = Checkpoint::intended(Some(&first), late);
        assert_eq!(first.token("u"), again.token("u"));
        let made = Checkpoint::made(Some(&again), "id", "v", late);
        let next = Checkpoint::intended(Some(&made), late);
        assert_ne!(made.token("u"), next.token("u"));
        assert_eq!(
            next.id.as_deref(),
            Some("id"),
            "the earlier one is not forgotten"
        );
    }

    #[test]
    fn being_seen_again_changes_nothing() {
        let made = Checkpoint::made(None, "id", "v", Timestamp::UNIX_EPOCH);
        assert_eq!(
            Checkpoint::made(Some(&made), "id", "v", Timestamp::MAX),
            made
        );
    }
}
