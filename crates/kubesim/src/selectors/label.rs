//! Label selectors: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, `a>1`, `a<1`, joined
//! by commas. The grammar and the words of its errors are those of a real server.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::builtin::names;
use crate::meta;
use crate::status::ApiError;

/// A parsed label selector; empty selects everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, PartialEq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    Exists,
    Absent,
    Above(i64),
    Below(i64),
}

impl LabelSelector {
    /// Reads a selector as it stands in a query.
    pub(crate) fn parse(text: &str) -> Result<Self, ApiError> {
        let requirements = Parser {
            tokens: scan(text),
            at: 0,
        }
        .selector()
        .map_err(ApiError::bad_request)?;
        Ok(Self { requirements })
    }

    /// The selector that an object holds: a map of labels, or labels and expressions.
    pub(crate) fn of(selector: &Value) -> Self {
        let structured = ["matchLabels", "matchExpressions"];
        let structured = structured.iter().any(|field| selector.get(field).is_some());
        let labels = if structured {
            &selector["matchLabels"]
        } else {
            selector
        };
        let labels = labels.as_object().into_iter().flatten();
        let equal = labels.map(|(key, value)| Requirement {
            key: key.clone(),
            test: Test::In([value.as_str().unwrap_or_default().to_owned()].into()),
        });
        let expressions = selector["matchExpressions"]
            .as_array()
            .into_iter()
            .flatten();
        let requirements = equal
            .chain(expressions.filter_map(Requirement::of))
            .collect();
        Self { requirements }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether these labels (an object, or nothing) are selected.
    pub(crate) fn matches(&self, labels: &Value) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = labels.get(&requirement.key).and_then(Value::as_str);
            requirement.test.accepts(value)
        })
    }
}

impl Requirement {
    fn of(expression: &Value) -> Option<Self> {
        let values = meta::strings(expression.get("values")).into_iter();
        let values = values.map(str::to_owned).collect();
        let test = match expression["operator"].as_str()? {
            "In" => Test::In(values),
            "NotIn" => Test::NotIn(values),
            "Exists" => Test::Exists,
            "DoesNotExist" => Test::Absent,
            _ => return None,
        };
        let key = expression["key"].as_str()?.to_owned();
        Some(Self { key, test })
    }
}

impl Test {
    fn accepts(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|text| text.parse::<i64>().ok());
        match self {
            Self::In(wanted) => value.is_some_and(|value| wanted.contains(value)),
            Self::NotIn(unwanted) => value.is_none_or(|value| !unwanted.contains(value)),
            Self::Exists => value.is_some(),
            Self::Absent => value.is_none(),
            Self::Above(limit) => number().is_some_and(|number| number > *limit),
            Self::Below(limit) => number().is_some_and(|number| number < *limit),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Symbol(&'static str),
    End,
}

impl Token {
    /// What an error quotes.
    fn text(&self) -> &str {
        match self {
            Self::Word(text) => text,
            Self::Symbol(text) => text,
            Self::End => "",
        }
    }
}

/// The symbols, longest first.
const SYMBOLS: &[&str] = &["==", "!=", "=", "!", "<", ">", "(", ")", ","];

fn scan(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        if rest.is_empty() {
            tokens.push(Token::End);
            return tokens;
        }
        let token = match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            Some(symbol) => Token::Symbol(symbol),
            None => scan_word(rest),
        };
        rest = &rest[token.text().len()..];
        tokens.push(token);
    }
}

fn scan_word(text: &str) -> Token {
    let ends = |c: char| {
        matches!(
            c,
            '=' | '!' | '(' | ')' | ',' | '>' | '<' | ' ' | '\t' | '\r' | '\n'
        )
    };
    let end = text.find(ends).unwrap_or(text.len());
    Token::Word(text[..end].to_owned())
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

type Parsed<T> = Result<T, String>;

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).unwrap_or(&Token::End)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn selector(mut self) -> Parsed<Vec<Requirement>> {
        let mut found = Vec::new();
        loop {
            match self.peek() {
                Token::End => return Ok(found),
                Token::Word(_) | Token::Symbol("!") => {}
                other @ Token::Symbol(_) => {
                    let text = other.text();
                    return Err(format!(
                        "found '{text}', expected: !, identifier, or 'end of string'"
                    ));
                }
            }
            let requirement = self.requirement();
            found.push(requirement.map_err(|why| format!("unable to parse requirement: {why}"))?);
            if self.separator()? {
                return Ok(found);
            }
        }
    }

    /// What stands between requirements; true at the end.
    fn separator(&mut self) -> Parsed<bool> {
        match self.next() {
            Token::End => Ok(true),
            Token::Symbol(",") => match self.peek() {
                Token::Word(_) | Token::Symbol("!") => Ok(false),
                other => {
                    let text = other.text();
                    Err(format!("found '{text}', expected: identifier after ','"))
                }
            },
            other => Err(format!(
                "found '{}', expected: ',' or 'end of string'",
                other.text()
            )),
        }
    }

    fn requirement(&mut self) -> Parsed<Requirement> {
        let mut token = self.next();
        let negated = token == Token::Symbol("!");
        if negated {
            token = self.next();
        }
        let Token::Word(key) = token else {
            return Err(format!("found '{}', expected: identifier", token.text()));
        };
        check("", &key, names::qualified_name(&key))?;
        let test = match self.peek() {
            _ if negated => Test::Absent,
            Token::End | Token::Symbol(",") => Test::Exists,
            _ => self.test(&key)?,
        };
        Ok(Requirement { key, test })
    }

    fn test(&mut self, key: &str) -> Parsed<Test> {
        let operator = self.next();
        match operator.text() {
            "in" => Ok(Test::In(self.values(key)?)),
            "notin" => Ok(Test::NotIn(self.values(key)?)),
            "=" | "==" => Ok(Test::In([self.value(key)?].into())),
            "!=" => Ok(Test::NotIn([self.value(key)?].into())),
            ">" => Ok(Test::Above(self.number(key)?)),
            "<" => Ok(Test::Below(self.number(key)?)),
            other => Err(format!(
                "found '{other}', expected: in, notin, =, ==, !=, gt, lt"
            )),
        }
    }

    /// The one value after `=`; nothing there means the empty value.
    fn value(&mut self, key: &str) -> Parsed<String> {
        if matches!(self.peek(), Token::End | Token::Symbol(",")) {
            return Ok(String::new());
        }
        match self.next() {
            Token::Word(value) => {
                check(
                    &format!("values[0][{key}]"),
                    &value,
                    names::label_value(&value),
                )?;
                Ok(value)
            }
            other => Err(format!("found '{}', expected: identifier", other.text())),
        }
    }

    fn number(&mut self, key: &str) -> Parsed<i64> {
        let text = self.value(key)?;
        text.parse().map_err(|_| {
            format!(
                "values[0]: Invalid value: {text:?}: for 'Gt', 'Lt' operators, the value must be an integer"
            )
        })
    }

    fn values(&mut self, key: &str) -> Parsed<BTreeSet<String>> {
        let open = self.next();
        if open != Token::Symbol("(") {
            return Err(format!("found '{}' expected: '('", open.text()));
        }
        let mut values = BTreeSet::new();
        loop {
            match self.next() {
                Token::Word(value) => {
                    let at = format!("values[{}][{key}]", values.len());
                    check(&at, &value, names::label_value(&value))?;
                    values.insert(value);
                    if self.end_of_value()? {
                        return Ok(values);
                    }
                }
                // An empty place between commas is the empty value.
                Token::Symbol(",") => {
                    values.insert(String::new());
                }
                Token::Symbol(")") => {
                    values.insert(String::new());
                    return Ok(values);
                }
                other => {
                    let text = other.text();
                    return Err(format!("found '{text}', expected: ',', or identifier"));
                }
            }
        }
    }

    /// What follows a value; true at the closing parenthesis.
    fn end_of_value(&mut self) -> Parsed<bool> {
        match self.next() {
            Token::Symbol(")") => Ok(true),
            Token::Symbol(",") => Ok(false),
            other => Err(format!("found '{}', expected: ',' or ')'", other.text())),
        }
    }
}

fn check(path: &str, value: &str, problems: Vec<String>) -> Parsed<()> {
    let path = if path.is_empty() { "<nil>" } else { path };
    match problems.into_iter().next() {
        None => Ok(()),
        Some(problem) => Err(format!("{path}: Invalid value: {value:?}: {problem}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn selects(selector: &str, labels: &Value) -> bool {
        LabelSelector::parse(selector)
            .expect(selector)
            .matches(labels)
    }

    #[test]
    fn every_operator_selects_as_documented() {
        let labels = json!({"app": "web", "tier": "", "n": "5"});
        for (selector, expected) in [
            ("", true),
            ("app=web", true),
            ("app==web", true),
            ("app!=web", false),
            ("other!=web", true),
            ("app in (web, db)", true),
            ("app notin (web)", false),
            ("other notin (web)", true),
            ("app", true),
            ("!app", false),
            ("!other,app", true),
            ("tier=", true),
            ("tier in ()", true),
            ("tier in (,a)", true),
            ("n>4", true),
            ("n<5", false),
            ("in in (in)", false),
        ] {
            assert_eq!(selects(selector, &labels), expected, "{selector}");
        }
    }

    #[test]
    fn mistakes_are_worded_as_by_a_real_server() {
        for (selector, message) in [
            (
                "a===b",
                "unable to parse requirement: found '=', expected: identifier",
            ),
            ("a=b,", "found '', expected: identifier after ','"),
            (
                "=b",
                "found '=', expected: !, identifier, or 'end of string'",
            ),
            (
                "a in b",
                "unable to parse requirement: found 'b' expected: '('",
            ),
            (
                "a b",
                "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
            ),
        ] {
            let error = LabelSelector::parse(selector).expect_err(selector);
            assert_eq!(error.message, message, "{selector}");
        }
    }
}
