//! What a compiler finds before anything runs: names that nobody declared, types that do not fit,
//! and the most that an expression can cost.

use std::sync::Arc;

use cel::Program;
use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, SelectExpr, SourceInfo,
};
use cel::parser::Expression as Node;

use super::cost;
use super::signatures::{self, Signature};
use super::types::{Declared, Kind};

/// A part of an expression that was found in order.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) declared: Declared,
    pub(super) cost: u64,
}

/// Where a fault is, by line and column, and what it is.
pub(super) type Fault = ((usize, usize), String);

/// Checks a parsed expression over variables of these types.
pub(super) fn check(
    program: &Program,
    variables: &[(&str, Declared)],
) -> Result<Checked, Vec<Fault>> {
    let variables = variables
        .iter()
        .map(|(name, declared)| ((*name).to_owned(), declared.clone()));
    let mut checker = Checker {
        source: program.source_info(),
        variables: variables.collect(),
        faults: Vec::new(),
    };
    let checked = checker.node(program.expression());
    match checker.faults.is_empty() {
        true => Ok(checked),
        false => Err(checker.faults),
    }
}

/// Faults with the lines that they are in, as the real compiler prints them.
pub(super) fn report(text: &str, faults: impl Iterator<Item = Fault>) -> String {
    let shown = faults.map(|((line, column), fault)| {
        let source = text.lines().nth(line - 1).unwrap_or_default();
        let mark = format!("{}^", ".".repeat(column.saturating_sub(1)));
        format!("ERROR: <input>:{line}:{column}: {fault}\n | {source}\n | {mark}")
    });
    shown.collect::<Vec<_>>().join("\n")
}

struct Checker<'a> {
    source: &'a SourceInfo,
    variables: Vec<(String, Declared)>,
    faults: Vec<Fault>,
}

impl Checker<'_> {
    fn node(&mut self, node: &Node) -> Checked {
        match &node.expr {
            Expr::Literal(literal) => Checked {
                declared: of_literal(literal),
                cost: 0,
            },
            Expr::Ident(name) => self.name(node, name),
            Expr::Select(select) => self.select(node, select),
            Expr::Call(call) => self.call(node, call),
            Expr::List(list) => self.list(&list.elements),
            Expr::Map(map) => self.entries(map.entries.iter().map(|entry| &entry.expr), cost::MAP),
            Expr::Struct(found) => {
                self.entries(found.entries.iter().map(|entry| &entry.expr), cost::STRUCT)
            }
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::Unspecified => Checked {
                declared: Declared::any(),
                cost: 0,
            },
        }
    }

    /// Notes a fault; the type of what is wrong could be any.
    fn fault(&mut self, node: &Node, fault: String) -> Checked {
        let start = self
            .source
            .offset_for(node.id)
            .map_or(0, |(start, _)| start as usize);
        let before: String = self.source.source.chars().take(start).collect();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        self.faults.push(((line, column), fault));
        Checked {
            declared: Declared::any(),
            cost: 0,
        }
    }

    fn variable(&self, name: &str) -> Option<&Declared> {
        let mut known = self.variables.iter().rev();
        known
            .find(|(known, _)| known == name)
            .map(|(_, declared)| declared)
    }

    fn name(&mut self, node: &Node, name: &str) -> Checked {
        const TYPES: [&str; 9] = [
            "bool",
            "int",
            "uint",
            "double",
            "string",
            "bytes",
            "list",
            "map",
            "null_type",
        ];
        match self.variable(name) {
            Some(declared) => Checked {
                declared: declared.clone(),
                cost: 1,
            },
            None if TYPES.contains(&name) => Checked {
                declared: Declared::unlimited(Kind::Type),
                cost: 1,
            },
            None => self.undeclared(node, name),
        }
    }

    fn undeclared(&mut self, node: &Node, name: &str) -> Checked {
        self.fault(
            node,
            format!("undeclared reference to '{name}' (in container '')"),
        )
    }

    fn select(&mut self, node: &Node, select: &SelectExpr) -> Checked {
        let operand = self.node(&select.operand);
        let step = u64::from(!select.test);
        let found = match field(&operand.declared, &select.field) {
            Ok(found) => found,
            Err(fault) => return self.fault(node, fault),
        };
        let declared = match select.test {
            true => Declared::unlimited(Kind::Bool),
            false => found,
        };
        Checked {
            declared,
            cost: operand.cost.saturating_add(step),
        }
    }

    fn list(&mut self, elements: &[Node]) -> Checked {
        let mut cost = cost::LIST;
        let mut item: Option<Declared> = None;
        for element in elements {
            let checked = self.node(element);
            cost = cost.saturating_add(checked.cost);
            item = Some(match item {
                None => checked.declared,
                Some(before) => either(&before, &checked.declared),
            });
        }
        let item = item.unwrap_or_else(Declared::any);
        let kind = Kind::List(Arc::new(item));
        Checked {
            declared: Declared::of(kind, elements.len() as u64, 2),
            cost,
        }
    }

    fn entries<'e>(&mut self, entries: impl Iterator<Item = &'e EntryExpr>, base: u64) -> Checked {
        let mut cost = base;
        let (mut key, mut value) = (Declared::any(), Declared::any());
        for entry in entries {
            match entry {
                EntryExpr::StructField(field) => value = self.node(&field.value).declared,
                EntryExpr::MapEntry(entry) => {
                    let (one, two) = (self.node(&entry.key), self.node(&entry.value));
                    cost = cost.saturating_add(one.cost).saturating_add(two.cost);
                    (key, value) = (one.declared, two.declared);
                }
            }
        }
        let kind = Kind::Map(Arc::new(key), Arc::new(value));
        Checked {
            declared: Declared::unlimited(kind),
            cost,
        }
    }

    fn comprehension(&mut self, found: &ComprehensionExpr) -> Checked {
        let range = self.node(&found.iter_range);
        let start = self.node(&found.accu_init);
        let known = self.variables.len();
        self.variables
            .push((found.accu_var.clone(), start.declared.clone()));
        let (first, second) = of_elements(&range.declared.kind);
        self.variables.push((found.iter_var.clone(), first));
        self.variables
            .extend(found.iter_var2.clone().map(|name| (name, second)));
        let condition = self.node(&found.loop_cond);
        let step = self.node(&found.loop_step);
        self.variables.truncate(known);
        let mut result_type = either(&start.declared, &step.declared);
        if let Kind::List(_) = result_type.kind {
            result_type.most = range.declared.most;
        }
        self.variables.push((found.accu_var.clone(), result_type));
        let result = self.node(&found.result);
        self.variables.truncate(known);
        let each = condition.cost.saturating_add(step.cost);
        let loops = range.declared.most.saturating_mul(each);
        let costs = [range.cost, start.cost, loops, result.cost];
        Checked {
            declared: result.declared,
            cost: costs.into_iter().fold(0, u64::saturating_add),
        }
    }

    fn call(&mut self, node: &Node, call: &CallExpr) -> Checked {
        if let ("_?._", [operand, name]) = (call.func_name.as_str(), call.args.as_slice()) {
            return self.optional_select(node, operand, name);
        }
        let (name, target) = match &call.target {
            Some(target) => match self.namespaced(target, &call.func_name) {
                Some(name) => (name, None),
                None => (call.func_name.clone(), Some(target)),
            },
            None => (call.func_name.clone(), None),
        };
        let given: Vec<&Node> = target
            .map(AsRef::as_ref)
            .into_iter()
            .chain(&call.args)
            .collect();
        let given: Vec<Checked> = given.into_iter().map(|node| self.node(node)).collect();
        let Some(signatures) = signatures::of(&name) else {
            return self.undeclared(node, &name);
        };
        let arguments: Vec<&Declared> = given.iter().map(|checked| &checked.declared).collect();
        match result_of(signatures, target.is_some(), &name, &arguments) {
            Some(declared) => {
                let own = cost::of_call(&name, &arguments);
                let spent = given
                    .iter()
                    .map(|checked| checked.cost)
                    .fold(own, u64::saturating_add);
                Checked {
                    declared,
                    cost: spent,
                }
            }
            None => {
                let shown = applied_to(target.is_some(), &arguments);
                self.fault(
                    node,
                    format!("found no matching overload for '{name}' applied to '{shown}'"),
                )
            }
        }
    }

    /// `sets.contains` is a name, unless `sets` is a variable.
    fn namespaced(&self, target: &Node, function: &str) -> Option<String> {
        let Expr::Ident(space) = &target.expr else {
            return None;
        };
        let free = self.variable(space).is_none() && signatures::is_namespace(space);
        free.then(|| format!("{space}.{function}"))
    }

    fn optional_select(&mut self, node: &Node, operand: &Node, name: &Node) -> Checked {
        let operand = self.node(operand);
        let Expr::Literal(LiteralValue::String(name)) = &name.expr else {
            return self.fault(node, "unsupported optional field selection".into());
        };
        let inner = match &operand.declared.kind {
            Kind::Optional(inner) => inner.as_ref(),
            _ => &operand.declared,
        };
        match field(inner, name.inner()) {
            Ok(found) => Checked {
                declared: found.optional(),
                cost: operand.cost.saturating_add(1),
            },
            Err(fault) => self.fault(node, fault),
        }
    }
}

fn of_literal(literal: &LiteralValue) -> Declared {
    let (kind, size) = match literal {
        LiteralValue::Boolean(_) => (Kind::Bool, 1),
        LiteralValue::Double(_) => (Kind::Double, 1),
        LiteralValue::Int(_) => (Kind::Int, 1),
        LiteralValue::UInt(_) => (Kind::Uint, 1),
        LiteralValue::Null => (Kind::Null, 1),
        LiteralValue::Bytes(bytes) => (Kind::Bytes, bytes.inner().len()),
        LiteralValue::String(text) => (Kind::String, text.inner().chars().count()),
    };
    Declared::of(kind, size as u64, 1)
}

fn field(of: &Declared, name: &str) -> Result<Declared, String> {
    match &of.kind {
        Kind::Dyn | Kind::Parameter(_) => Ok(Declared::any()),
        Kind::Map(_, values) => Ok(values.as_ref().clone()),
        Kind::Object(fields) => {
            let found = fields.get(name).cloned();
            found.ok_or_else(|| format!("undefined field '{name}'"))
        }
        Kind::Optional(inner) => field(inner, name).map(Declared::optional),
        other => Err(format!("type '{other}' does not support field selection")),
    }
}

/// What a loop goes through: items, or keys; and with two variables, places or keys with values.
fn of_elements(kind: &Kind) -> (Declared, Declared) {
    match kind {
        Kind::List(items) => (items.as_ref().clone(), items.as_ref().clone()),
        Kind::Map(keys, values) => (keys.as_ref().clone(), values.as_ref().clone()),
        _ => (Declared::any(), Declared::any()),
    }
}

/// A type that both fit.
fn either(one: &Declared, two: &Declared) -> Declared {
    let most = one.most.max(two.most);
    match (&one.kind, &two.kind) {
        (Kind::List(item), Kind::List(_)) if item.kind == Kind::Dyn => Declared {
            most,
            ..two.clone()
        },
        (Kind::Dyn, _) | (_, Kind::Dyn) => Declared {
            most,
            ..Declared::any()
        },
        (a, b) if a == b => Declared {
            most,
            ..one.clone()
        },
        (Kind::Object(_), Kind::Object(_)) | (Kind::List(_), Kind::List(_)) => Declared {
            most,
            ..one.clone()
        },
        _ => Declared {
            most,
            ..Declared::any()
        },
    }
}

/// What a call returns, by those signatures that its arguments fit.
fn result_of(
    signatures: &[Signature],
    member: bool,
    name: &str,
    arguments: &[&Declared],
) -> Option<Declared> {
    let mut results = signatures
        .iter()
        .filter(|known| known.member == member)
        .filter_map(|known| {
            let mut found = Bindings::default();
            let fits = known.parameters.len() == arguments.len()
                && known
                    .parameters
                    .iter()
                    .zip(arguments)
                    .all(|(wanted, given)| found.fit(wanted, given));
            fits.then(|| found.fill(&known.result))
        });
    let mut declared = results.next()?;
    if results.any(|other| other.kind != declared.kind) {
        declared = Declared::any();
    }
    declared.most = declared.most.min(cost::size_of_result(name, arguments));
    Some(declared)
}

/// What the parameters of a signature turn out to be.
#[derive(Default)]
struct Bindings(Vec<(char, Declared)>);

impl Bindings {
    fn fit(&mut self, wanted: &Kind, given: &Declared) -> bool {
        match (wanted, &given.kind) {
            (Kind::Parameter(name), _) => self.bind(*name, given),
            (Kind::Dyn, _) | (_, Kind::Dyn | Kind::Parameter(_)) => true,
            (Kind::List(wanted), Kind::List(given)) => self.fit(&wanted.kind, given),
            (Kind::Optional(wanted), Kind::Optional(given)) => self.fit(&wanted.kind, given),
            (Kind::Map(key, value), Kind::Map(given_key, given_value)) => {
                self.fit(&key.kind, given_key) && self.fit(&value.kind, given_value)
            }
            (wanted, given) => wanted == given,
        }
    }

    fn bind(&mut self, name: char, given: &Declared) -> bool {
        let Some((_, bound)) = self.0.iter_mut().find(|(known, _)| *known == name) else {
            self.0.push((name, given.clone()));
            return true;
        };
        let fits = same(&bound.kind, &given.kind);
        *bound = either(bound, given);
        fits
    }

    fn fill(&self, result: &Kind) -> Declared {
        let inner = |kind: &Declared| Arc::new(self.fill(&kind.kind));
        match result {
            Kind::Parameter(name) => {
                let bound = self.0.iter().find(|(known, _)| known == name);
                bound.map_or_else(Declared::any, |(_, declared)| declared.clone())
            }
            Kind::List(item) => Declared::unlimited(Kind::List(inner(item))),
            Kind::Optional(value) => Declared::unlimited(Kind::Optional(inner(value))),
            Kind::Map(key, value) => Declared::unlimited(Kind::Map(inner(key), inner(value))),
            other => Declared::unlimited(other.clone()),
        }
    }
}

/// Whether values of two types can be compared.
fn same(one: &Kind, two: &Kind) -> bool {
    match (one, two) {
        (Kind::Dyn | Kind::Parameter(_), _) | (_, Kind::Dyn | Kind::Parameter(_)) => true,
        (Kind::List(one), Kind::List(two)) | (Kind::Optional(one), Kind::Optional(two)) => {
            same(&one.kind, &two.kind)
        }
        (Kind::Map(key, value), Kind::Map(other_key, other_value)) => {
            same(&key.kind, &other_key.kind) && same(&value.kind, &other_value.kind)
        }
        (Kind::Object(_), Kind::Object(_)) => true,
        // Objects that are literals are maps.
        (Kind::Object(_), Kind::Map(..)) | (Kind::Map(..), Kind::Object(_)) => true,
        (one, two) => one == two,
    }
}

fn applied_to(member: bool, arguments: &[&Declared]) -> String {
    let names: Vec<String> = arguments
        .iter()
        .map(|given| given.kind.to_string())
        .collect();
    match (member, names.split_first()) {
        (true, Some((target, rest))) => format!("{target}.({})", rest.join(", ")),
        _ => format!("({})", names.join(", ")),
    }
}
