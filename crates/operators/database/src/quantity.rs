//! Sizes as Kubernetes writes them, compared by what they mean: `1Gi` is `1024Mi`.

/// A size in bytes; nothing if the text is no size.
#[must_use]
pub fn bytes(text: &str) -> Option<u128> {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = factor(unit)?;
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let part = part.get(..part.len().min(9))?;
    let scale = 10_u128.checked_pow(u32::try_from(part.len()).ok()?)?;
    let units = format!("{whole}{part}").parse::<u128>().ok()?;
    // A part of a byte counts as a whole one, as Kubernetes rounds.
    Some(units.checked_mul(factor)?.div_ceil(scale))
}

fn factor(unit: &str) -> Option<u128> {
    let binary = |power: u32| 1024_u128.pow(power);
    let decimal = |power: u32| 1000_u128.pow(power);
    Some(match unit {
        "" => 1,
        "k" => decimal(1),
        "M" => decimal(2),
        "G" => decimal(3),
        "T" => decimal(4),
        "P" => decimal(5),
        "E" => decimal(6),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_compared_by_what_they_mean() {
        assert_eq!(bytes("1Gi"), bytes("1024Mi"));
        assert_eq!(bytes("1.5Gi"), bytes("1536Mi"));
        assert_eq!(bytes("1G"), Some(1_000_000_000));
        assert_eq!(bytes("0.1"), Some(1));
        assert!(bytes("10G") < bytes("10Gi"));
    }

    #[test]
    fn what_is_no_size_is_none() {
        for text in ["", "Gi", "1X", "1 Gi", "-1", "1.2.3"] {
            assert_eq!(bytes(text), None, "{text:?}");
        }
    }
}
