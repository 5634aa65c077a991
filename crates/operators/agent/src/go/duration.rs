//! Durations such as `5m0s`.

/// How many seconds a duration has, if it is one: numbers with units, `1h30m`, `500ms`, `0`.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    let (sign, body) = match text.strip_prefix('-') {
        Some(body) => (-1.0, body),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if body == "0" {
        return Some(0.0);
    }
    if body.is_empty() {
        return None;
    }
    let mut nanos = 0.0;
    let mut rest = body;
    while !rest.is_empty() {
        let (number, after) = split_where(rest, |c| !c.is_ascii_digit() && c != '.');
        let (unit, after) = split_where(after, |c| c.is_ascii_digit() || c == '.');
        nanos += number.parse::<f64>().ok()? * nanos_of(unit)?;
        rest = after;
    }
    Some(sign * nanos / 1e9)
}

fn split_where(text: &str, end: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(end).unwrap_or(text.len()))
}

fn nanos_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn units_add_up() {
        let texts = ["30s", "5m0s", "1h30m", "500ms", "1.5s", "0", "-2m"];
        let all = texts.map(|text| seconds(text).expect(text));
        assert_eq!(all, [30.0, 300.0, 5400.0, 0.5, 1.5, 0.0, -120.0]);
    }

    #[test]
    fn what_is_no_duration_is_none() {
        for text in ["", "30", "s", "1x", "1..s", "-"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
