//! YAML or JSON text as a sequence of documents that know where they stand.
//!
//! Knows nothing of Kubernetes. Numbers and booleans are read as `kubectl` users mean them: `0644`
//! is octal, and only `true` and `false` are booleans.

use serde_json::Value;

/// One document of a text, with its position.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Which document of the text, counted from 1; empty ones count.
    pub number: usize,
    /// The line on which its content begins, counted from 1.
    pub line: usize,
    /// What it says.
    pub value: Value,
}

/// A document that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("document {number}, line {line}: not readable as YAML")]
pub struct SyntaxError {
    /// Which document of the text, counted from 1.
    pub number: usize,
    /// The line of the text, counted from 1.
    pub line: usize,
    /// What the parser says.
    #[source]
    pub cause: Box<serde_saphyr::Error>,
}

/// The documents of `text` that are not empty, in their order.
pub fn documents(text: &str) -> impl Iterator<Item = Result<Document, SyntaxError>> {
    chunks(text).filter_map(|chunk| match chunk.read() {
        Ok(Value::Null) => None,
        Ok(value) => Some(Ok(Document {
            number: chunk.number,
            line: chunk.first_line(),
            value,
        })),
        Err(error) => Some(Err(error)),
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
    fn read(&self) -> Result<Value, SyntaxError> {
        let options = serde_saphyr::options! { strict_booleans: true, legacy_octal_numbers: true };
        serde_saphyr::from_str_with_options(self.text, options).map_err(|cause| {
            let line = cause.location().map_or(1, |place| place.line());
            SyntaxError {
                number: self.number,
                line: self.before + usize::try_from(line).unwrap_or(1).max(1),
                cause: Box::new(cause),
            }
        })
    }

    fn first_line(&self) -> usize {
        let is_content = |line: &str| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#') && line != "---"
        };
        let skipped = self.text.lines().position(is_content).unwrap_or(0);
        self.before + skipped + 1
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

fn is_content(line: &str) -> bool {
    let line = line.trim_start();
    !line.trim_end().is_empty() && !line.starts_with('#')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Vec<(usize, usize, Value)> {
        documents(text)
            .map(|document| document.unwrap())
            .map(|document| (document.number, document.line, document.value))
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
        let error = documents("a: 1\n---\nb: 2\nb: 3\n")
            .nth(1)
            .unwrap()
            .unwrap_err();
        assert_eq!((error.number, error.line), (2, 4));
    }

    #[test]
    fn a_marker_inside_a_longer_word_is_text() {
        assert_eq!(
            read("a: |\n  x\n  ---\n  y\n")[0].2,
            json!({"a": "x\n---\ny\n"})
        );
    }
}
