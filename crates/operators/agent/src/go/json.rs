//! JSON as Go's `encoding/json` writes it: no space between tokens (or two of them for each
//! level), `<`, `>` and `&` escaped, and numbers without a needless fraction.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

/// The bytes of `json.Marshal`.
pub(crate) fn marshal<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    write(value, CompactFormatter)
}

/// The bytes of `json.MarshalIndent` with two spaces.
pub(crate) fn marshal_indent<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    write(value, PrettyFormatter::with_indent(b"  "))
}

fn write<T: Serialize>(value: &T, layout: impl Formatter) -> Result<String, serde_json::Error> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Go(layout)))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Escapes and numbers of Go in the layout of another formatter.
struct Go<F>(F);

/// Passes calls on to the layout.
macro_rules! laid_out {
    ($($call:ident($($first:ident)?)),*) => {$(
        fn $call<W: ?Sized + Write>(&mut self, writer: &mut W $(, $first: bool)?) -> io::Result<()> {
            self.0.$call(writer $(, $first)?)
        }
    )*};
}

impl<F: Formatter> Formatter for Go<F> {
    laid_out!(
        begin_array(),
        end_array(),
        begin_array_value(first),
        end_array_value(),
        begin_object(),
        end_object(),
        begin_object_key(first),
        end_object_key(),
        begin_object_value(),
        end_object_value()
    );

    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(float(value).as_bytes())
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            let (plain, from) = rest.split_at(at);
            let mut chars = from.chars();
            let escaped = chars.next().map_or(0, u32::from);
            write!(writer, "{plain}\\u{escaped:04x}")?;
            rest = chars.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

/// The shortest digits that read back as the same number; with an exponent where Go has one.
pub(crate) fn float(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        return match text.split_once('e') {
            Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
            _ => text,
        };
    }
    format!("{value}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn markup_is_escaped_in_keys_and_values() {
        let text = marshal(&json!({"a<b": "x & y > \u{2028}"})).expect("JSON");
        assert_eq!(text, r#"{"a\u003cb":"x \u0026 y \u003e \u2028"}"#);
    }

    #[test]
    fn numbers_have_no_needless_fraction() {
        let numbers = [
            30.0, 0.7, 0.95, 1e21, 1e-7, 1e20, 0.000001, -2.5, 0.0, 1.5e300,
        ];
        let text = numbers.map(float).join(" ");
        assert_eq!(
            text,
            "30 0.7 0.95 1e+21 1e-7 100000000000000000000 0.000001 -2.5 0 1.5e+300"
        );
    }

    #[test]
    fn control_characters_are_escaped_as_in_go() {
        let text = marshal(&"tab\t nl\n bell\u{7} del\u{7f} quote\" back\\ é").expect("JSON");
        assert_eq!(
            text,
            "\"tab\\t nl\\n bell\\u0007 del\u{7f} quote\\\" back\\\\ é\""
        );
    }

    #[test]
    fn indented_text_keeps_empty_lists_on_one_line() {
        let text = marshal_indent(&json!({"a": [], "b": {"c": 1}})).expect("JSON");
        assert_eq!(text, "{\n  \"a\": [],\n  \"b\": {\n    \"c\": 1\n  }\n}");
    }
}
