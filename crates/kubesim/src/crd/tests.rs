//! Names that definitions hold against each other.

use serde_json::{Value, json};

use super::accept;

fn crd(plural: &str, kind: &str, short: &[&str]) -> Value {
    let names = json!({
        "plural": plural,
        "singular": kind.to_lowercase(),
        "kind": kind,
        "listKind": format!("{kind}List"),
        "shortNames": short,
    });
    json!({
        "metadata": {"name": format!("{plural}.x.io")},
        "spec": {"group": "x.io", "names": names},
        "status": {"storedVersions": ["v1"]},
    })
}

fn condition<'a>(crd: &'a Value, kind: &str) -> (&'a str, &'a str, &'a str) {
    let list = crd["status"]["conditions"].as_array().expect("conditions");
    let found = list
        .iter()
        .find(|c| c["type"] == kind)
        .expect("the condition");
    let text = |name: &str| found[name].as_str().unwrap_or_default();
    (text("status"), text("reason"), text("message"))
}

#[test]
fn the_second_to_want_a_name_waits_until_it_is_free() {
    let mut first = crd("things", "Thing", &["t"]);
    assert!(accept(&mut first, [], "2026-01-01T00:00:00Z"));
    let cases = [
        (
            crd("others", "Thing", &[]),
            "ListKindConflict",
            "\"ThingList\" is already in use",
        ),
        (
            crd("others", "Other", &["t"]),
            "ShortNamesConflict",
            "\"t\" is already in use",
        ),
        (
            crd("thing", "Other", &[]),
            "PluralConflict",
            "\"thing\" is already in use",
        ),
    ];
    for (mut second, reason, message) in cases {
        assert!(!accept(&mut second, [&first], "2026-01-01T00:00:00Z"));
        assert_eq!(
            condition(&second, "NamesAccepted"),
            ("False", reason, message)
        );
        let waiting = ("False", "NotAccepted", "not all names are accepted");
        assert_eq!(condition(&second, "Established"), waiting);
        assert!(
            accept(&mut second, [], "2026-01-02T00:00:00Z"),
            "free again"
        );
        assert_eq!(condition(&second, "NamesAccepted").0, "True");
    }
}

#[test]
fn an_established_definition_stays_established() {
    let mut first = crd("things", "Thing", &[]);
    accept(&mut first, [], "2026-01-01T00:00:00Z");
    let rival = first.clone();
    let mut renamed = first.clone();
    renamed["metadata"]["name"] = "things2.x.io".into();
    renamed["spec"]["names"]["shortNames"] = json!(["thing"]);
    assert!(accept(&mut renamed, [&rival], "2026-01-02T00:00:00Z"));
    assert_eq!(condition(&renamed, "Established").0, "True");
}
