//! Expressions in CEL, as custom resource definitions and admission policies use them.
//!
//! ```text
//! text ──parse (the `cel` crate)──▶ tree ──check: names, types, cost──▶ Expression ──evaluate──▶ value
//! ```
//!
//! The crate parses and evaluates; `check` finds beforehand what a real server refuses to
//! compile, with the types of a schema (`types`) and the functions of `signatures.txt`; `library`
//! adds the functions that Kubernetes has beside the language's own; `values` goes from JSON to
//! values and back.

mod check;
mod cost;
mod library;
mod signatures;
mod types;
mod values;

use std::sync::{Arc, LazyLock};

use cel::{Context, Env, ExecutionError, Program};
use serde_json::Value;

use crate::schema::Schema;

pub(crate) use types::Declared;

static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(library::environment()));

/// An expression that can be evaluated.
#[derive(Debug)]
pub(crate) struct Expression {
    program: Program,
    /// The type of its result.
    kind: types::Kind,
    /// What it costs at most.
    pub(crate) cost: u64,
}

/// A variable's value in the form of its type; without one, as it is.
pub(crate) enum Variable<'a> {
    Plain(&'a Value, Option<&'a Schema>),
    /// One that may be absent, and says so.
    Optional(Option<&'a Value>, Option<&'a Schema>),
}

impl Expression {
    /// Compiles an expression over variables of these types. The error is worded as the real
    /// server's compiler words it.
    pub(crate) fn compile(text: &str, variables: &[(&str, Declared)]) -> Result<Self, String> {
        let program = ENVIRONMENT.compile(text).map_err(|errors| {
            let faults = errors.errors.iter();
            let faults = faults.map(|fault| (position(fault.pos), fault.msg.clone()));
            check::report(text, faults)
        })?;
        let checked = check::check(&program, variables)
            .map_err(|faults| check::report(text, faults.into_iter()))?;
        Ok(Self {
            kind: checked.declared.kind,
            cost: checked.cost,
            program,
        })
    }

    pub(crate) fn is_bool(&self) -> bool {
        matches!(self.kind, types::Kind::Bool | types::Kind::Dyn)
    }

    pub(crate) fn is_string(&self) -> bool {
        matches!(self.kind, types::Kind::String | types::Kind::Dyn)
    }

    /// Whether the expression names a variable.
    pub(crate) fn uses(&self, variable: &str) -> bool {
        self.program.references().has_variable(variable)
    }

    /// The value of the expression, or why there is none.
    pub(crate) fn evaluate(&self, variables: &[(&str, Variable<'_>)]) -> Result<Value, String> {
        let mut context = Context::with_env(ENVIRONMENT.clone());
        for (name, value) in variables {
            context.add_variable_from_value(*name, values::of_variable(value));
        }
        let found = self
            .program
            .execute(&context)
            .map_err(|error| words(&error))?;
        Ok(values::to_json(&found))
    }
}

fn position((line, column): (isize, isize)) -> (usize, usize) {
    (
        usize::try_from(line).unwrap_or(1),
        usize::try_from(column).unwrap_or(1),
    )
}

/// An error of the evaluation, as a real server words it.
fn words(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::NoSuchOverload(_) => "no such overload".into(),
        ExecutionError::DivisionByZero(_) => "division by zero".into(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".into(),
        ExecutionError::Overflow(..) => "integer overflow".into(),
        ExecutionError::IndexOutOfBounds(cel::Value::Int(index)) => {
            format!("index out of bounds: {index}")
        }
        ExecutionError::FunctionError { message, .. } => message.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
