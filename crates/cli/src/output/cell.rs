//! What stands in one cell: typed, so that a person reads `3m` where a program reads a timestamp.

use std::fmt::Display;

use evenkeel_model::{
    AgentStatus, DiffChange, EventStatus, HealthStatus, Name, ObjectKind, Order, Phase, SequenceId,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::tone::Tone;

/// More of a sentence than this is for `-o wide`.
const PROSE_WIDTH: usize = 70;

/// One value of one thing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// There is none.
    Nothing,
    /// A short text.
    Text(String),
    /// A text that may be long.
    Prose(String),
    /// A number.
    Number(i64),
    /// Yes or no.
    Flag(bool),
    /// A moment; people see how long ago it was.
    Time(Timestamp),
    /// A word with a meaning for the eye.
    Word(String, Tone),
    /// So many of so many.
    Ratio { done: usize, of: usize },
    /// Several short texts.
    List(Vec<String>),
    /// For programs; people are shown something else.
    Data(Value),
}

impl Cell {
    /// The text of anything that can be printed.
    pub(crate) fn text(value: impl Display) -> Self {
        Self::Text(value.to_string())
    }

    /// What a person reads.
    pub(crate) fn shown(&self, now: Timestamp, wide: bool) -> String {
        match self {
            Self::Nothing | Self::Data(_) => "-".to_owned(),
            Self::Text(text) | Self::Word(text, _) => text.clone(),
            Self::Prose(text) if wide => text.replace('\n', " "),
            Self::Prose(text) => clipped(text),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
            Self::Time(time) => age(now, *time),
            Self::Ratio { done, of } => format!("{done}/{of}"),
            Self::List(items) if items.is_empty() => "-".to_owned(),
            Self::List(items) => items.join(","),
        }
    }

    /// What a program reads.
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Nothing => Value::Null,
            Self::Text(text) | Self::Prose(text) | Self::Word(text, _) => json!(text),
            Self::Number(number) => json!(number),
            Self::Flag(flag) => json!(flag),
            Self::Time(time) => json!(time),
            Self::Ratio { done, of } => json!({ "done": done, "of": of }),
            Self::List(items) => json!(items),
            Self::Data(value) => value.clone(),
        }
    }

    /// How it strikes the eye.
    pub(crate) fn tone(&self) -> Tone {
        match self {
            Self::Word(_, tone) => *tone,
            Self::Nothing => Tone::Faint,
            Self::Ratio { done, of } if done == of => Tone::Good,
            Self::Ratio { .. } => Tone::Notice,
            _ => Tone::Plain,
        }
    }
}

/// The first line, cut where it becomes long.
fn clipped(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= PROSE_WIDTH && line.len() == text.trim_end().len() {
        return line.to_owned();
    }
    let short: String = line.chars().take(PROSE_WIDTH - 3).collect();
    format!("{}...", short.trim_end())
}

/// How long ago `time` was, in the largest unit that says enough.
pub(crate) fn age(now: Timestamp, time: Timestamp) -> String {
    let seconds = now.duration_since(time).as_secs().max(0);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&Name> for Cell {
    fn from(name: &Name) -> Self {
        Self::text(name)
    }
}

impl From<Timestamp> for Cell {
    fn from(time: Timestamp) -> Self {
        Self::Time(time)
    }
}

impl From<SequenceId> for Cell {
    fn from(sequence: SequenceId) -> Self {
        Self::Number(sequence.0)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Number(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Cell {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}

macro_rules! words {
    ($($word:ident { $($variant:ident => $tone:ident,)+ })+) => {$(
        impl From<$word> for Cell {
            fn from(word: $word) -> Self {
                let tone = match word { $($word::$variant => Tone::$tone,)+ };
                Self::Word(word.to_string(), tone)
            }
        }
    )+};
}

words! {
    HealthStatus { Healthy => Good, Degraded => Notice, Failing => Bad, Unknown => Faint, }
    Phase { Empty => Faint, Pending => Notice, Applied => Good, Failed => Bad, }
    AgentStatus { Active => Good, Inactive => Notice, }
    EventStatus { Success => Good, Failure => Bad, }
    Order { Serve => Plain, Release => Notice, Delete => Notice, }
    DiffChange { Create => Good, Update => Notice, Delete => Bad, None => Faint, Error => Bad, }
    ObjectKind { Revision => Plain, Deletion => Notice, Release => Notice, }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn ages_grow_coarser() {
        let ages = [0, 59, 119, 120, 7_199, 7_200, 172_799, 172_800, 864_000];
        let shown: Vec<_> = ages.map(|seconds| age(at(seconds), at(0))).into();
        let expected = ["0s", "59s", "119s", "2m", "119m", "2h", "47h", "2d", "10d"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_moment_in_the_future_is_now() {
        assert_eq!(age(at(0), at(60)), "0s");
    }

    #[test]
    fn prose_is_one_line_in_a_table_and_whole_for_programs() {
        let cell = Cell::Prose(format!("first {}\nsecond", "x".repeat(80)));
        let short = cell.shown(at(0), false);
        assert!(short.ends_with("xxx..."), "{short}");
        assert!(!short.contains("second"), "{short}");
        assert!(cell.value().as_str().unwrap().contains("\nsecond"));
        assert!(cell.shown(at(0), true).ends_with(" second"));
    }

    #[test]
    fn people_and_programs_read_the_same_thing() {
        let time = Cell::Time(at(60));
        assert_eq!(time.shown(at(90), false), "30s");
        assert_eq!(time.value(), json!("1970-01-01T00:01:00Z"));
        let none: Cell = None::<SequenceId>.into();
        assert_eq!(
            (none.shown(at(0), false), none.value()),
            ("-".to_owned(), Value::Null)
        );
    }
}
