//! Which functions there are, for which types, and what they return.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use super::types::{Declared, Kind};

static TABLE: LazyLock<HashMap<&'static str, Vec<Signature>>> =
    LazyLock::new(|| read(include_str!("signatures.txt")));

/// One way to call a function.
#[derive(Debug)]
pub(super) struct Signature {
    pub(super) member: bool,
    pub(super) parameters: Vec<Kind>,
    pub(super) result: Kind,
}

/// All ways to call a function of this name.
pub(super) fn of(name: &str) -> Option<&'static [Signature]> {
    TABLE.get(name).map(Vec::as_slice)
}

/// Whether functions are known by names below this one (`sets.contains`).
pub(super) fn is_namespace(name: &str) -> bool {
    TABLE.keys().any(|known| {
        known
            .split_once('.')
            .is_some_and(|(space, _)| space == name)
    })
}

/// Lines of the form `name: (parameters) result; ...`, with `.` before the bracket of a member.
fn read(text: &'static str) -> HashMap<&'static str, Vec<Signature>> {
    let mut table: HashMap<_, Vec<_>> = HashMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((names, signatures)) = line.split_once(": ") else {
            continue;
        };
        for name in names.split(' ') {
            let known = signatures.split("; ").filter_map(signature);
            table.entry(name).or_default().extend(known);
        }
    }
    table
}

fn signature(text: &'static str) -> Option<Signature> {
    let (member, rest) = match text.strip_prefix('.') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (parameters, result) = rest.strip_prefix('(')?.rsplit_once(") ")?;
    Some(Signature {
        member,
        parameters: split(parameters).into_iter().map(kind).collect(),
        result: kind(result),
    })
}

/// Splits at commas that are in no brackets.
fn split(text: &'static str) -> Vec<&'static str> {
    let mut depth = 0;
    let parts = text.split(|c: char| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        c == ',' && depth == 0
    });
    parts
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect()
}

fn kind(text: &'static str) -> Kind {
    let inner = |text| Arc::new(Declared::unlimited(kind(text)));
    if let Some((name, arguments)) = text.split_once('<') {
        let arguments = split(arguments.strip_suffix('>').unwrap_or(arguments));
        return match (name, arguments.as_slice()) {
            ("list", [item]) => Kind::List(inner(item)),
            ("map", [key, value]) => Kind::Map(inner(key), inner(value)),
            ("optional", [value]) => Kind::Optional(inner(value)),
            _ => Kind::Dyn,
        };
    }
    match text {
        "bool" => Kind::Bool,
        "int" => Kind::Int,
        "uint" => Kind::Uint,
        "double" => Kind::Double,
        "string" => Kind::String,
        "bytes" => Kind::Bytes,
        "timestamp" => Kind::Timestamp,
        "duration" => Kind::Duration,
        "null" => Kind::Null,
        "type" => Kind::Type,
        "A" => Kind::Parameter('A'),
        "B" => Kind::Parameter('B'),
        "dyn" => Kind::Dyn,
        opaque => Kind::Opaque(opaque),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_read() {
        let size = of("size").expect("a function");
        assert_eq!(size.len(), 8);
        let index = of("_[_]").expect("an operator");
        assert_eq!(index[1].result, Kind::Parameter('B'));
        assert!(is_namespace("sets"));
        assert!(!is_namespace("size"));
    }
}
