//! What a call costs at most, by the sizes of what it is given.

use super::types::{Declared, Kind};

pub(super) const LIST: u64 = 10;
pub(super) const MAP: u64 = 30;
pub(super) const STRUCT: u64 = 40;

/// The cost of going through a text or bytes once.
fn traversal(size: u64) -> u64 {
    tenths(size, 1)
}

/// `size * tenths / 10`, rounded up.
fn tenths(size: u64, tenths: u64) -> u64 {
    size.saturating_mul(tenths).saturating_add(9) / 10
}

/// How large a value can be; scalars count as one.
fn size(declared: &Declared) -> u64 {
    match declared.kind {
        Kind::String
        | Kind::Bytes
        | Kind::Dyn
        | Kind::List(_)
        | Kind::Map(..)
        | Kind::Object(_)
        | Kind::Optional(_)
        | Kind::Parameter(_) => declared.most,
        _ => declared.most.min(1),
    }
}

/// The cost of a call itself, without that of its arguments. A member function's target is the
/// first of them.
pub(super) fn of_call(function: &str, arguments: &[&Declared]) -> u64 {
    let sizes: Vec<u64> = arguments.iter().map(|argument| size(argument)).collect();
    let is_text = |index: usize| {
        let kind = arguments.get(index).map(|argument| &argument.kind);
        matches!(kind, Some(Kind::String | Kind::Bytes | Kind::Dyn))
    };
    match (function, sizes.as_slice()) {
        ("_&&_" | "_||_" | "_?_:_", _) => 0,
        ("_==_" | "_!=_", [one, two]) => traversal(*one.min(two)),
        ("_<_" | "_<=_" | "_>_" | "_>=_", [one, two]) if is_text(0) => traversal(*one.min(two)),
        ("_+_", [one, two]) if is_text(0) => traversal(one.saturating_add(*two)),
        ("@in", [_, list]) if matches!(arguments[1].kind, Kind::List(_)) => *list,
        ("startsWith" | "endsWith", [_, part]) => traversal(*part),
        ("contains", [text, part]) => traversal(*text).saturating_mul(traversal(*part)),
        ("matches", [text, pattern]) => {
            let pattern = pattern.saturating_add(3) / 4;
            traversal(text.saturating_add(1)).saturating_mul(pattern)
        }
        ("format" | "string" | "bytes", [text, ..]) if is_text(0) => traversal(*text),
        (
            "find" | "findAll" | "split" | "replace" | "lowerAscii" | "upperAscii" | "trim"
            | "substring" | "indexOf" | "lastIndexOf" | "url" | "isURL" | "quantity" | "isQuantity"
            | "ip" | "isIP" | "cidr" | "isCIDR",
            [text, ..],
        ) => traversal(*text).max(1),
        ("isSorted" | "sum" | "max" | "min", [list, ..]) => *list,
        _ => 1,
    }
}

/// How large a result can be, when its type does not say.
pub(super) fn size_of_result(function: &str, arguments: &[&Declared]) -> u64 {
    let most = |index: usize| {
        arguments
            .get(index)
            .map_or(u64::MAX, |argument| argument.most)
    };
    match function {
        "_+_" => most(0).saturating_add(most(1)),
        "_?_:_" => most(1).max(most(2)),
        "lowerAscii" | "upperAscii" | "trim" | "substring" | "charAt" | "dyn" | "find" => most(0),
        _ => u64::MAX,
    }
}
