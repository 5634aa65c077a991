//! The built-in types, read lazily from the generated table `data/types.txt`.
//!
//! A line without indentation opens a type: its name, `!` if it is atomic, and the kind it
//! belongs to, `=group/version/Kind`. An indented line is a field: its name (with `!` if it is
//! required), one character for its encoding, and its type; then its number on the wire (`#2.1`
//! is field 1 of an inlined message that is field 2) and its patch strategy (`~merge:name`):
//!
//! ```text
//! ?  left out when null                      s y  string, bytes in base64
//! -  left out when zero or empty             i l  integer of 32 or 64 bits
//! +  always written, zero if absent          n b  number, boolean
//! 0  always written, null if absent          q x  quantity, integer or string
//!                                            t u  time, time with microseconds
//! @name   another type (@! owned whole)      *    anything
//! &name   the same, in a recursive type
//! {T      map of T ({! owned whole)
//! [T      atomic list, [= set, [<key:default,...> list by keys
//! ```

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, OnceLock};

use super::wire::Numbers;
use super::{Encoding, Limits, ListKey, ListKind, PatchStrategy, Scalar, Schema, Shape, Struct};

static TEXT: &str = include_str!("../../data/types.txt");
static TABLE: LazyLock<Table> = LazyLock::new(|| Table::index(TEXT));

/// The schema of a built-in kind.
pub fn builtin(group: &str, version: &str, kind: &str) -> Option<Arc<Schema>> {
    let name = TABLE.kinds.get(&(group, version, kind))?;
    TABLE.schema(name)
}

/// The schema of a type by its name in the table.
pub(crate) fn named(name: &str) -> Option<&'static Schema> {
    TABLE.schema_ref(name).map(AsRef::as_ref)
}

/// What the numbers of a type's fields on the wire stand for.
pub(crate) fn numbers(name: &str) -> Option<&'static Numbers> {
    let entry = TABLE.types.get(name)?;
    Some(entry.numbers.get_or_init(|| Numbers::read(entry.fields)))
}

struct Table {
    types: HashMap<&'static str, Entry>,
    kinds: HashMap<(&'static str, &'static str, &'static str), &'static str>,
}

struct Entry {
    name: &'static str,
    atomic: bool,
    fields: &'static str,
    schema: OnceLock<Arc<Schema>>,
    numbers: OnceLock<Numbers>,
}

impl Table {
    fn index(text: &'static str) -> Self {
        let mut table = Self {
            types: HashMap::with_capacity(800),
            kinds: HashMap::with_capacity(200),
        };
        let mut rest = text;
        while let Some((head, fields, after)) = next_type(rest) {
            table.add(head, fields);
            rest = after;
        }
        table
    }

    fn add(&mut self, head: &'static str, fields: &'static str) {
        let mut words = head.split(' ');
        let name = words.next().unwrap_or_default();
        let mut atomic = false;
        for word in words {
            match word.strip_prefix('=').and_then(split_kind) {
                Some(kind) => drop(self.kinds.insert(kind, name)),
                None => atomic = true,
            }
        }
        let entry = Entry {
            name,
            atomic,
            fields,
            schema: OnceLock::new(),
            numbers: OnceLock::new(),
        };
        self.types.insert(name, entry);
    }

    fn schema(&self, name: &str) -> Option<Arc<Schema>> {
        self.schema_ref(name).cloned()
    }

    fn schema_ref(&self, name: &str) -> Option<&Arc<Schema>> {
        let entry = self.types.get(name)?;
        Some(entry.schema.get_or_init(|| Arc::new(self.read(entry))))
    }

    fn read(&self, entry: &Entry) -> Schema {
        let mut read = Struct {
            name: Some(entry.name),
            atomic: entry.atomic,
            ..Struct::default()
        };
        for line in entry.fields.lines() {
            self.read_field(&mut read, line);
        }
        Schema::of(Shape::Struct(read))
    }

    fn read_field(&self, into: &mut Struct, line: &'static str) {
        let mut words = line.trim_start().split(' ');
        let (Some(name), Some(expression)) = (words.next(), words.next()) else {
            return;
        };
        let bare: Arc<str> = name.trim_end_matches('!').into();
        if name.ends_with('!') {
            into.required.push(bare.clone());
        }
        let (encoding, expression) = expression.split_at(1);
        let encoding = read_encoding(encoding);
        into.encodings.insert(bare.clone(), encoding);
        if let Some(strategy) = words.find_map(|word| word.strip_prefix('~')) {
            into.patches.insert(bare.clone(), read_strategy(strategy));
        }
        into.fields
            .insert(bare, held(self.read_type(expression), encoding));
    }

    fn read_type(&self, expression: &'static str) -> Arc<Schema> {
        let (sign, rest) = expression.split_at(1);
        match sign {
            "[" => self.read_list(rest),
            "{" => self.read_map(rest),
            "@" => self.read_reference(rest),
            "&" => Arc::new(Schema::of(Shape::Named(rest))),
            leaf => leaf_schema(leaf),
        }
    }

    fn read_reference(&self, name: &'static str) -> Arc<Schema> {
        let target = self.schema(name.trim_start_matches('!'));
        let target = target.unwrap_or_else(|| leaf_schema("*"));
        match (&target.shape, name.starts_with('!')) {
            (Shape::Struct(inner), true) => Arc::new(Schema::of(Shape::Struct(Struct {
                atomic: true,
                ..inner.clone()
            }))),
            _ => target,
        }
    }

    fn read_map(&self, rest: &'static str) -> Arc<Schema> {
        Arc::new(Schema::of(Shape::Map {
            atomic: rest.starts_with('!'),
            values: self.read_type(rest.trim_start_matches('!')),
        }))
    }

    fn read_list(&self, rest: &'static str) -> Arc<Schema> {
        let (kind, item) = match rest.split_at(1) {
            ("=", item) => (ListKind::Set, item),
            ("<", keyed) => match keyed.split_once('>') {
                Some((keys, item)) => {
                    (ListKind::Map(keys.split(',').map(read_key).collect()), item)
                }
                None => (ListKind::Atomic, keyed),
            },
            _ => (ListKind::Atomic, rest),
        };
        let items = self.read_type(item);
        Arc::new(Schema::of(Shape::List { items, kind }))
    }
}

/// The head of the next type, its field lines, and what follows.
fn next_type(text: &'static str) -> Option<(&'static str, &'static str, &'static str)> {
    let mut text = text;
    while text.starts_with('#') {
        text = text.split_once('\n')?.1;
    }
    let (head, rest) = text.split_once('\n')?;
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if !line.starts_with(' ') {
            break;
        }
        end += line.len();
    }
    Some((head, &rest[..end], &rest[end..]))
}

fn split_kind(text: &'static str) -> Option<(&'static str, &'static str, &'static str)> {
    let (group, rest) = text.split_once('/')?;
    let (version, kind) = rest.split_once('/')?;
    Some((group, version, kind))
}

/// The type as a field holds it.
fn held(schema: Arc<Schema>, encoding: Encoding) -> Arc<Schema> {
    match encoding {
        Encoding::OmitNull | Encoding::OmitEmpty => schema,
        Encoding::Zero | Encoding::Null => Arc::new(Schema {
            by_value: true,
            ..(*schema).clone()
        }),
    }
}

fn read_encoding(sign: &str) -> Encoding {
    match sign {
        "-" => Encoding::OmitEmpty,
        "+" => Encoding::Zero,
        "0" => Encoding::Null,
        _ => Encoding::OmitNull,
    }
}

fn read_strategy(text: &str) -> PatchStrategy {
    let (words, key) = text.split_once(':').unwrap_or((text, ""));
    PatchStrategy {
        merge: words.split(',').any(|word| word == "merge"),
        replace: words.split(',').any(|word| word == "replace"),
        key: key.into(),
    }
}

fn read_key(text: &str) -> ListKey {
    let (name, default) = match text.split_once(':') {
        Some((name, default)) => (name, serde_json::from_str(default).ok()),
        None => (text, None),
    };
    ListKey {
        name: name.into(),
        default,
    }
}

/// Leaves are the same everywhere, so that each is made once.
fn leaf_schema(sign: &str) -> Arc<Schema> {
    static LEAVES: LazyLock<BTreeMap<&'static str, Arc<Schema>>> = LazyLock::new(|| {
        let signs = ["s", "y", "i", "l", "n", "b", "q", "x", "t", "u", "*"];
        signs.map(|s| (s, Arc::new(make_leaf(s)))).into()
    });
    LEAVES
        .get(sign)
        .cloned()
        .unwrap_or_else(|| Arc::new(Schema::of(Shape::Any)))
}

fn make_leaf(sign: &str) -> Schema {
    let (scalar, format) = match sign {
        "s" => (Scalar::String, None),
        "y" => (Scalar::String, Some("byte")),
        "i" => (Scalar::Integer, Some("int32")),
        "l" => (Scalar::Integer, Some("int64")),
        "n" => (Scalar::Number, None),
        "b" => (Scalar::Boolean, None),
        "q" => (Scalar::Untyped, Some("quantity")),
        "x" => (Scalar::IntOrString, None),
        "t" => (Scalar::String, Some("date-time")),
        "u" => (Scalar::String, Some("date-time-micro")),
        _ => return Schema::of(Shape::Any),
    };
    let mut schema = Schema::of(Shape::Scalar(scalar));
    schema.limits = format.map(|format| {
        Box::new(Limits {
            format: Some(format.to_owned()),
            ..Limits::default()
        })
    });
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(schema: &Schema) -> &Struct {
        match &schema.resolved().shape {
            Shape::Struct(found) => found,
            other => panic!("not a struct: {other:?}"),
        }
    }

    fn at(schema: &Arc<Schema>, path: &[&str]) -> Arc<Schema> {
        path.iter()
            .fold(schema.clone(), |at, step| match &at.resolved().shape {
                Shape::List { items, .. } => items.clone(),
                Shape::Map { values, .. } => values.clone(),
                _ => fields(&at).fields[*step].clone(),
            })
    }

    #[test]
    fn every_type_of_the_table_can_be_read() {
        for name in TABLE.types.keys() {
            let schema = named(name).expect("a type of the table");
            assert!(!fields(schema).fields.is_empty(), "{name} has no fields");
        }
        assert!(TABLE.types.len() > 700);
        assert!(TABLE.kinds.len() > 100);
    }

    #[test]
    fn container_ports_merge_by_port_and_protocol_which_defaults_to_tcp() {
        let pod = builtin("", "v1", "Pod").expect("pods");
        let ports = at(&pod, &["spec", "containers", "", "ports"]);
        let Shape::List {
            kind: ListKind::Map(keys),
            ..
        } = &ports.shape
        else {
            panic!("not a list by keys")
        };
        let keys: Vec<_> = keys.iter().map(|k| (&*k.name, k.default.clone())).collect();
        let expected = [
            ("containerPort", Some(0.into())),
            ("protocol", Some("TCP".into())),
        ];
        assert_eq!(keys, expected);
    }

    #[test]
    fn selectors_are_atomic_and_labels_are_not() {
        let deployment = builtin("apps", "v1", "Deployment").expect("deployments");
        assert!(fields(&at(&deployment, &["spec", "selector"])).atomic);
        let labels = at(&deployment, &["metadata", "labels"]);
        assert!(matches!(labels.shape, Shape::Map { atomic: false, .. }));
    }

    #[test]
    fn recursive_types_go_through_their_name() {
        let crd = builtin("apiextensions.k8s.io", "v1", "CustomResourceDefinition").expect("CRDs");
        let root = at(&crd, &["spec", "versions", "", "schema", "openAPIV3Schema"]);
        assert!(matches!(root.shape, Shape::Named(_)));
        let deep = at(&root, &["properties", "", "properties", "", "type"]);
        assert_eq!(deep.shape, Shape::Scalar(Scalar::String));
    }
}
