//! Conditions as Kubernetes defines them (KEP-1623), set by one function.

use std::borrow::Cow;
use std::fmt::{self, Display};

use jiff::Timestamp;
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
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn ready(status: Status, message: &str) -> Verdict {
        let (kind, reason) = (Cow::Borrowed("Ready"), ReasonWord::of("Checked"));
        Verdict {
            kind,
            status,
            reason,
            message: message.to_owned(),
        }
    }

    #[test]
    fn the_transition_time_moves_only_with_the_status() {
        let mut all = Vec::new();
        assert!(set_condition(
            &mut all,
            ready(Status::False, "a"),
            Some(1),
            second(10)
        ));
        assert!(set_condition(
            &mut all,
            ready(Status::False, "b"),
            Some(2),
            second(20)
        ));
        assert_eq!(all[0].last_transition_time, second(10));
        assert_eq!(
            (all[0].message.as_str(), all[0].observed_generation),
            ("b", Some(2))
        );
        assert!(set_condition(
            &mut all,
            ready(Status::True, "b"),
            Some(2),
            second(30)
        ));
        assert_eq!(all[0].last_transition_time, second(30));
        assert_eq!(all.len(), 1);
    }

    #[test]
    fn a_hundred_passes_that_say_the_same_change_nothing() {
        let mut all = Vec::new();
        set_condition(&mut all, ready(Status::True, "fine"), Some(1), second(10));
        let before = all.clone();
        for now in 11..111 {
            assert!(!set_condition(
                &mut all,
                ready(Status::True, "fine"),
                Some(1),
                second(now)
            ));
        }
        assert_eq!(all, before);
    }

    #[test]
    fn a_verdict_on_an_older_generation_is_out_of_date() {
        let mut all = Vec::new();
        set_condition(&mut all, ready(Status::True, ""), Some(3), second(0));
        assert!(all[0].is_current(3));
        assert!(!all[0].is_current(4));
    }

    #[test]
    fn it_is_written_as_kubernetes_writes_it() {
        let mut all = Vec::new();
        let now = second(10) + jiff::SignedDuration::from_millis(400);
        set_condition(&mut all, ready(Status::True, "fine"), Some(1), now);
        let written = serde_json::json!({
            "type": "Ready",
            "status": "True",
            "reason": "Checked",
            "message": "fine",
            "observedGeneration": 1,
            "lastTransitionTime": "1970-01-01T00:00:10Z",
        });
        assert_eq!(serde_json::to_value(&all[0]).unwrap(), written);
        assert_eq!(
            serde_json::from_value::<Condition>(written).unwrap(),
            all[0]
        );
    }

    #[test]
    fn a_reason_is_a_camel_case_word() {
        for good in ["A", "NotReady", "Http404", "a_b", "A:b,c"] {
            assert!(ReasonWord::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "4xx", "not ready", "Ready.", "Ready:", "-"] {
            assert!(ReasonWord::parse(bad).is_err(), "{bad}");
        }
    }
}
