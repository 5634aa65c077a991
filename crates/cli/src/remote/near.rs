//! Names that somebody may have meant.

/// As many as are worth reading.
const MOST: usize = 3;

/// Alike enough to be a slip of the fingers.
const ALIKE: f64 = 0.75;

/// The known names nearest to `name`, nearest first.
pub(super) fn to<S: AsRef<str>>(name: &str, known: impl IntoIterator<Item = S>) -> Vec<String> {
    let mut near: Vec<_> = known
        .into_iter()
        .map(|known| (likeness(name, known.as_ref()), known.as_ref().to_owned()))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0));
    near.into_iter().map(|(_, name)| name).take(MOST).collect()
}

/// A part of the name counts as much as a slip.
fn likeness(name: &str, known: &str) -> f64 {
    if name.len() > 2 && known.contains(name) {
        ALIKE
    } else {
        strsim::jaro_winkler(name, known)
    }
}

/// The question, if there is something to ask.
pub(super) fn did_you_mean(near: &[String]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let names: Vec<_> = near.iter().map(|name| format!("`{name}`")).collect();
    format!("; did you mean {}?", names.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 3] = ["shop", "shop-staging", "payments"];

    #[test]
    fn slips_and_parts_are_recognised() {
        assert_eq!(to("shpo", KNOWN)[0], "shop");
        assert_eq!(to("staging", KNOWN), ["shop-staging"]);
        assert_eq!(to("paymnets", KNOWN), ["payments"]);
    }

    #[test]
    fn strangers_are_not() {
        assert!(to("zzz", KNOWN).is_empty());
        assert_eq!(did_you_mean(&[]), "");
    }
}
