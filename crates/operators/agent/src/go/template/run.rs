//! A tree into text.

use super::TemplateError;
use super::functions;
use super::parse::{Node, Operand, Pipe, Template};
use super::value::Value;

/// Templates that call each other for ever end here.
const MAX_DEPTH: usize = 100;

type Include<'a> = &'a dyn Fn(&str) -> Result<String, String>;

pub(super) fn run(
    template: &Template,
    data: &Value,
    include: Include<'_>,
) -> Result<String, TemplateError> {
    let mut run = Run {
        template,
        include,
        variables: vec![(String::new(), data.clone())],
        out: String::new(),
        depth: 0,
    };
    run.nodes(&template.main, data)?;
    Ok(run.out)
}

struct Run<'a> {
    template: &'a Template,
    include: Include<'a>,
    /// The innermost last; `$` is the one without a name.
    variables: Vec<(String, Value)>,
    out: String,
    depth: usize,
}

/// Whether the loop around goes on.
#[derive(PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

fn failed<T>(problem: impl Into<String>) -> Result<T, TemplateError> {
    Err(TemplateError::Run(problem.into()))
}

impl Run<'_> {
    fn nodes(&mut self, nodes: &[Node], dot: &Value) -> Result<Flow, TemplateError> {
        let scope = self.variables.len();
        for node in nodes {
            let flow = self.node(node, dot)?;
            if flow != Flow::Next {
                self.variables.truncate(scope);
                return Ok(flow);
            }
        }
        self.variables.truncate(scope);
        Ok(Flow::Next)
    }

    fn node(&mut self, node: &Node, dot: &Value) -> Result<Flow, TemplateError> {
        match node {
            Node::Text(text) => self.out.push_str(text),
            Node::Pipe(pipe) => {
                let value = self.pipe(pipe, dot)?;
                if pipe.into.is_empty() {
                    self.out.push_str(&value.to_string());
                }
            }
            Node::If(pipe, then, otherwise) => {
                let chosen = if self.pipe(pipe, dot)?.is_true() {
                    then
                } else {
                    otherwise
                };
                return self.nodes(chosen, dot);
            }
            Node::With(pipe, then, otherwise) => {
                let value = self.pipe(pipe, dot)?;
                return if value.is_true() {
                    self.nodes(then, &value)
                } else {
                    self.nodes(otherwise, dot)
                };
            }
            Node::Range(pipe, body, otherwise) => self.range(pipe, body, otherwise, dot)?,
            Node::Call(name, argument) => self.call(name, argument.as_ref(), dot)?,
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }

    fn range(
        &mut self,
        pipe: &Pipe,
        body: &[Node],
        otherwise: &[Node],
        dot: &Value,
    ) -> Result<(), TemplateError> {
        let items = match self.commands(pipe, dot)? {
            Value::List(items) => items,
            Value::Nil => Vec::new(),
            other => return failed(format!("range cannot go over a {}", other.kind())),
        };
        if items.is_empty() {
            self.nodes(otherwise, dot)?;
        }
        for (at, item) in (0_i64..).zip(items) {
            let scope = self.variables.len();
            match pipe.into.as_slice() {
                [] => {}
                [each] => self.set(each, item.clone(), pipe.declares)?,
                [index, each, ..] => {
                    self.set(index, Value::Int(at), pipe.declares)?;
                    self.set(each, item.clone(), pipe.declares)?;
                }
            }
            let flow = self.nodes(body, &item)?;
            self.variables.truncate(scope);
            if flow == Flow::Break {
                break;
            }
        }
        Ok(())
    }

    fn call(
        &mut self,
        name: &str,
        argument: Option<&Pipe>,
        dot: &Value,
    ) -> Result<(), TemplateError> {
        let template = self.template;
        let Some(body) = template.defined.get(name) else {
            return failed(format!("there is no template {name:?}"));
        };
        let data = argument.map_or(Ok(Value::Nil), |pipe| self.pipe(pipe, dot))?;
        if self.depth == MAX_DEPTH {
            return failed(format!("the template {name:?} calls itself without end"));
        }
        self.depth += 1;
        let outer = std::mem::replace(&mut self.variables, vec![(String::new(), data.clone())]);
        self.nodes(body, &data)?;
        self.variables = outer;
        self.depth -= 1;
        Ok(())
    }

    fn pipe(&mut self, pipe: &Pipe, dot: &Value) -> Result<Value, TemplateError> {
        let value = self.commands(pipe, dot)?;
        for name in &pipe.into {
            self.set(name, value.clone(), pipe.declares)?;
        }
        Ok(value)
    }

    fn set(&mut self, name: &str, value: Value, declares: bool) -> Result<(), TemplateError> {
        if declares {
            self.variables.push((name.to_owned(), value));
            return Ok(());
        }
        match self
            .variables
            .iter_mut()
            .rev()
            .find(|(known, _)| known == name)
        {
            Some((_, slot)) => *slot = value,
            None => return failed(format!("there is no variable ${name}")),
        }
        Ok(())
    }

    fn commands(&mut self, pipe: &Pipe, dot: &Value) -> Result<Value, TemplateError> {
        let mut result = None;
        for command in &pipe.commands {
            result = Some(self.command(command, result, dot)?);
        }
        Ok(result.unwrap_or(Value::Nil))
    }

    fn command(
        &mut self,
        command: &[Operand],
        last: Option<Value>,
        dot: &Value,
    ) -> Result<Value, TemplateError> {
        let (first, rest) = match command {
            [] => return Ok(Value::Nil),
            [first, rest @ ..] => (first, rest),
        };
        let mut arguments = Vec::new();
        for operand in rest {
            arguments.push(self.operand(operand, dot)?);
        }
        arguments.extend(last);
        match first {
            Operand::Function(name) => self.function(name, &arguments),
            other if arguments.is_empty() => self.operand(other, dot),
            _ => failed("only functions take arguments"),
        }
    }

    fn function(&self, name: &str, arguments: &[Value]) -> Result<Value, TemplateError> {
        let result = match (name, arguments) {
            ("include", [Value::Text(path)]) => (self.include)(path).map(Value::Text),
            ("include", _) => Err("include takes the name of one text".to_owned()),
            _ => functions::call(name, arguments),
        };
        result.or_else(failed)
    }

    fn operand(&mut self, operand: &Operand, dot: &Value) -> Result<Value, TemplateError> {
        match operand {
            Operand::Field(fields) => field(dot, fields),
            Operand::Literal(value) => Ok(value.clone()),
            Operand::Function(name) => self.function(name, &[]),
            Operand::Pipe(pipe) => self.pipe(pipe, dot),
            Operand::Variable(name, fields) => {
                let found = self.variables.iter().rev().find(|(known, _)| known == name);
                match found {
                    Some((_, value)) => field(value, fields),
                    None => failed(format!("there is no variable ${name}")),
                }
            }
        }
    }
}

fn field(value: &Value, path: &[String]) -> Result<Value, TemplateError> {
    let mut value = value;
    for name in path {
        value = match value {
            Value::Record(fields) => match fields.get(name.as_str()) {
                Some(value) => value,
                None => return failed(format!("there is no field {name}")),
            },
            other => return failed(format!("a {} has no field {name}", other.kind())),
        };
    }
    Ok(value.clone())
}
