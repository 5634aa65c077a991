//! The rules that many kinds share, as methods of the list of faults they add to.

use serde_json::Value;

use super::at::At;
use super::names;
use crate::field_error::FieldError;
use crate::quantity::{self, Quantity};

/// What has been found wrong so far.
#[derive(Default)]
pub(crate) struct Faults(pub(crate) Vec<FieldError>);

impl Faults {
    pub(crate) fn add(&mut self, fault: FieldError) {
        self.0.push(fault);
    }

    /// The field must not be empty.
    pub(crate) fn require(&mut self, at: &At<'_>, detail: &str) -> bool {
        if at.is_empty() {
            self.add(at.required(detail));
        }
        !at.is_empty()
    }

    /// A text that is set must be one of these.
    pub(crate) fn one_of(&mut self, at: &At<'_>, allowed: &[&str]) {
        if at.is_set() && !allowed.contains(&at.text()) {
            self.add(at.not_supported(allowed));
        }
    }

    /// A text that must be set, and to one of these.
    pub(crate) fn require_one_of(&mut self, at: &At<'_>, allowed: &[&str]) {
        if self.require(at, "") {
            self.one_of(at, allowed);
        }
    }

    pub(crate) fn non_negative(&mut self, at: &At<'_>) {
        if at.integer().is_some_and(|number| number < 0) {
            self.add(at.invalid("must be greater than or equal to 0"));
        }
    }

    pub(crate) fn positive(&mut self, at: &At<'_>) {
        if at.integer().is_some_and(|number| number <= 0) {
            self.add(at.invalid("must be greater than 0"));
        }
    }

    /// The text keeps a rule about names.
    pub(crate) fn name(&mut self, at: &At<'_>, rule: names::TextRule) {
        for fault in rule(at.text()) {
            self.add(FieldError::invalid(&at.path, at.text(), fault));
        }
    }

    pub(crate) fn port(&mut self, at: &At<'_>) {
        if !at.integer().is_some_and(|port| (1..=65535).contains(&port)) {
            self.add(at.invalid("must be between 1 and 65535, inclusive"));
        }
    }

    /// A port by number or by name.
    pub(crate) fn port_or_name(&mut self, at: &At<'_>) {
        match at.value {
            Value::String(_) => self.name(at, names::port_name),
            _ => self.port(at),
        }
    }

    /// A number that is not negative, or a percentage.
    pub(crate) fn count_or_percent(&mut self, at: &At<'_>) {
        match at.value {
            Value::String(text) if !is_percent(text) => {
                let words =
                    "a valid percent string must be a numeric string followed by an ending '%'";
                self.add(at.invalid(names::form(words, "[0-9]+%", &["1%", "93%"])));
            }
            Value::Number(_) => self.non_negative(at),
            _ => {}
        }
    }

    pub(crate) fn quantity(&mut self, at: &At<'_>) {
        match Quantity::of(at.value) {
            None => self.add(at.invalid(quantity::FORM)),
            Some(amount) if amount.is_negative() => {
                let shown = amount.to_string();
                let detail = "must be greater than or equal to 0";
                self.add(FieldError::invalid(&at.path, shown, detail));
            }
            Some(_) => {}
        }
    }

    /// The value may not change.
    pub(crate) fn immutable(&mut self, new: &At<'_>, old: &At<'_>) {
        if new.value != old.value {
            self.add(new.invalid("field is immutable"));
        }
    }
}

pub(crate) fn is_percent(text: &str) -> bool {
    text.strip_suffix('%')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}
