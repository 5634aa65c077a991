//! Quantities of resources (`500m`, `1Gi`): read, compared, and written in canonical form.

use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

/// What a quantity must look like, in the words of the real server.
pub(crate) const FORM: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// An exact amount, counted in thousand-millionths, and the family of suffixes it was given in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quantity {
    nanos: i128,
    family: Family,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Binary,
    Decimal,
    Exponent,
}

const NANOS: i128 = 1_000_000_000;
const DECIMAL: [(&str, i32); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];
const BINARY: [(&str, u32); 6] = [
    ("Ki", 10),
    ("Mi", 20),
    ("Gi", 30),
    ("Ti", 40),
    ("Pi", 50),
    ("Ei", 60),
];

impl Quantity {
    /// The quantity that a JSON value holds, if it holds one.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Number(number) => Self::parse(&number.to_string()),
            _ => None,
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (number, suffix) = split(text);
        let (scale, family) = scale_of(suffix)?;
        let (digits, decimals) = digits_of(number)?;
        let nanos = match scale {
            Scale::Shift(bits) => {
                divide_up(digits.checked_mul(NANOS)?.checked_mul(1 << bits)?, decimals)?
            }
            Scale::Power(power) => match power + 9 - i32::try_from(decimals).ok()? {
                up @ 0.. => digits.checked_mul(10i128.checked_pow(up.try_into().ok()?)?)?,
                down => divide_up(digits, down.unsigned_abs())?,
            },
        };
        Some(Self { nanos, family })
    }

    /// The sum, written like the first amount that is not zero.
    pub(crate) fn plus(self, other: Self) -> Self {
        let family = if self.is_zero() {
            other.family
        } else {
            self.family
        };
        Self {
            nanos: self.nanos.saturating_add(other.nanos),
            family,
        }
    }

    /// The amount in thousand-millionths.
    pub(crate) fn nanos(self) -> i128 {
        self.nanos
    }

    pub(crate) fn is_negative(self) -> bool {
        self.nanos < 0
    }

    pub(crate) fn is_zero(self) -> bool {
        self.nanos == 0
    }

    /// A count.
    pub(crate) fn whole_number(count: i64) -> Self {
        Self {
            nanos: i128::from(count) * NANOS,
            family: Family::Decimal,
        }
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        let nanos = self.nanos.saturating_sub(other.nanos);
        Self { nanos, ..self }
    }

    /// -1, 0 or 1.
    pub(crate) fn sign(self) -> i64 {
        i64::from(self.nanos > 0) - i64::from(self.nanos < 0)
    }

    /// The amount as a whole number, if it is one.
    pub(crate) fn whole(self) -> Option<i64> {
        let whole = i64::try_from(self.nanos / NANOS).ok();
        whole.filter(|_| self.is_whole())
    }

    /// The amount, as near as a number can be.
    #[expect(clippy::cast_precision_loss, reason = "it is an approximation")]
    pub(crate) fn approximate(self) -> f64 {
        self.nanos as f64 / NANOS as f64
    }

    /// Whether the amount is a whole number.
    pub(crate) fn is_whole(self) -> bool {
        self.nanos % NANOS == 0
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.nanos.cmp(&other.nanos))
    }
}

enum Scale {
    Power(i32),
    Shift(u32),
}

fn split(text: &str) -> (&str, &str) {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = text.len() - body.len();
    let end = body
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(body.len());
    text.split_at(sign + end)
}

fn scale_of(suffix: &str) -> Option<(Scale, Family)> {
    if let Some((_, power)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
        return Some((Scale::Power(*power), Family::Decimal));
    }
    if let Some((_, bits)) = BINARY.iter().find(|(name, _)| *name == suffix) {
        return Some((Scale::Shift(*bits), Family::Binary));
    }
    let power: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    (-30..=30)
        .contains(&power)
        .then_some((Scale::Power(power), Family::Exponent))
}

/// All digits as one number, and how many of them stand behind the point.
fn digits_of(number: &str) -> Option<(i128, u32)> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let bare = whole.trim_start_matches(['+', '-']);
    if (bare.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let digits: i128 = format!("{bare}{fraction}").parse().ok()?;
    let signed = if whole.starts_with('-') {
        -digits
    } else {
        digits
    };
    Some((signed, fraction.len().try_into().ok()?))
}

/// What is finer than a nano is rounded away from zero.
fn divide_up(digits: i128, places: u32) -> Option<i128> {
    let divisor = 10i128.checked_pow(places)?;
    let (quotient, rest) = (digits / divisor, digits % divisor);
    Some(quotient + if rest == 0 { 0 } else { digits.signum() })
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.nanos / NANOS;
        if self.family == Family::Binary && self.is_whole() && whole.abs() >= 1024 {
            return write_binary(f, whole);
        }
        write_decimal(f, self.nanos, self.family == Family::Exponent)
    }
}

fn write_binary(f: &mut fmt::Formatter<'_>, whole: i128) -> fmt::Result {
    let fits = |(_, bits): &&(&str, u32)| whole % (1i128 << bits) == 0;
    match BINARY.iter().rev().find(fits) {
        Some((suffix, bits)) => write!(f, "{}{suffix}", whole >> bits),
        None => write!(f, "{whole}"),
    }
}

fn write_decimal(f: &mut fmt::Formatter<'_>, nanos: i128, exponent: bool) -> fmt::Result {
    if nanos == 0 {
        return f.write_str("0");
    }
    let fits = |(_, power): &&(&str, i32)| {
        let unit = 10i128.pow(u32::try_from(power + 9).unwrap_or(0));
        nanos % unit == 0
    };
    let (suffix, power) = DECIMAL.iter().rev().find(fits).unwrap_or(&("n", -9));
    let amount = nanos / 10i128.pow(u32::try_from(power + 9).unwrap_or(0));
    match exponent && *power != 0 {
        true => write!(f, "{amount}e{power}"),
        false => write!(f, "{amount}{suffix}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_written_in_canonical_form() {
        let cases = [
            ("0", "0"),
            ("1", "1"),
            ("0.5", "500m"),
            ("1.0", "1"),
            ("100m", "100m"),
            ("1000m", "1"),
            ("1500m", "1500m"),
            ("1024Mi", "1Gi"),
            ("1536Mi", "1536Mi"),
            ("0.5Gi", "512Mi"),
            ("1.5Ki", "1536"),
            ("1000", "1k"),
            ("1e3", "1e3"),
            ("5E", "5E"),
            ("-1", "-1"),
            ("+2", "2"),
            ("128974848", "128974848"),
            ("129M", "129M"),
        ];
        for (given, expected) in cases {
            let read = Quantity::parse(given).map(|q| q.to_string());
            assert_eq!(read.as_deref(), Some(expected), "{given}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for text in ["", "abc", "1x", "1.2.3", "--1", "1 Gi", "Mi", "1e", "."] {
            assert_eq!(Quantity::parse(text), None, "{text}");
        }
    }
}
