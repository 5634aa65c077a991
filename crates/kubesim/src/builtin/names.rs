//! What names, labels and keys may look like. Each rule returns what is wrong with a text, in
//! the words of the real server; nothing means that it is right.

/// A rule that texts must keep.
pub(crate) type TextRule = fn(&str) -> Vec<String>;

/// A rule that names must keep. The flag says that the text is only the beginning of a name.
pub(crate) type NameRule = fn(&str, bool) -> Vec<String>;

const LABEL_FORM: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN_FORM: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const QUALIFIED_FORM: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const QUALIFIED_WORDS: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/// A metadata.name that is a DNS subdomain.
pub(crate) fn subdomain_name(name: &str, prefix: bool) -> Vec<String> {
    dns1123_subdomain(&masked(name, prefix))
}

/// A metadata.name that is a DNS label.
pub(crate) fn label_name(name: &str, prefix: bool) -> Vec<String> {
    dns1123_label(&masked(name, prefix))
}

/// A metadata.name that only has to fit into a URL.
pub(crate) fn path_segment_name(name: &str, prefix: bool) -> Vec<String> {
    if !prefix && matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    ["/", "%"]
        .iter()
        .filter(|bad| name.contains(**bad))
        .map(|bad| format!("may not contain '{bad}'"))
        .collect()
}

/// A prefix may end in a dash, because something follows.
fn masked(name: &str, prefix: bool) -> String {
    match name.strip_suffix('-') {
        Some(rest) if prefix && !rest.is_empty() => {
            let mut kept = rest.to_owned();
            kept.pop();
            kept.push('a');
            kept
        }
        _ => name.to_owned(),
    }
}

pub(crate) fn dns1123_subdomain(text: &str) -> Vec<String> {
    let words = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
    let mut faults = too_long(text, 253);
    if !is_subdomain(text) {
        faults.push(form(words, SUBDOMAIN_FORM, &["example.com"]));
    }
    faults
}

pub(crate) fn dns1123_label(text: &str) -> Vec<String> {
    let words = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
    let mut faults = too_long(text, 63);
    match (is_label(text), is_subdomain(text)) {
        (true, _) => {}
        (false, true) => faults.push("must not contain dots".to_owned()),
        (false, false) => faults.push(form(words, LABEL_FORM, &["my-name", "123-abc"])),
    }
    faults
}

pub(crate) fn dns1035_label(text: &str) -> Vec<String> {
    let words = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
    let mut faults = too_long(text, 63);
    if !is_label(text) || !text.starts_with(|c: char| c.is_ascii_lowercase()) {
        let shape = "[a-z]([-a-z0-9]*[a-z0-9])?";
        faults.push(form(words, shape, &["my-name", "abc-123"]));
    }
    faults
}

/// A host with a wildcard in front (`*.example.com`).
pub(crate) fn wildcard_subdomain(text: &str) -> Vec<String> {
    let words = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
    let mut faults = too_long(text, 253);
    if !text.strip_prefix("*.").is_some_and(is_subdomain) {
        let shape = format!(r"\*\.{SUBDOMAIN_FORM}");
        faults.push(form(words, &shape, &["*.example.com"]));
    }
    faults
}

/// The key of a label or annotation: a name with an optional DNS prefix.
pub(crate) fn qualified_name(text: &str) -> Vec<String> {
    let examples = ["MyName", "my.name", "123-abc"];
    let mut faults = Vec::new();
    let name = match text.split('/').collect::<Vec<_>>()[..] {
        [name] => name,
        [prefix, name] => {
            faults.extend(prefix_faults(prefix));
            name
        }
        _ => {
            let shape = form(QUALIFIED_WORDS, QUALIFIED_FORM, &examples);
            return vec![format!(
                "a valid label key {shape} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        faults.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_qualified(name) {
        let shape = form(QUALIFIED_WORDS, QUALIFIED_FORM, &examples);
        faults.push(format!("name part {shape}"));
    }
    faults
}

fn prefix_faults(prefix: &str) -> Vec<String> {
    match prefix {
        "" => vec!["prefix part must be non-empty".to_owned()],
        _ => dns1123_subdomain(prefix)
            .into_iter()
            .map(|fault| format!("prefix part {fault}"))
            .collect(),
    }
}

pub(crate) fn label_value(text: &str) -> Vec<String> {
    let words = format!(
        "a valid label must be an empty string or consist of {}",
        &QUALIFIED_WORDS[16..]
    );
    let mut faults = Vec::new();
    if text.len() > 63 {
        faults.push("must be no more than 63 bytes".to_owned());
    }
    if !text.is_empty() && !is_qualified(text) {
        let shape = format!("({QUALIFIED_FORM})?");
        faults.push(form(&words, &shape, &["MyValue", "my_value", "12345"]));
    }
    faults
}

/// The key of a ConfigMap or Secret.
pub(crate) fn config_key(text: &str) -> Vec<String> {
    let words = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
    let mut faults = too_long(text, 253);
    if text.is_empty() || !text.chars().all(is_name_char) {
        let examples = ["key.name", "KEY_NAME", "key-name"];
        faults.push(form(words, "[-._a-zA-Z0-9]+", &examples));
    }
    match text {
        "." | ".." => faults.push(format!("must not be '{text}'")),
        _ if text.starts_with("..") => faults.push("must not start with '..'".to_owned()),
        _ => {}
    }
    faults
}

/// The name of an environment variable: any printable ASCII but `=`.
pub(crate) fn env_name(text: &str) -> Vec<String> {
    let printable = text.chars().all(|c| (' '..='~').contains(&c) && c != '=');
    match printable {
        true => Vec::new(),
        false => vec![
            "a valid environment variable name must consist only of printable ASCII characters other than '='".to_owned(),
        ],
    }
}

/// The name of a port: letters, digits and single dashes.
pub(crate) fn port_name(text: &str) -> Vec<String> {
    let mut faults = too_long(text, 15);
    let mut fault = |wrong: bool, words: &str| {
        if wrong {
            faults.push(words.to_owned());
        }
    };
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    fault(
        text.is_empty() || !text.chars().all(is_allowed),
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
    );
    fault(
        !text.contains(|c: char| c.is_ascii_lowercase()),
        "must contain at least one letter (a-z)",
    );
    fault(text.contains("--"), "must not contain consecutive hyphens");
    fault(
        text.starts_with('-') || text.ends_with('-'),
        "must not begin or end with a hyphen",
    );
    faults
}

/// Words, the regular expression behind them, and examples.
pub(crate) fn form(words: &str, shape: &str, examples: &[&str]) -> String {
    if examples.is_empty() {
        return format!("{words} (regex used for validation is '{shape}')");
    }
    let shown: Vec<String> = examples.iter().map(|e| format!("'{e}', ")).collect();
    format!(
        "{words} (e.g. {}regex used for validation is '{shape}')",
        shown.join(" or ")
    )
}

fn too_long(text: &str, limit: usize) -> Vec<String> {
    match text.len() > limit {
        true => vec![format!("must be no more than {limit} characters")],
        false => Vec::new(),
    }
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.chars().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

fn is_qualified(text: &str) -> bool {
    text.chars().all(is_name_char)
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_each_rule() {
        let cases: [(TextRule, &str, &[&str]); 8] = [
            (dns1123_label, "a.b", &["must not contain dots"]),
            (dns1123_label, "ok-1", &[]),
            (dns1123_subdomain, "a.b-c.d", &[]),
            (
                dns1035_label,
                "1a",
                &[
                    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
                ],
            ),
            (qualified_name, "/x", &["prefix part must be non-empty"]),
            (
                label_value,
                "a b",
                &[
                    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
                ],
            ),
            (config_key, "..a", &["must not start with '..'"]),
            (port_name, "a--b", &["must not contain consecutive hyphens"]),
        ];
        for (rule, text, expected) in cases {
            assert_eq!(rule(text), expected, "{text}");
        }
    }

    #[test]
    fn prefixes_may_end_in_a_dash() {
        assert!(subdomain_name("a-", true).is_empty());
        assert!(!subdomain_name("a-", false).is_empty());
    }
}
