//! Documents, and the objects that they name.

use std::collections::HashMap;
use std::mem;

use serde_json::{Map, Value};

use crate::identity::Key;
use crate::{Identity, ManifestError, Place, yaml};

/// How much is read before a manifest is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// At most so many bytes.
    pub bytes: usize,
    /// At most so many documents, items of lists included.
    pub documents: usize,
}

impl Limits {
    /// For a text that somebody else has measured.
    pub const NONE: Self = Self {
        bytes: usize::MAX,
        documents: usize::MAX,
    };
}

/// One object of a manifest.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Where it stands.
    pub place: Place,
    /// What it is called.
    pub id: Identity,
    /// All of it.
    pub object: Map<String, Value>,
}

/// Reads every object of `text`. Lists count as their items, and documents without content are
/// passed over.
///
/// # Errors
/// At the first thing that is wrong, with its place; and when there is no object at all.
pub fn parse(text: &str, limits: Limits) -> Result<Vec<Document>, ManifestError> {
    if text.len() > limits.bytes {
        return Err(ManifestError::TooLarge {
            bytes: text.len(),
            limit: limits.bytes,
        });
    }
    let mut reader = Reader::new(limits.documents);
    for read in yaml::values(text) {
        match read? {
            (_, Value::Null) => reader.count()?,
            (place, value) => reader.add(place, value)?,
        }
    }
    if reader.documents.is_empty() {
        Err(ManifestError::Empty)
    } else {
        Ok(reader.documents)
    }
}

/// Objects that a program made, held to the same rules; a place counts them from one.
///
/// # Errors
/// At the first thing that is wrong, with its place.
pub fn objects(values: impl IntoIterator<Item = Value>) -> Result<Vec<Document>, ManifestError> {
    let mut reader = Reader::new(usize::MAX);
    for (document, value) in (1..).zip(values) {
        let place = Place {
            document,
            line: 1,
            item: None,
        };
        reader.add(place, value)?;
    }
    Ok(reader.documents)
}

/// What was read so far.
struct Reader {
    documents: Vec<Document>,
    places: HashMap<Key, Place>,
    count: usize,
    limit: usize,
}

impl Reader {
    fn new(limit: usize) -> Self {
        Self {
            documents: Vec::new(),
            places: HashMap::new(),
            count: 0,
            limit,
        }
    }

    fn add(&mut self, place: Place, value: Value) -> Result<(), ManifestError> {
        self.count()?;
        let mut object = mapping(place, value)?;
        let Some(items) = items(&mut object) else {
            return self.object(place, object);
        };
        let mut items = (1..).zip(items);
        items.try_for_each(|(at, item)| self.add(place.item(at), item))
    }

    const fn count(&mut self) -> Result<(), ManifestError> {
        let limit = self.limit;
        if self.count == limit {
            return Err(ManifestError::TooMany { limit });
        }
        self.count += 1;
        Ok(())
    }

    fn object(&mut self, place: Place, object: Map<String, Value>) -> Result<(), ManifestError> {
        let id = Identity::of(place, &object)?;
        if let Some(first) = self.places.insert(id.key(), place) {
            let id = Box::new(id);
            return Err(ManifestError::Duplicate { place, id, first });
        }
        self.documents.push(Document { place, id, object });
        Ok(())
    }
}

/// What `object` lists, if it is a `v1 List` or a `SomethingList`.
fn items(object: &mut Map<String, Value>) -> Option<Vec<Value>> {
    let kind = object.get("kind")?.as_str()?;
    if !kind.ends_with("List") {
        return None;
    }
    match object.get_mut("items")? {
        Value::Array(items) => Some(mem::take(items)),
        // How a list without items is written by what has no empty list, only none.
        Value::Null => Some(Vec::new()),
        _ => None,
    }
}

fn mapping(place: Place, value: Value) -> Result<Map<String, Value>, ManifestError> {
    let found = match value {
        Value::Object(object) => return Ok(object),
        Value::Null => "nothing",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
    };
    Err(ManifestError::NotAnObject { place, found })
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
            .map(|d| (d.place.line, d.id.to_string()))
            .collect();
        let expected = [
            (2, "v1 ConfigMap one".to_owned()),
            (7, "apps/v1 Deployment shop/two".to_owned()),
        ];
        assert_eq!(read, expected);
        assert_eq!(documents[1].object["metadata"]["namespace"], "shop");
    }

    #[test]
    fn objects_of_a_program_are_held_to_the_same_rules() {
        let map = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}});
        let twice = objects([map.clone(), map.clone()]).unwrap_err();
        assert!(matches!(twice, ManifestError::Duplicate { .. }), "{twice}");
        assert_eq!(objects([map]).unwrap()[0].id.name, "one");
        assert_eq!(objects([]).unwrap(), []);
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
        assert_eq!(
            refusal(&text).to_string(),
            "document 3, line 13: `metadata.name` of Secret must be a text that is not empty"
        );
        let number = "apiVersion: 1\nkind: Pod\nmetadata: {name: x}\n";
        assert_eq!(
            refusal(number).to_string(),
            "document 1, line 1: `apiVersion` of Pod x must be a text that is not empty"
        );
    }

    #[test]
    fn a_syntax_error_is_said_with_document_and_line() {
        let text = format!("{TWO}---\napiVersion: v1\nkind: [unclosed\n");
        let error = refusal(&text);
        let place = error.place().unwrap();
        assert_eq!(place.document, 3);
        assert!(place.line >= 13, "{error}");
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
        assert_eq!(
            refusal(versions).to_string(),
            "document 2, line 5: apps/v2 D x is already described on line 1, document 1"
        );
    }

    #[test]
    fn lists_count_as_their_items() {
        let text = "apiVersion: v1\nkind: List\nitems:\n\
                    - {apiVersion: v1, kind: A, metadata: {name: a}}\n\
                    - apiVersion: v1\n  kind: AList\n  items:\n  \
                    - {apiVersion: v1, kind: A, metadata: {name: b}}\n";
        let documents = parse(text, LIMITS).unwrap();
        let read: Vec<_> = documents.iter().map(|d| d.id.to_string()).collect();
        assert_eq!(read, ["v1 A a", "v1 A b"]);
        assert_eq!(
            refusal(&text.replace("name: b", "name: a")).to_string(),
            "document 1, line 1, item 1: v1 A a is already described on line 1, document 1, item 1"
        );
        let none = "apiVersion: v1\nkind: List\nitems: null\n";
        assert_eq!(refusal(none), ManifestError::Empty);
        assert_eq!(
            refusal(&none.replace("null", "{}")).to_string(),
            "document 1, line 1: `metadata.name` of List must be a text that is not empty"
        );
    }

    #[test]
    fn a_key_that_is_written_twice_is_refused() {
        let text = "apiVersion: v1\nkind: A\nkind: B\nmetadata: {name: x}\n";
        let error = refusal(text);
        assert!(matches!(error, ManifestError::Syntax { .. }), "{error}");
        let place = error.place().unwrap();
        assert_eq!((place.document, place.line), (1, 3));
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
        let empty = "---\nnull\n".repeat(2);
        let list = "apiVersion: v1\nkind: List\nitems: [{}]\n";
        let listed = list.replace("{}", "{apiVersion: v1, kind: A, metadata: {name: a}}");
        for many in [TWO, &empty, &listed] {
            assert_eq!(parse(many, few), Err(ManifestError::TooMany { limit: 1 }));
        }
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
