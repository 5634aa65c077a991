//! What changed between two objects, field by field.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::check::TypeErrors;
use super::path::Step;
use super::scalar;
use super::set::FieldSet;
use super::types::{Form, List, Object, form};
use crate::schema::{Scalar, Schema, Shape};

/// The fields that a write removed, changed and added.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) removed: FieldSet,
    pub(crate) modified: FieldSet,
    pub(crate) added: FieldSet,
}

impl Changes {
    pub(crate) fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }

    /// Everything that has a new value.
    pub(crate) fn written(self) -> FieldSet {
        self.modified.union(self.added)
    }

    fn insert(&mut self, step: &Step, change: Change) {
        let Change { own, below } = change;
        let put = |set: &mut FieldSet, mark: Mark, below: FieldSet| {
            if own == Some(mark) || !below.is_empty() {
                set.insert(step.clone(), own == Some(mark), below);
            }
        };
        put(&mut self.removed, Mark::Removed, below.removed);
        put(&mut self.modified, Mark::Modified, below.modified);
        put(&mut self.added, Mark::Added, below.added);
    }

    fn join(self, other: Self) -> Self {
        Self {
            removed: self.removed.union(other.removed),
            modified: self.modified.union(other.modified),
            added: self.added.union(other.added),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Removed,
    Modified,
    Added,
}

/// What happened to one value and to what is beneath it.
#[derive(Debug, Default)]
struct Change {
    own: Option<Mark>,
    below: Changes,
}

/// Two sides of one field; never absent on both.
type Sides<'a> = (Option<&'a Value>, Option<&'a Value>);

/// Compares an object before and after a write.
pub(crate) fn compare(schema: &Schema, old: &Value, new: &Value) -> Result<Changes, TypeErrors> {
    Ok(walk(schema, (Some(old), Some(new)))?.below)
}

fn walk(schema: &Schema, sides: Sides<'_>) -> Result<Change, TypeErrors> {
    let (old, new) = sides;
    let after = walk_as(form(schema, new.or(old)), sides)?;
    let retyped = matches!(schema.shape, Shape::Any)
        && matches!((old, new), (Some(old), Some(new)) if !alike(old, new));
    if !retyped {
        return Ok(after);
    }
    // Without a schema a field may turn from a leaf into an object: both readings count.
    let before = walk_as(form(schema, old), sides)?;
    Ok(Change {
        own: before.own.or(after.own),
        below: before.below.join(after.below),
    })
}

/// Whether two values take the same form without a schema.
fn alike(old: &Value, new: &Value) -> bool {
    let leaf = |value: &Value| value.is_string() || value.is_number() || value.is_boolean();
    (leaf(old) && leaf(new)) || std::mem::discriminant(old) == std::mem::discriminant(new)
}

fn walk_as(form: Form<'_>, sides: Sides<'_>) -> Result<Change, TypeErrors> {
    let below = match form {
        Form::Leaf(_) => return Ok(leaf(sides)),
        Form::Object(object) => match (object.is_atomic(), fields(sides.0), fields(sides.1)) {
            (true, _, _) | (_, None, None) => return Ok(leaf(sides)),
            (false, old, new) => of_object(object, sides, old, new)?,
        },
        Form::List(list) => match (list.is_atomic(), items(sides.0), items(sides.1)) {
            (true, _, _) | (_, [], []) => return Ok(leaf(sides)),
            (false, old, new) => of_list(list, old, new)?,
        },
    };
    let own = match sides {
        (None, _) => Some(Mark::Added),
        (_, None) => Some(Mark::Removed),
        (Some(_), Some(_)) => None,
    };
    Ok(Change { own, below })
}

/// The fields of one side, if it has any.
fn fields(side: Option<&Value>) -> Option<&Map<String, Value>> {
    side.and_then(Value::as_object)
        .filter(|fields| !fields.is_empty())
}

fn items(side: Option<&Value>) -> &[Value] {
    side.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn leaf(sides: Sides<'_>) -> Change {
    let own = match sides {
        (None, _) => Some(Mark::Added),
        (_, None) => Some(Mark::Removed),
        (Some(old), Some(new)) => (!scalar::same(old, new)).then_some(Mark::Modified),
    };
    Change {
        own,
        below: Changes::default(),
    }
}

fn of_object(
    object: Object<'_>,
    around: Sides<'_>,
    old: Option<&Map<String, Value>>,
    new: Option<&Map<String, Value>>,
) -> Result<Changes, TypeErrors> {
    let mut changes = Changes::default();
    let mut visit = |name: &String, old: Option<&Value>, new: Option<&Value>| {
        let schema = object.field_or_any(name);
        // What is held by value is there as soon as the object around it is.
        let held = |around: Option<&Value>| around.filter(|_| schema.by_value).and(blank(schema));
        let sides = (
            old.or_else(|| held(around.0)),
            new.or_else(|| held(around.1)),
        );
        let change =
            walk(schema, sides).map_err(|errors| errors.beneath(&format_args!(".{name}")))?;
        if change.own.is_some() || !change.below.is_empty() {
            changes.insert(&Step::field(name), change);
        }
        Ok(())
    };
    for (name, value) in new.into_iter().flatten() {
        visit(name, old.and_then(|old| old.get(name)), Some(value))?;
    }
    for (name, value) in old.into_iter().flatten() {
        if new.is_none_or(|new| !new.contains_key(name)) {
            visit(name, Some(value), None)?;
        }
    }
    Ok(changes)
}

/// What an absent field reads as that is held by value.
fn blank(schema: &Schema) -> Option<&'static Value> {
    static NULL: Value = Value::Null;
    static FALSE: Value = Value::Bool(false);
    static EMPTY: LazyLock<Value> = LazyLock::new(|| Value::Object(Map::new()));
    static TEXT: Value = Value::String(String::new());
    static ZERO: LazyLock<Value> = LazyLock::new(|| Value::from(0));
    match &schema.resolved().shape {
        Shape::Struct(_) => Some(&EMPTY),
        Shape::Scalar(Scalar::String) if is_time(schema) => Some(&NULL),
        Shape::Scalar(Scalar::String) => Some(&TEXT),
        Shape::Scalar(Scalar::Boolean) => Some(&FALSE),
        Shape::Scalar(Scalar::Integer | Scalar::Number) => Some(&ZERO),
        Shape::Scalar(Scalar::IntOrString | Scalar::Untyped) => None,
        Shape::Map { .. } | Shape::List { .. } | Shape::Any | Shape::Named(_) => Some(&NULL),
    }
}

/// Times are held as structs that have no text when they are not set.
fn is_time(schema: &Schema) -> bool {
    let limits = schema.resolved().limits.as_ref();
    limits
        .and_then(|limits| limits.format.as_deref())
        .is_some_and(|format| format.starts_with("date-time"))
}

/// All items of one identity on both sides; more than one on a side is a duplicate.
#[derive(Default)]
struct Items<'a> {
    old: Vec<&'a Value>,
    new: Vec<&'a Value>,
}

fn of_list(list: List<'_>, old: &[Value], new: &[Value]) -> Result<Changes, TypeErrors> {
    let mut changes = Changes::default();
    if old == new {
        return Ok(changes);
    }
    for (step, items) in by_step(list, old, new)? {
        let mut visit = |old: Option<&Value>, new: Option<&Value>| {
            let change = walk(list.items, (old, new)).map_err(|errors| errors.beneath(&step))?;
            changes.insert(&step, change);
            Ok(())
        };
        let mark = match (&items.old[..], &items.new[..]) {
            ([] | [_], [] | [_]) => {
                visit(items.old.first().copied(), items.new.first().copied())?;
                continue;
            }
            ([_, _, ..], [_, _, ..]) if items.old == items.new => continue,
            ([_, _, ..], [_, _, ..]) => Mark::Modified,
            ([_, _, ..], once) => {
                once.first()
                    .map_or(Ok(()), |item| visit(None, Some(item)))?;
                Mark::Removed
            }
            (once, _) => {
                once.first()
                    .map_or(Ok(()), |item| visit(Some(item), None))?;
                Mark::Added
            }
        };
        changes.insert(
            &step,
            Change {
                own: Some(mark),
                below: Changes::default(),
            },
        );
    }
    Ok(changes)
}

fn by_step<'a>(
    list: List<'_>,
    old: &'a [Value],
    new: &'a [Value],
) -> Result<BTreeMap<Step, Items<'a>>, TypeErrors> {
    let mut found: BTreeMap<Step, Items<'a>> = BTreeMap::new();
    let step = |index, item| {
        list.step(index, item)
            .map_err(|error| TypeErrors::one(format_args!("element {index}: {error}")))
    };
    for (index, item) in old.iter().enumerate() {
        found.entry(step(index, item)?).or_default().old.push(item);
    }
    for (index, item) in new.iter().enumerate() {
        found.entry(step(index, item)?).or_default().new.push(item);
    }
    Ok(found)
}
