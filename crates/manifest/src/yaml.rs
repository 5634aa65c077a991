//! YAML or JSON text as a sequence of values that know where they stand.
//!
//! Knows nothing of Kubernetes but how its tools read text: a line `---` ends a document whatever
//! stands before it, and `0644` is octal.

use serde_json::Value;

use crate::{ManifestError, Place};

/// The values of the documents of `text` that are not empty, in their order.
pub(crate) fn values(text: &str) -> impl Iterator<Item = Result<(Place, Value), ManifestError>> {
    chunks(text).filter_map(|chunk| {
        let line = chunk.first_line()?;
        Some(chunk.read().map(|value| (chunk.place(line), value)))
    })
}

/// The text of one document.
struct Chunk<'t> {
    number: usize,
    /// How many lines stand before it.
    before: usize,
    text: &'t str,
}

impl Chunk<'_> {
    /// Numbers are those of `kubectl`, for which `defaultMode: 0644` is 420: read as 644 it would
    /// silently be another mode. Booleans are stricter than there: only `true` and `false`, so that
    /// `country: no` stays the text that was meant, and a `yes` where a boolean belongs is refused
    /// by the server, by name, instead of being guessed here.
    fn read(&self) -> Result<Value, ManifestError> {
        let options = serde_saphyr::options! { strict_booleans: true, legacy_octal_numbers: true };
        serde_saphyr::from_str_with_options(self.text, options).map_err(|error| self.syntax(&error))
    }

    fn syntax(&self, error: &serde_saphyr::Error) -> ManifestError {
        let line = error.location().map_or(1, |location| location.line());
        let text = error.without_snippet().to_string();
        ManifestError::Syntax {
            place: self.place(usize::try_from(line).unwrap_or(1).max(1)),
            problem: text.lines().next().unwrap_or_default().to_owned(),
        }
    }

    /// The place of a line that is counted from 1 within this document.
    const fn place(&self, line: usize) -> Place {
        Place {
            document: self.number,
            line: self.before + line,
            item: None,
        }
    }

    /// The line on which its content begins, if it has any.
    fn first_line(&self) -> Option<usize> {
        let mut lines = self.text.lines();
        let at = lines.position(|line| is_content(line) && line.trim_end() != "---")?;
        Some(at + 1)
    }
}

/// Cuts a text where documents end. A line that begins with `---` ends one wherever it stands, so
/// no parser is needed to find it.
fn chunks(text: &str) -> impl Iterator<Item = Chunk<'_>> {
    let mut rest = Some((text, 0));
    let mut number = 0;
    std::iter::from_fn(move || {
        let (text, before) = rest?;
        number += 1;
        let (own, lines, more) = cut(text, number == 1);
        rest = more.map(|more| (more, before + lines));
        Some(Chunk {
            number,
            before,
            text: own,
        })
    })
}

/// The first document of `text`, how many lines it has, and what follows. A marker before any
/// content opens the first document instead of ending an empty one.
fn cut(text: &str, first: bool) -> (&str, usize, Option<&str>) {
    let (mut at, mut lines, mut opened) = (0, 0, !first);
    for line in text.split_inclusive('\n') {
        let marker = is_marker(line);
        if marker && lines > 0 && opened {
            return (&text[..at], lines, Some(&text[at..]));
        }
        opened |= marker || is_content(line);
        at += line.len();
        lines += 1;
    }
    (text, lines, None)
}

fn is_marker(line: &str) -> bool {
    line.strip_prefix("---")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

/// Neither blank, nor a comment, nor a directive.
fn is_content(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with(['#', '%'])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Vec<(usize, usize, Value)> {
        values(text)
            .map(Result::unwrap)
            .map(|(place, value)| (place.document, place.line, value))
            .collect()
    }

    #[test]
    fn documents_know_their_number_and_line() {
        let text = "# first\n---\na: 1\n---\n# nothing\n---\n\nb: 2\n";
        assert_eq!(
            read(text),
            [(1, 3, json!({"a": 1})), (3, 8, json!({"b": 2}))]
        );
    }

    #[test]
    fn json_is_read_alike() {
        assert_eq!(read(r#"{"a": [1, "x"]}"#), [(1, 1, json!({"a": [1, "x"]}))]);
    }

    #[test]
    fn modes_are_octal_and_only_true_and_false_are_booleans() {
        assert_eq!(
            read("mode: 0644\nanswer: yes\nsure: true\n")[0].2,
            json!({"mode": 420, "answer": "yes", "sure": true})
        );
    }

    #[test]
    fn an_error_names_document_and_line_of_the_whole_text() {
        let read = values("a: 1\n---\nb: 2\nb: 3\n").nth(1).unwrap();
        let place = read.unwrap_err().place().unwrap();
        assert_eq!((place.document, place.line), (2, 4));
    }

    #[test]
    fn a_marker_inside_a_longer_word_is_text() {
        assert_eq!(
            read("a: |\n  x\n  ---\n  y\n")[0].2,
            json!({"a": "x\n---\ny\n"})
        );
    }

    #[test]
    fn a_directive_belongs_to_the_document_that_it_stands_before() {
        assert_eq!(read("%YAML 1.2\n---\na: 1\n"), [(1, 3, json!({"a": 1}))]);
    }

    #[test]
    fn what_follows_the_end_of_a_document_is_not_lost_in_silence() {
        assert_eq!(read("a: 1\n...\n"), [(1, 1, json!({"a": 1}))]);
        let followed = values("a: 1\n...\nb: 2\n").next().unwrap();
        assert!(followed.is_err(), "{followed:?}");
    }
}
