//! What can be wrong with the rules of a definition: their form, their expressions, their cost.

use serde_json::Value;

use super::{field_path, rules, schema};
use crate::builtin::{At, Faults};
use crate::cel::{Declared, Expression};
use crate::field_error::FieldError;

/// What one rule, and all rules of a schema together, may cost.
const RULE_LIMIT: u64 = 10_000_000;
const SCHEMA_LIMIT: u64 = 100_000_000;

const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

/// The form of one node's rules.
pub(super) fn check_form(node: &At<'_>, faults: &mut Faults) {
    for rule in node.field("x-kubernetes-validations").items() {
        check_texts(&rule, faults);
        let reason = rule.field("reason");
        if reason.is_set() && !REASONS.contains(&reason.text()) {
            faults.add(reason.not_supported(&REASONS));
        }
        let path = rule.field("fieldPath");
        if !path.text().is_empty() {
            check_path(&path, node.value, faults);
        }
    }
}

fn check_texts(rule: &At<'_>, faults: &mut Faults) {
    let broken = |text: &str| text.trim().contains(['\n', '\r']);
    let blank = |text: &str| !text.is_empty() && text.trim().is_empty();
    let (text, message) = (rule.field("rule"), rule.field("message"));
    if text.text().trim().is_empty() {
        faults.add(text.required("rule is not specified"));
    } else if blank(message.text()) {
        faults.add(message.invalid("must be non-empty if specified"));
    } else if broken(message.text()) {
        faults.add(message.invalid("must not contain line breaks"));
    } else if broken(text.text()) && message.text().is_empty() {
        faults.add(message.required("message must be specified if rule contains line breaks"));
    }
    let expression = rule.field("messageExpression");
    if blank(expression.text()) {
        faults.add(expression.required("messageExpression must be non-empty if specified"));
    }
}

fn check_path(path: &At<'_>, node: &Value, faults: &mut Faults) {
    if path.text().trim().is_empty() {
        faults.add(path.invalid("must be non-empty if specified"));
    }
    if path.text().contains(['\n', '\r']) {
        faults.add(path.invalid("must not contain line breaks"));
    }
    if field_path::normal(path.text(), &schema::read(node)).is_none() {
        faults.add(path.invalid("must be a valid path"));
    }
}

/// The expressions of a whole schema that is otherwise in order.
pub(super) fn check_expressions(root: &At<'_>, faults: &mut Faults) {
    let mut costs = Costs::default();
    let place = Place {
        root: true,
        times: Some(1),
        apart: None,
    };
    walk(root, &place, &mut costs, faults);
    costs.check_total(root, faults);
}

/// Where in a schema a node stands.
struct Place {
    root: bool,
    /// How many values of the node there can be in one object, if that is limited.
    times: Option<u64>,
    /// The nearest list around it whose items cannot be known again after a change.
    apart: Option<String>,
}

#[derive(Default)]
struct Costs {
    total: u64,
    dearest: Vec<(String, u64)>,
}

impl Costs {
    fn note(&mut self, path: String, cost: u64) {
        const KEPT: usize = 4;
        self.total = self.total.saturating_add(cost);
        if cost < SCHEMA_LIMIT / 100 {
            return;
        }
        self.dearest.push((path, cost));
        self.dearest
            .sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
        self.dearest.truncate(KEPT);
    }

    fn check_total(&self, root: &At<'_>, faults: &mut Faults) {
        if self.total <= SCHEMA_LIMIT {
            return;
        }
        for (path, _) in &self.dearest {
            let words = "contributed to estimated rule cost total exceeding cost limit for entire \
                         OpenAPIv3 schema";
            faults.add(FieldError::forbidden(
                &crate::field_error::Path::field(path),
                words,
            ));
        }
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        faults.add(root.forbidden(too_dear(what, self.total, SCHEMA_LIMIT)));
    }
}

#[expect(clippy::cast_precision_loss, reason = "only a rough factor is shown")]
fn too_dear(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = match factor {
        100.0.. => "more than 100x".to_owned(),
        ..1.5 => format!("{factor:.6}x"),
        _ => format!("{factor:.1}x"),
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, \
         maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}

fn walk(node: &At<'_>, place: &Place, costs: &mut Costs, faults: &mut Faults) {
    check_node(node, place, costs, faults);
    for (_, property) in node.field("properties").entries() {
        let place = Place {
            root: false,
            times: place.times,
            apart: place.apart.clone(),
        };
        walk(&property, &place, costs, faults);
    }
    let values = node.field("additionalProperties");
    if values.value.is_object() {
        let times = most(place.times, node.field("maxProperties").integer());
        walk(
            &values,
            &Place {
                root: false,
                times,
                apart: place.apart.clone(),
            },
            costs,
            faults,
        );
    }
    let items = node.field("items");
    if items.value.is_object() {
        let times = most(place.times, node.field("maxItems").integer());
        let keyed = node.field("x-kubernetes-list-type").text() == "map";
        let own = (!keyed).then(|| node.path.to_string());
        let apart = place.apart.clone().or(own);
        walk(
            &items,
            &Place {
                root: false,
                times,
                apart,
            },
            costs,
            faults,
        );
    }
}

fn most(times: Option<u64>, limit: Option<i64>) -> Option<u64> {
    let limit = u64::try_from(limit?).ok()?;
    Some(times?.saturating_mul(limit))
}

fn check_node(node: &At<'_>, place: &Place, costs: &mut Costs, faults: &mut Faults) {
    let listed = node.field("x-kubernetes-validations");
    if listed.is_empty() {
        return;
    }
    let known = match place.root {
        true => schema::resource(node.value),
        false => schema::read(node.value),
    };
    let declared = Declared::of_schema(&known, place.root);
    let times = place.times.unwrap_or_else(|| declared.cardinality());
    for rule in listed.items() {
        let rule = RuleAt {
            rule: &rule,
            place,
            times,
        };
        rule.check(&declared, costs, faults);
    }
}

struct RuleAt<'a> {
    rule: &'a At<'a>,
    place: &'a Place,
    times: u64,
}

impl RuleAt<'_> {
    fn check(&self, declared: &Declared, costs: &mut Costs, faults: &mut Faults) {
        let text = self.rule.field("rule");
        let optional = self.rule.field("optionalOldSelf");
        let scope = rules::scope(declared, optional.is_true());
        match Expression::compile(text.text(), &scope) {
            Err(why) => self.refuse(&text, &format!("compilation failed: {why}"), faults),
            Ok(found) if !found.is_bool() => {
                self.refuse(&text, "cel expression must evaluate to a bool", faults);
            }
            Ok(found) => {
                let cost = found.cost.saturating_mul(self.times);
                check_cost(&text, "estimated rule cost", cost, costs, faults);
                self.check_old(&found, &text, &optional, faults);
            }
        }
        let message = self.rule.field("messageExpression");
        if !message.text().trim().is_empty() {
            self.check_message(&message, &scope, costs, faults);
        }
    }

    fn check_old(&self, rule: &Expression, text: &At<'_>, optional: &At<'_>, faults: &mut Faults) {
        match (rule.uses("oldSelf"), &self.place.apart) {
            (true, Some(apart)) => faults.add(text.invalid(format!(
                "oldSelf cannot be used on the uncorrelatable portion of the schema within {apart}"
            ))),
            (false, _) if optional.is_set() => {
                faults.add(optional.invalid("may not be set if oldSelf is not used in rule"));
            }
            _ => {}
        }
    }

    fn check_message(
        &self,
        message: &At<'_>,
        scope: &[(&str, Declared)],
        costs: &mut Costs,
        faults: &mut Faults,
    ) {
        match Expression::compile(message.text(), scope) {
            Err(why) => {
                let why = format!("messageExpression compilation failed: {why}");
                self.refuse(message, &why, faults);
            }
            Ok(found) if !found.is_string() => {
                self.refuse(
                    message,
                    "messageExpression must evaluate to a string",
                    faults,
                );
            }
            Ok(found) => {
                let what = "estimated messageExpression cost";
                check_cost(message, what, found.cost, costs, faults);
            }
        }
    }

    /// Refuses an expression, showing the whole rule as the server's own type writes it.
    fn refuse(&self, at: &At<'_>, why: &str, faults: &mut Faults) {
        let rule = self.rule.value;
        let text = |name: &str| Value::from(rule[name].as_str().unwrap_or_default()).to_string();
        let shown = format!(
            r#"{{"Rule":{},"Message":{},"MessageExpression":{},"Reason":{},"FieldPath":{},"OptionalOldSelf":{}}}"#,
            text("rule"),
            text("message"),
            text("messageExpression"),
            rule["reason"],
            text("fieldPath"),
            rule["optionalOldSelf"],
        );
        let escaped = shown
            .replace('<', "\\u003c")
            .replace('>', "\\u003e")
            .replace('&', "\\u0026");
        faults.add(at.invalid(why).showing(escaped));
    }
}

fn check_cost(at: &At<'_>, what: &str, cost: u64, costs: &mut Costs, faults: &mut Faults) {
    if cost > RULE_LIMIT {
        faults.add(at.forbidden(too_dear(what, cost, RULE_LIMIT)));
    }
    costs.note(at.path.to_string(), cost);
}
