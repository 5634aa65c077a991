//! How tables write ages, lists and what is not there.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::Seen;
use crate::meta;
use crate::selectors::selector_text;

pub(super) const NONE: &str = "<none>";
pub(super) const UNSET: &str = "<unset>";
pub(super) const UNKNOWN: &str = "<unknown>";

impl<'a> Seen<'a> {
    pub(super) fn name(&self) -> &'a str {
        meta::name(self.object)
    }

    /// How long ago the object was created.
    pub(super) fn age(&self) -> String {
        self.since(&self.object["metadata"]["creationTimestamp"])
    }

    pub(super) fn since(&self, time: &Value) -> String {
        match moment(time) {
            Some(time) => human_duration(self.now.duration_since(time)),
            None => UNKNOWN.to_owned(),
        }
    }

    pub(super) fn spec(&self) -> &'a Value {
        &self.object["spec"]
    }

    pub(super) fn status(&self) -> &'a Value {
        &self.object["status"]
    }
}

pub(super) fn moment(time: &Value) -> Option<Timestamp> {
    time.as_str()?.parse().ok()
}

/// A text, or what stands for one that is not there.
pub(super) fn or<'a>(value: &'a Value, absent: &'a str) -> &'a str {
    value
        .as_str()
        .filter(|text| !text.is_empty())
        .unwrap_or(absent)
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

pub(super) fn count(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    }
}

pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Labels, or a selector, in one line.
pub(super) fn selector(value: &Value) -> String {
    match selector_text(value) {
        text if text.is_empty() => NONE.to_owned(),
        text => text,
    }
}

/// One text of each item, joined.
pub(super) fn joined<'a>(list: &'a Value, of: impl Fn(&'a Value) -> &'a str) -> String {
    items(list).iter().map(of).collect::<Vec<_>>().join(",")
}

/// The first three of many.
pub(super) fn first_three(list: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = list
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(",");
    match list.len() {
        0..=SHOWN => shown,
        all => format!("{shown} + {} more...", all - SHOWN),
    }
}

/// A duration as people say it: the finer, the shorter it is.
pub(crate) fn human_duration(duration: SignedDuration) -> String {
    const DAY: i64 = 24;
    const YEAR: i64 = 365 * DAY;
    let pair = |whole: i64, unit: char, rest: i64, finer: char| match rest {
        0 => format!("{whole}{unit}"),
        rest => format!("{whole}{unit}{rest}{finer}"),
    };
    let seconds = duration.as_secs();
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match () {
        () if seconds < -1 => "<invalid>".to_owned(),
        () if seconds < 0 => "0s".to_owned(),
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => pair(minutes, 'm', seconds % 60, 's'),
        () if minutes < 180 => format!("{minutes}m"),
        () if hours < 8 => pair(hours, 'h', minutes % 60, 'm'),
        () if hours < 2 * DAY => format!("{hours}h"),
        () if hours < 8 * DAY => pair(hours / DAY, 'd', hours % DAY, 'h'),
        () if hours < 2 * YEAR => format!("{}d", hours / DAY),
        () if hours < 8 * YEAR => pair(hours / YEAR, 'y', hours / DAY % 365, 'd'),
        () => format!("{}y", hours / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_get_coarser() {
        let cases = [
            (-5, "<invalid>"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (190, "3m10s"),
            (700, "11m"),
            (3 * 3600, "3h"),
            (3 * 3600 + 120, "3h2m"),
            (9 * 3600, "9h"),
            (50 * 3600, "2d2h"),
            (20 * 86400, "20d"),
            (3 * 365 * 86400, "3y"),
        ];
        for (seconds, wanted) in cases {
            assert_eq!(human_duration(SignedDuration::from_secs(seconds)), wanted);
        }
    }

    #[test]
    fn of_many_three_are_shown() {
        let list = ["a", "b", "c", "d", "e"].map(str::to_owned);
        assert_eq!(first_three(&list[..2]), "a,b");
        assert_eq!(first_three(&list), "a,b,c + 2 more...");
    }
}
