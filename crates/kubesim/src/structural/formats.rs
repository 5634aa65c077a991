//! The string formats that the real server checks; any other format is no limit.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use regex::Regex;

/// Whether a text has the form that a format asks for.
pub(super) fn fits(format: &str, text: &str) -> bool {
    match format.replace('-', "").as_str() {
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_cidr(text),
        "mac" => matches(&MAC, text),
        "uuid" => matches(&UUID, text),
        "uuid3" => matches(&UUID, text) && version_of(text) == Some('3'),
        "uuid4" => matches(&UUID, text) && version_of(text) == Some('4'),
        "uuid5" => matches(&UUID, text) && version_of(text) == Some('5'),
        "date" => text.parse::<jiff::civil::Date>().is_ok() && text.len() == 10,
        "datetime" => is_date_time(text),
        "duration" => is_duration(text),
        "byte" => is_base64(text),
        "hostname" => matches(&HOSTNAME, text) && text.len() <= 255,
        "email" => matches(&EMAIL, text),
        "uri" => matches(&URI, text),
        "hexcolor" => matches(&HEX_COLOR, text),
        _ => true,
    }
}

type Pattern = LazyLock<Option<Regex>>;

static MAC: Pattern =
    LazyLock::new(|| Regex::new("^(?:[0-9a-fA-F]{2}[:-]){5,7}[0-9a-fA-F]{2}$").ok());
static UUID: Pattern = LazyLock::new(|| {
    Regex::new("^(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$").ok()
});
static HOSTNAME: Pattern = LazyLock::new(|| {
    Regex::new(r"^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$").ok()
});
static EMAIL: Pattern = LazyLock::new(|| Regex::new(r"^[^@\s]+@[^@\s]+$").ok());
static URI: Pattern = LazyLock::new(|| Regex::new(r"^(?:[a-zA-Z][a-zA-Z0-9+.-]*:|/)\S*$").ok());
static HEX_COLOR: Pattern =
    LazyLock::new(|| Regex::new("^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$").ok());

fn matches(pattern: &Pattern, text: &str) -> bool {
    pattern.as_ref().is_none_or(|regex| regex.is_match(text))
}

fn version_of(uuid: &str) -> Option<char> {
    uuid.chars().filter(|c| *c != '-').nth(12)
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return false;
    };
    match (address.parse::<Ipv4Addr>(), bits.parse::<u8>()) {
        (Ok(_), Ok(bits)) => bits <= 32,
        (Err(_), Ok(bits)) => address.parse::<Ipv6Addr>().is_ok() && bits <= 128,
        _ => false,
    }
}

fn is_date_time(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok() && text.contains(['T', 't'])
}

fn is_base64(text: &str) -> bool {
    use base64::prelude::{BASE64_STANDARD, Engine};
    BASE64_STANDARD.decode(text).is_ok()
}

/// `1h30m`, `-1.5s`, and the form with words, `22 ns`.
fn is_duration(text: &str) -> bool {
    static PARTS: Pattern = LazyLock::new(|| {
        Regex::new(r"^[-+]?(0|(\d+\.?\d*|\.\d+)\s*(ns|us|µs|μs|ms|s|m|h|d|w|(nano|micro|milli)?sec(ond)?s?|min(ute)?s?|hours?|hrs?|days?|weeks?)+)+$").ok()
    });
    matches(&PARTS, text)
}
