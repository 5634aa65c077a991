//! Cron schedules: what is wrong with one, in the words of the real server's parser, and the
//! moments that a good one names.

use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

/// The fields of a schedule: their least and greatest value, and names for values.
const FIELDS: [Bounds; 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (
        1,
        12,
        &[
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ],
    ),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];
const DESCRIPTORS: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];
/// How far into the future a schedule is looked at.
const HORIZON_DAYS: usize = 366 * 5;

type Bounds = (u32, u32, &'static [&'static str]);

/// When something happens again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Schedule {
    /// At times of the clock.
    At(Box<[Field; 5]>),
    /// At equal distances.
    Every(Duration),
}

/// The values of one field, as bits, and whether it is a star.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    values: u64,
    star: bool,
}

impl Field {
    fn has(self, value: i8) -> bool {
        u32::try_from(value).is_ok_and(|value| self.values & (1 << value) != 0)
    }
}

pub(super) fn fault(schedule: &str) -> Option<String> {
    Schedule::parse(schedule).err()
}

impl Schedule {
    /// Reads a schedule.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Some(delay) = text.strip_prefix("@every ") {
            return Ok(Self::Every(every(delay)));
        }
        if text.starts_with('@') {
            let known = DESCRIPTORS.iter().find(|(name, _)| *name == text);
            let (_, meaning) = known.ok_or(format!("unrecognized descriptor: {text}"))?;
            return Self::parse(meaning);
        }
        let fields: Vec<&str> = text.split_whitespace().collect();
        let Ok(fields) = <[&str; 5]>::try_from(fields.as_slice()) else {
            let (found, shown) = (fields.len(), fields.join(" "));
            return Err(format!(
                "expected exactly 5 fields, found {found}: [{shown}]"
            ));
        };
        let mut parsed = [Field {
            values: 0,
            star: false,
        }; 5];
        for ((field, bounds), place) in fields.iter().zip(FIELDS).zip(&mut parsed) {
            *place = read_field(field, bounds)?;
        }
        Ok(Self::At(Box::new(parsed)))
    }

    /// The first moment after `time`.
    pub(crate) fn next_after(&self, time: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        match self {
            Self::Every(delay) => {
                let whole = Timestamp::from_second(time.as_second()).ok()?;
                whole.checked_add(*delay).ok()
            }
            Self::At(fields) => next_at(fields, time, zone),
        }
    }
}

fn next_at(fields: &[Field; 5], time: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let start = time.to_zoned(zone.clone()).date();
    let days = start.series(1.day()).take(HORIZON_DAYS);
    for day in days.filter(|day| is_day(fields, *day)) {
        for hour in (0..24).filter(|hour| fields[1].has(*hour)) {
            for minute in (0..60).filter(|minute| fields[0].has(*minute)) {
                let moment = day.at(hour, minute, 0, 0).to_zoned(zone.clone()).ok()?;
                if moment.timestamp() > time {
                    return Some(moment.timestamp());
                }
            }
        }
    }
    None
}

/// A day of the month and a day of the week: one of them will do, if both are given.
fn is_day(fields: &[Field; 5], day: Date) -> bool {
    let [_, _, in_month, months, in_week] = fields;
    let month_day = in_month.has(day.day());
    let week_day = in_week.has(day.weekday().to_sunday_zero_offset());
    let fits = match in_month.star || in_week.star {
        true => month_day && week_day,
        false => month_day || week_day,
    };
    months.has(day.month()) && fits
}

/// `1h30m`, as Go writes durations; at least a second.
fn every(text: &str) -> Duration {
    let mut total = Duration::ZERO;
    let mut number = String::new();
    for c in text.chars() {
        match c {
            'h' | 'm' | 's' => {
                let seconds = match c {
                    'h' => 3600,
                    'm' => 60,
                    _ => 1,
                };
                total += Duration::from_secs(number.parse::<u64>().unwrap_or(0) * seconds);
                number.clear();
            }
            digit => number.push(digit),
        }
    }
    total.max(Duration::from_secs(1))
}

fn read_field(text: &str, bounds: Bounds) -> Result<Field, String> {
    let mut field = Field {
        values: 0,
        star: false,
    };
    for range in text.split(',') {
        let (low, high, step) = read_range(range, bounds)?;
        field.star |= range.starts_with(['*', '?']);
        for value in (low..=high).step_by(step) {
            field.values |= 1 << value;
        }
    }
    Ok(field)
}

fn read_range(text: &str, (least, most, names): Bounds) -> Result<(u32, u32, usize), String> {
    let (range, step) = text
        .split_once('/')
        .map_or((text, None), |(r, s)| (r, Some(s)));
    let (low, high) = match range.split_once('-') {
        _ if matches!(range, "*" | "?") => (least, most),
        Some((low, high)) => (value(low, least, names)?, value(high, least, names)?),
        None => {
            let low = value(range, least, names)?;
            (low, if step.is_some() { most } else { low })
        }
    };
    if low < least {
        return Err(format!(
            "beginning of range ({low}) below minimum ({least}): {text}"
        ));
    }
    if high > most {
        return Err(format!(
            "end of range ({high}) above maximum ({most}): {text}"
        ));
    }
    if low > high {
        return Err(format!(
            "beginning of range ({low}) beyond end of range ({high}): {text}"
        ));
    }
    match step.map(number).transpose()? {
        Some(0) => Err(format!("step of range should be a positive number: {text}")),
        step => Ok((low, high, step.map_or(1, |step| step as usize))),
    }
}

fn value(text: &str, least: u32, names: &[&str]) -> Result<u32, String> {
    let lower = text.to_lowercase();
    let named = (least..).zip(names).find(|(_, name)| **name == lower);
    named.map_or_else(|| number(text), |(value, _)| Ok(value))
}

fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| {
        format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(schedule: &str, time: &str) -> String {
        let schedule = Schedule::parse(schedule).unwrap();
        let next = schedule.next_after(time.parse().unwrap(), &TimeZone::UTC);
        next.unwrap().to_string()
    }

    #[test]
    fn the_next_moment_is_the_first_that_fits_all_fields() {
        assert_eq!(
            next("*/5 * * * *", "2026-01-01T00:00:30Z"),
            "2026-01-01T00:05:00Z"
        );
        assert_eq!(
            next("0 3 * * 1-5", "2026-01-02T04:00:00Z"),
            "2026-01-05T03:00:00Z"
        );
        assert_eq!(
            next("@hourly", "2026-12-31T23:59:00Z"),
            "2027-01-01T00:00:00Z"
        );
        assert_eq!(
            next("0 0 29 2 *", "2026-01-01T00:00:00Z"),
            "2028-02-29T00:00:00Z"
        );
        assert_eq!(
            next("0 0 13 * fri", "2026-01-01T00:00:00Z"),
            "2026-01-02T00:00:00Z"
        );
        assert_eq!(
            next("@every 1h30m", "2026-01-01T00:00:00Z"),
            "2026-01-01T01:30:00Z"
        );
    }
}
