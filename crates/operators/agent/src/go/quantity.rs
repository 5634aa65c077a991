//! Quantities of resources in the one form that Kubernetes writes them in: `3000m` is `3`.

const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const NANO: u32 = 9;

/// The canonical form; the text itself when it is no quantity.
pub(crate) fn canonical(text: &str) -> String {
    parse(text).map_or_else(|| text.to_owned(), |quantity| quantity.written())
}

/// An amount in thousand-millionths, and how it wants to be written.
struct Quantity {
    nanos: i128,
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Binary,
    Decimal,
    Exponent,
}

fn parse(text: &str) -> Option<Quantity> {
    let body = text.trim_start_matches(['+', '-']);
    let end = body.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, suffix) = body.split_at(end.unwrap_or(body.len()));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let places = u32::try_from(fraction.len()).ok()?;
    let (nanos, form) = scale(digits, places, suffix)?;
    let sign = if text.starts_with('-') { -1 } else { 1 };
    Some(Quantity {
        nanos: sign * nanos,
        form,
    })
}

fn scale(digits: i128, places: u32, suffix: &str) -> Option<(i128, Form)> {
    if let Some(power) = DECIMAL.iter().position(|name| *name == suffix) {
        let shift = i32::try_from(power).ok()? * 3;
        return Some((shift_decimal(digits, shift, places)?, Form::Decimal));
    }
    if let Some(power) = BINARY.iter().skip(1).position(|name| *name == suffix) {
        let factor = 1_i128.checked_shl(10 * (u32::try_from(power).ok()? + 1))?;
        let nanos = digits.checked_mul(factor)?.checked_mul(10_i128.pow(NANO))?;
        return Some((divide_up(nanos, places)?, Form::Binary));
    }
    let power: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    let shift = power.checked_add(i32::try_from(NANO).ok()?)?;
    Some((shift_decimal(digits, shift, places)?, Form::Exponent))
}

/// `digits`, of which `places` stand behind the point, times ten to the `shift`.
fn shift_decimal(digits: i128, shift: i32, places: u32) -> Option<i128> {
    match shift.checked_sub(i32::try_from(places).ok()?)? {
        up @ 0.. => digits.checked_mul(10_i128.checked_pow(up.unsigned_abs())?),
        down => divide_up(digits, down.unsigned_abs()),
    }
}

fn divide_up(digits: i128, places: u32) -> Option<i128> {
    let divisor = 10_i128.checked_pow(places)?;
    Some(digits.div_euclid(divisor) + i128::from(digits.rem_euclid(divisor) != 0))
}

impl Quantity {
    fn written(&self) -> String {
        let whole = self.nanos / 10_i128.pow(NANO);
        let is_whole = self.nanos % 10_i128.pow(NANO) == 0;
        if self.form == Form::Binary && is_whole && whole.abs() >= 1024 {
            return written_in(whole, 1024, &BINARY);
        }
        if self.form == Form::Exponent {
            let (digits, power) = reduced(self.nanos, 1000, usize::MAX);
            return match i64::try_from(power).unwrap_or(0) * 3 - i64::from(NANO) {
                0 => digits.to_string(),
                power => format!("{digits}e{power}"),
            };
        }
        written_in(self.nanos, 1000, &DECIMAL)
    }
}

/// The number with the largest unit that leaves it whole.
fn written_in(number: i128, step: i128, units: &[&str]) -> String {
    if number == 0 {
        return "0".to_owned();
    }
    let (digits, unit) = reduced(number, step, units.len() - 1);
    format!("{digits}{}", units[unit])
}

fn reduced(mut number: i128, step: i128, limit: usize) -> (i128, usize) {
    let mut power = 0;
    while number != 0 && number % step == 0 && power < limit {
        number /= step;
        power += 1;
    }
    (number, power)
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn quantities_have_one_form() {
        let given = [
            "3000m", "200m", "684Mi", "2Gi", "1024Mi", "1.5Gi", "0.5", "2", "1000000", "1e3",
            "100M", "0", "0.1Gi", "-1500m", "12Ki", "512",
        ];
        let wanted = [
            "3",
            "200m",
            "684Mi",
            "2Gi",
            "1Gi",
            "1536Mi",
            "500m",
            "2",
            "1M",
            "1e3",
            "100M",
            "0",
            "107374182400m",
            "-1500m",
            "12Ki",
            "512",
        ];
        assert_eq!(given.map(canonical), wanted);
    }

    #[test]
    fn what_is_no_quantity_stays() {
        for text in ["", "lots", "1Zi", "1.2.3"] {
            assert_eq!(canonical(text), text);
        }
    }
}
