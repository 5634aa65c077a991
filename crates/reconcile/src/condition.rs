//! Conditions as Kubernetes defines them (KEP-1623), set by one function.

use std::borrow::Cow;
use std::fmt::{self, Display};

use jiff::{Timestamp, Unit};
use serde::{Deserialize, Serialize};

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Status {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// Nobody can tell.
    Unknown,
}

/// The reason of a condition: a CamelCase word for machines, never empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ReasonWord(Cow<'static, str>);

/// A text that cannot be the reason of a condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no reason: it takes a letter, then letters, digits or one of `_,:`")]
pub struct BadReason(String);

impl ReasonWord {
    /// A reason that is known when the program is compiled; as a constant, a bad one does not
    /// compile.
    pub const fn of(word: &'static str) -> Self {
        assert!(is_reason(word.as_bytes()), "a reason is a CamelCase word");
        Self(Cow::Borrowed(word))
    }

    /// A reason that comes from elsewhere.
    pub fn parse(word: impl Into<String>) -> Result<Self, BadReason> {
        let word = word.into();
        if is_reason(word.as_bytes()) {
            Ok(Self(Cow::Owned(word)))
        } else {
            Err(BadReason(word))
        }
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const fn is_reason(word: &[u8]) -> bool {
    if word.is_empty() || !word[0].is_ascii_alphabetic() || word.len() > 1024 {
        return false;
    }
    let mut at = 1;
    while at < word.len() {
        let inner = at + 1 < word.len() && matches!(word[at], b',' | b':');
        if !(word[at].is_ascii_alphanumeric() || word[at] == b'_' || inner) {
            return false;
        }
        at += 1;
    }
    true
}

impl TryFrom<String> for ReasonWord {
    type Error = BadReason;

    fn try_from(word: String) -> Result<Self, BadReason> {
        Self::parse(word)
    }
}

impl From<ReasonWord> for String {
    fn from(reason: ReasonWord) -> Self {
        reason.0.into_owned()
    }
}

impl Display for ReasonWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a controller says about one aspect of an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// The aspect; there is one condition for each.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it holds.
    pub status: Status,
    /// Why, for machines.
    pub reason: ReasonWord,
    /// Why, for people.
    #[serde(default)]
    pub message: String,
    /// The generation of the object that was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// When `status` last changed.
    pub last_transition_time: Timestamp,
}

impl Condition {
    /// Whether it was judged on `generation` of the object; otherwise it is out of date.
    pub fn is_current(&self, generation: i64) -> bool {
        self.observed_generation
            .is_some_and(|seen| seen >= generation)
    }
}

/// A judgement that is to become a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The aspect.
    pub kind: Cow<'static, str>,
    /// Whether it holds.
    pub status: Status,
    /// Why, for machines.
    pub reason: ReasonWord,
    /// Why, for people.
    pub message: String,
}

/// Writes `verdict`, judged on `generation`, into `conditions` and says whether anything changed;
/// if not, there is nothing to send. The time of the last transition moves only with the status.
pub fn set_condition(
    conditions: &mut Vec<Condition>,
    verdict: Verdict,
    generation: Option<i64>,
    now: Timestamp,
) -> bool {
    let place = conditions.iter().position(|old| old.kind == verdict.kind);
    let since = place
        .map(|at| &conditions[at])
        .filter(|old| old.status == verdict.status)
        .map_or_else(|| whole_second(now), |old| old.last_transition_time);
    let new = Condition {
        kind: verdict.kind.into_owned(),
        status: verdict.status,
        reason: verdict.reason,
        message: verdict.message,
        observed_generation: generation,
        last_transition_time: since,
    };
    match place {
        Some(at) if conditions[at] == new => return false,
        Some(at) => conditions[at] = new,
        None => conditions.push(new),
    }
    true
}

/// Kubernetes keeps times in whole seconds; anything finer would differ from what it gives back.
fn whole_second(now: Timestamp) -> Timestamp {
    now.round((Unit::Second, 1)).unwrap_or(now)
}
