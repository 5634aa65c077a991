//! Rules in CEL (`x-kubernetes-validations`) and the objects that must keep them.
//!
//! The rules of a schema are a tree of their own, so that only values are visited that some rule
//! is about. A rule that names `oldSelf` is about a change: it is asked only where the value before
//! it is known.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::field_path;
use crate::cel::{Declared, Expression, Variable};
use crate::field_error::{ErrorKind, FieldError, Path};
use crate::schema::{ListKey, ListKind, Schema, Shape};

/// The longest message that an expression may make.
const LONGEST_MESSAGE: usize = 5 * 1024;

/// The rules about values of one schema, and those about what is inside of them.
pub(super) struct Rules {
    schema: Arc<Schema>,
    own: Vec<Rule>,
    fields: BTreeMap<Arc<str>, Rules>,
    /// Those about every value of a map, or every item of a list.
    each: Option<Box<Rules>>,
}

/// What objects do against the rules.
#[derive(Default)]
pub(super) struct Broken {
    pub(super) errors: Vec<FieldError>,
    /// Faults of values that were as wrong before, which are tolerated.
    pub(super) tolerated: Vec<FieldError>,
}

/// A value, and what is known of the one before it.
#[derive(Clone, Copy)]
struct Change<'a> {
    new: &'a Value,
    old: Option<&'a Value>,
    /// Whether the nearest value of which that is known is as it was.
    unchanged: bool,
}

impl Rules {
    /// The rules of a schema; nothing when there are none.
    pub(super) fn of(schema: &Arc<Schema>, root: bool) -> Option<Self> {
        let written = schema.limits.iter().flat_map(|limits| &limits.rules);
        let mut rules = Self {
            own: written.map(|rule| Rule::new(rule, schema, root)).collect(),
            fields: BTreeMap::new(),
            each: None,
            schema: schema.clone(),
        };
        match &schema.shape {
            Shape::Struct(known) => {
                let fields = known.fields.iter();
                let fields = fields
                    .filter_map(|(name, field)| Some((name.clone(), Self::of(field, false)?)));
                rules.fields = fields.collect();
            }
            Shape::Map { values: inner, .. } | Shape::List { items: inner, .. } => {
                rules.each = Self::of(inner, false).map(Box::new);
            }
            _ => {}
        }
        let some = !rules.own.is_empty() || !rules.fields.is_empty() || rules.each.is_some();
        some.then_some(rules)
    }

    /// What is wrong with an object.
    pub(super) fn check(&self, new: &Value, old: Option<&Value>) -> Broken {
        let mut broken = Broken::default();
        let change = Change {
            new,
            old,
            unchanged: old == Some(new),
        };
        self.walk(change, &Path::root(), &mut broken);
        broken
    }

    fn walk(&self, change: Change<'_>, path: &Path<'_>, broken: &mut Broken) {
        if change.new.is_null() {
            return;
        }
        for rule in &self.own {
            if let Some(fault) = rule.fault(change, path, &self.schema) {
                let tolerated = change.unchanged && !rule.is_about_changes();
                match tolerated {
                    true => broken.tolerated.push(fault),
                    false => broken.errors.push(fault),
                }
            }
        }
        match change.new {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let change = change.to(value, change.old.and_then(|old| old.get(name)));
                    if let Some(rules) = self.fields.get(name.as_str()) {
                        rules.walk(change, &path.child(name), broken);
                    } else if let Some(rules) = &self.each {
                        rules.walk(change, &path.key(name), broken);
                    }
                }
            }
            Value::Array(items) => self.walk_items(items, change, path, broken),
            _ => {}
        }
    }

    fn walk_items(
        &self,
        items: &[Value],
        change: Change<'_>,
        path: &Path<'_>,
        broken: &mut Broken,
    ) {
        let Some(rules) = &self.each else { return };
        for (index, item) in items.iter().enumerate() {
            let old = change.old.and_then(|old| self.item_before(item, old));
            rules.walk(change.to(item, old), &path.index(index), broken);
        }
    }

    /// Items are known again by their keys only.
    fn item_before<'a>(&self, item: &Value, old: &'a Value) -> Option<&'a Value> {
        let Shape::List {
            kind: ListKind::Map(keys),
            ..
        } = &self.schema.shape
        else {
            return None;
        };
        let same = |other: &&Value| {
            keys.iter()
                .all(|key| key_value(item, key) == key_value(other, key))
        };
        old.as_array()?.iter().find(same)
    }
}

fn key_value<'a>(item: &'a Value, key: &'a ListKey) -> Option<&'a Value> {
    item.get(&*key.name).or(key.default.as_ref())
}

impl<'a> Change<'a> {
    /// The change of something inside.
    fn to(self, new: &'a Value, old: Option<&'a Value>) -> Self {
        let unchanged = old.map_or(self.unchanged, |old| old == new);
        Self {
            new,
            old,
            unchanged,
        }
    }
}

/// One rule, compiled when it is first asked.
struct Rule {
    text: String,
    message: String,
    message_expression: String,
    reason: ErrorKind,
    field_path: String,
    optional_old: bool,
    declared: Declared,
    compiled: OnceLock<Compiled>,
}

struct Compiled {
    rule: Result<Expression, String>,
    message: Option<Expression>,
}

impl Rule {
    fn new(rule: &Value, schema: &Schema, root: bool) -> Self {
        let text = |name: &str| rule[name].as_str().unwrap_or_default().trim().to_owned();
        Self {
            text: text("rule"),
            message: text("message"),
            message_expression: text("messageExpression"),
            reason: reason(rule["reason"].as_str()),
            field_path: field_path::normal(&text("fieldPath"), schema).unwrap_or_default(),
            optional_old: rule["optionalOldSelf"] == true,
            declared: Declared::of_schema(schema, root),
            compiled: OnceLock::new(),
        }
    }

    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| {
            let scope = scope(&self.declared, self.optional_old);
            let message = match self.message_expression.as_str() {
                "" => None,
                text => Expression::compile(text, &scope).ok(),
            };
            Compiled {
                rule: Expression::compile(&self.text, &scope),
                message,
            }
        })
    }

    fn is_about_changes(&self) -> bool {
        let rule = &self.compiled().rule;
        rule.as_ref().is_ok_and(|rule| rule.uses("oldSelf"))
    }

    /// What a value does against the rule.
    fn fault(&self, change: Change<'_>, path: &Path<'_>, schema: &Schema) -> Option<FieldError> {
        let refuse = |detail| FieldError::invalid(path, type_name(schema), detail);
        let rule = match &self.compiled().rule {
            Ok(rule) => rule,
            Err(why) => {
                return Some(refuse(format!(
                    "rule compile error: compilation failed: {why}"
                )));
            }
        };
        if rule.uses("oldSelf") && change.old.is_none() && !self.optional_old {
            return None;
        }
        match rule.evaluate(&self.variables(change, schema)) {
            Ok(Value::Bool(true)) => None,
            Ok(_) => Some(self.refusal(change, path, schema)),
            Err(why) if why.starts_with("no such overload") => Some(refuse(format!(
                "'{why}': call arguments did not match a supported operator, function or macro \
                 signature for rule: {}",
                self.name()
            ))),
            Err(why) => Some(refuse(format!("{why} evaluating rule: {}", self.name()))),
        }
    }

    fn variables<'a>(
        &self,
        change: Change<'a>,
        schema: &'a Schema,
    ) -> Vec<(&'static str, Variable<'a>)> {
        let mut variables = vec![("self", Variable::Plain(change.new, Some(schema)))];
        if self.optional_old {
            variables.push(("oldSelf", Variable::Optional(change.old, Some(schema))));
        } else if let Some(old) = change.old {
            variables.push(("oldSelf", Variable::Plain(old, Some(schema))));
        }
        variables
    }

    fn refusal(&self, change: Change<'_>, path: &Path<'_>, schema: &Schema) -> FieldError {
        let made = self.made_message(change, schema);
        let detail = made.unwrap_or_else(|| match self.message.as_str() {
            "" => format!("failed rule: {}", self.text),
            message => message.to_owned(),
        });
        // Objects and lists are not shown.
        let shown = !matches!(change.new, Value::Object(_) | Value::Array(_));
        let value = shown.then(|| change.new.clone());
        let at = path.child(&self.field_path);
        let path = if self.field_path.is_empty() {
            path
        } else {
            &at
        };
        let detail = if self.reason == ErrorKind::Duplicate {
            String::new()
        } else {
            detail
        };
        FieldError::new(self.reason, path, value, detail)
    }

    /// What the message's own expression says, if it says something usable.
    fn made_message(&self, change: Change<'_>, schema: &Schema) -> Option<String> {
        let expression = self.compiled().message.as_ref()?;
        let made = expression.evaluate(&self.variables(change, schema)).ok()?;
        let made = made.as_str()?.trim();
        let usable = !made.is_empty() && !made.contains('\n') && made.len() <= LONGEST_MESSAGE;
        usable.then(|| made.to_owned())
    }

    /// How messages call the rule.
    fn name(&self) -> &str {
        if self.message.is_empty() {
            &self.text
        } else {
            &self.message
        }
    }
}

/// What rules of a type can name.
pub(super) fn scope(declared: &Declared, optional_old: bool) -> [(&'static str, Declared); 2] {
    let old = match optional_old {
        true => declared.clone().optional(),
        false => declared.clone(),
    };
    [("self", declared.clone()), ("oldSelf", old)]
}

fn reason(text: Option<&str>) -> ErrorKind {
    match text {
        Some("FieldValueForbidden") => ErrorKind::Forbidden,
        Some("FieldValueRequired") => ErrorKind::Required,
        Some("FieldValueDuplicate") => ErrorKind::Duplicate,
        _ => ErrorKind::Invalid,
    }
}

fn type_name(schema: &Schema) -> &'static str {
    use crate::schema::Scalar;
    match &schema.shape {
        Shape::Scalar(Scalar::String) => "string",
        Shape::Scalar(Scalar::Integer) => "integer",
        Shape::Scalar(Scalar::Number) => "number",
        Shape::Scalar(Scalar::Boolean) => "boolean",
        Shape::Struct(_) | Shape::Map { .. } => "object",
        Shape::List { .. } => "array",
        _ => "",
    }
}
