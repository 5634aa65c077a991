//! Documents, and the objects that they name.

use std::collections::HashMap;
use std::fmt;
use std::io::Cursor;

use serde_json::{Map, Value};
use serde_saphyr::{Options, Spanned};

use crate::ManifestError;

/// How much is read before a manifest is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// At most so many bytes.
    pub bytes: usize,
    /// At most so many documents.
    pub documents: usize,
}

/// What an object is called in a cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// Group and version, as written.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace, if one is written.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl Identity {
    /// What must be unique: the same kind in two versions of a group is the same object.
    fn key(&self) -> (String, String, Option<String>, String) {
        let group = self
            .api_version
            .split_once('/')
            .map_or("", |(group, _)| group);
        (
            group.to_owned(),
            self.kind.clone(),
            self.namespace.clone(),
            self.name.clone(),
        )
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            api_version,
            kind,
            name,
            ..
        } = self;
        match &self.namespace {
            Some(namespace) => write!(f, "{api_version} {kind} {namespace}/{name}"),
            None => write!(f, "{api_version} {kind} {name}"),
        }
    }
}

/// One object of a manifest.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The line on which it begins, from 1.
    pub line: u64,
    /// What it is called.
    pub id: Identity,
    /// All of it.
    pub object: Map<String, Value>,
}

/// Reads every document of `text`; documents without content are passed over.
pub fn parse(text: &str, limits: Limits) -> Result<Vec<Document>, ManifestError> {
    if text.len() > limits.bytes {
        return Err(ManifestError::TooLarge {
            bytes: text.len(),
            limit: limits.bytes,
        });
    }
    let mut documents = Vec::new();
    let mut first_lines = HashMap::new();
    let mut reader = Cursor::new(text.as_bytes());
    for read in serde_saphyr::read_with_options(&mut reader, Options::default()) {
        let number = documents.len() + 1;
        if number > limits.documents {
            return Err(ManifestError::TooMany {
                limit: limits.documents,
            });
        }
        let document = document(number, read)?;
        if let Some(first) = first_lines.insert(document.id.key(), document.line) {
            let (line, id) = (document.line, Box::new(document.id));
            return Err(ManifestError::Duplicate {
                document: number,
                line,
                id,
                first,
            });
        }
        documents.push(document);
    }
    if documents.is_empty() {
        Err(ManifestError::Empty)
    } else {
        Ok(documents)
    }
}

fn document(
    number: usize,
    read: Result<Spanned<Value>, serde_saphyr::Error>,
) -> Result<Document, ManifestError> {
    let read = read.map_err(|error| syntax(number, &error))?;
    let place = Place {
        document: number,
        line: read.defined.line(),
    };
    match read.value {
        Value::Object(object) => {
            let id = place.identity(&object)?;
            Ok(Document {
                line: place.line,
                id,
                object,
            })
        }
        Value::Null => Err(place.not_an_object("nothing")),
        Value::Bool(_) => Err(place.not_an_object("a truth value")),
        Value::Number(_) => Err(place.not_an_object("a number")),
        Value::String(_) => Err(place.not_an_object("a text")),
        Value::Array(_) => Err(place.not_an_object("a list")),
    }
}

fn syntax(document: usize, error: &serde_saphyr::Error) -> ManifestError {
    let line = error.location().map_or(1, |location| location.line());
    let text = error.without_snippet().to_string();
    let problem = text.lines().next().unwrap_or_default().to_owned();
    ManifestError::Syntax {
        document,
        line,
        problem,
    }
}

/// Where in the text a document is.
#[derive(Clone, Copy)]
struct Place {
    document: usize,
    line: u64,
}

impl Place {
    fn identity(self, object: &Map<String, Value>) -> Result<Identity, ManifestError> {
        let metadata = object.get("metadata").and_then(Value::as_object);
        let of_metadata = |key| metadata.and_then(|metadata| metadata.get(key));
        Ok(Identity {
            api_version: self.text("apiVersion", object.get("apiVersion"))?,
            kind: self.text("kind", object.get("kind"))?,
            name: self.text("metadata.name", of_metadata("name"))?,
            namespace: match of_metadata("namespace") {
                None | Some(Value::Null) => None,
                written => Some(self.text("metadata.namespace", written)?),
            },
        })
    }

    fn text(self, field: &'static str, value: Option<&Value>) -> Result<String, ManifestError> {
        let text = value
            .and_then(Value::as_str)
            .filter(|text| !text.trim().is_empty());
        let Self { document, line } = self;
        text.map(str::to_owned).ok_or(ManifestError::Missing {
            document,
            line,
            field,
        })
    }

    const fn not_an_object(self, found: &'static str) -> ManifestError {
        ManifestError::NotAnObject {
            document: self.document,
            line: self.line,
            found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits {
        bytes: 1 << 20,
        documents: 100,
    };

    const TWO: &str = "\
# a comment first
apiVersion: v1
kind: ConfigMap
metadata:
  name: one
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: two
  namespace: shop
";

    fn refusal(text: &str) -> ManifestError {
        parse(text, LIMITS).unwrap_err()
    }

    #[test]
    fn documents_know_their_names_and_lines() {
        let documents = parse(TWO, LIMITS).unwrap();
        let read: Vec<_> = documents
            .iter()
            .map(|d| (d.line, d.id.to_string()))
            .collect();
        let expected = [
            (2, "v1 ConfigMap one".to_owned()),
            (7, "apps/v1 Deployment shop/two".to_owned()),
        ];
        assert_eq!(read, expected);
        assert_eq!(documents[1].object["metadata"]["namespace"], "shop");
    }

    #[test]
    fn documents_without_content_are_passed_over() {
        let text = format!("---\n---\n# nothing\n---\n{TWO}---\n");
        assert_eq!(parse(&text, LIMITS).unwrap().len(), 2);
        for nothing in ["", "\n\n", "---\n---\n", "# only a comment\n", "null\n"] {
            assert_eq!(refusal(nothing), ManifestError::Empty, "{nothing:?}");
        }
    }

    #[test]
    fn what_is_missing_is_said_with_document_and_line() {
        let text = format!("{TWO}---\napiVersion: v1\nkind: Secret\nmetadata: {{}}\n");
        let expected = ManifestError::Missing {
            document: 3,
            line: 13,
            field: "metadata.name",
        };
        assert_eq!(refusal(&text), expected);
        let number = "apiVersion: 1\nkind: Pod\nmetadata: {name: x}\n";
        assert_eq!(
            refusal(number).to_string(),
            "document 1, line 1: `apiVersion` must be a text that is not empty"
        );
    }

    #[test]
    fn a_syntax_error_is_said_with_document_and_line() {
        let text = format!("{TWO}---\napiVersion: v1\nkind: [unclosed\n");
        let error = refusal(&text);
        assert_eq!(error.document(), Some(3));
        assert!(error.line() >= Some(13), "{error}");
    }

    #[test]
    fn an_object_may_be_described_once_whatever_the_version() {
        let text = format!("{TWO}---\n{}", TWO.replace("apps/v1", "apps/v1beta1"));
        let error = refusal(&text).to_string();
        assert!(
            error.starts_with("document 3, line 14: v1 ConfigMap one"),
            "{error}"
        );
        let versions = "apiVersion: apps/v1\nkind: D\nmetadata: {name: x}\n---\n\
                        apiVersion: apps/v2\nkind: D\nmetadata: {name: x}\n";
        assert!(matches!(
            refusal(versions),
            ManifestError::Duplicate {
                document: 2,
                first: 1,
                ..
            }
        ));
    }

    #[test]
    fn a_key_that_is_written_twice_is_refused() {
        let text = "apiVersion: v1\nkind: A\nkind: B\nmetadata: {name: x}\n";
        assert!(matches!(
            refusal(text),
            ManifestError::Syntax {
                document: 1,
                line: 3,
                ..
            }
        ));
    }

    #[test]
    fn limits_hold() {
        let small = Limits {
            bytes: 10,
            ..LIMITS
        };
        assert!(matches!(
            parse(TWO, small),
            Err(ManifestError::TooLarge { limit: 10, .. })
        ));
        let few = Limits {
            documents: 1,
            ..LIMITS
        };
        assert_eq!(parse(TWO, few), Err(ManifestError::TooMany { limit: 1 }));
    }

    #[test]
    fn an_alias_bomb_is_refused() {
        let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for level in 1..20 {
            let below = format!("*a{}", level - 1);
            let row = vec![below; 10].join(",");
            bomb.push_str(&format!("a{level}: &a{level} [{row}]\n"));
        }
        assert!(matches!(refusal(&bomb), ManifestError::Syntax { .. }));
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = format!("a: {}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(refusal(&deep), ManifestError::Syntax { .. }));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn any_text_gets_an_answer(text in "\\PC{0,200}") {
            let _ = parse(&text, LIMITS);
        }

        #[test]
        fn any_mangled_manifest_gets_an_answer(at in 0..TWO.len(), junk in "[\\x00-\\x7f]{0,12}") {
            let mut text = TWO.to_owned();
            text.insert_str(at, &junk);
            if let Ok(documents) = parse(&text, LIMITS) {
                prop_assert!(documents.iter().all(|d| !d.id.name.is_empty()));
            }
        }

        #[test]
        fn what_is_built_from_the_indicators_of_yaml_gets_an_answer(
            text in "[-:?&*!|>%@`'\"\\[\\]{}#, \\na0~.]{0,120}"
        ) {
            let _ = parse(&text, LIMITS);
        }
    }
}
