//! Text and actions apart, and actions into words.

use super::TemplateError;

/// A stretch of text, or what stands between double braces.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Action { line: usize, tokens: Vec<Token> },
}

/// A word of an action.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A keyword or the name of a function.
    Word(String),
    /// `.A.B`; only the dot when empty.
    Field(Vec<String>),
    /// `$x.A`; the name without its dollar.
    Variable(String, Vec<String>),
    Text(String),
    Int(i64),
    Float(String),
    Sign(&'static str),
}

impl Eq for Token {}

const SIGNS: [&str; 6] = [":=", "=", "|", "(", ")", ","];

pub(super) fn pieces(text: &str) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces = Vec::new();
    let (mut rest, mut line, mut trims) = (text, 1, false);
    while let Some(start) = rest.find("{{") {
        let (before, action) = rest.split_at(start);
        let action = &action[2..];
        let (action, trims_before) = match action.strip_prefix('-') {
            Some(inner) if inner.starts_with(char::is_whitespace) => (inner, true),
            _ => (action, false),
        };
        pieces.push(Piece::Text(trimmed(before, trims, trims_before)));
        line += before.matches('\n').count();
        let end = action_end(action).ok_or_else(|| syntax(line, "an action is not closed"))?;
        let (inside, after) = action.split_at(end);
        let inner = inside
            .strip_suffix('-')
            .filter(|inner| inner.ends_with(char::is_whitespace));
        let tokens = tokens(inner.unwrap_or(inside), line)?;
        pieces.push(Piece::Action { line, tokens });
        line += inside.matches('\n').count();
        (rest, trims) = (&after[2..], inner.is_some());
    }
    pieces.push(Piece::Text(trimmed(rest, trims, false)));
    Ok(pieces)
}

fn trimmed(text: &str, start: bool, end: bool) -> String {
    let text = if start { text.trim_start() } else { text };
    if end { text.trim_end() } else { text }.to_owned()
}

/// Where the closing braces are, not counting those in quotes and comments.
fn action_end(action: &str) -> Option<usize> {
    if action.trim_start().starts_with("/*") {
        let comment = action.find("*/")? + 2;
        return Some(comment + action[comment..].find("}}")?);
    }
    let mut quote = None;
    let mut chars = action.char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some('"' | '\''), '\\') => _ = chars.next(),
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '`' | '\'') => quote = Some(c),
            (None, '}') if action[at..].starts_with("}}") => return Some(at),
            (None, _) => {}
        }
    }
    None
}

pub(super) fn syntax(line: usize, problem: impl Into<String>) -> TemplateError {
    TemplateError::Syntax {
        line,
        problem: problem.into(),
    }
}

fn tokens(action: &str, line: usize) -> Result<Vec<Token>, TemplateError> {
    let mut rest = action.trim_start();
    let mut tokens = Vec::new();
    while !rest.is_empty() && !rest.starts_with("/*") {
        let (token, after) =
            token(rest).ok_or_else(|| syntax(line, format!("cannot read {rest:?}")))?;
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

fn token(text: &str) -> Option<(Token, &str)> {
    if let Some(sign) = SIGNS.iter().find(|sign| text.starts_with(**sign)) {
        return Some((Token::Sign(sign), &text[sign.len()..]));
    }
    match text.chars().next()? {
        '"' => quoted(text),
        '`' => {
            let (raw, after) = text[1..].split_once('`')?;
            Some((Token::Text(raw.to_owned()), after))
        }
        '$' => {
            let (name, after) = name(&text[1..]);
            let (fields, after) = fields(after);
            Some((Token::Variable(name.to_owned(), fields), after))
        }
        '.' => {
            let (fields, after) = fields(text);
            let after = if fields.is_empty() {
                &after[1..]
            } else {
                after
            };
            Some((Token::Field(fields), after))
        }
        c if c.is_ascii_digit() || c == '-' || c == '+' => number(text),
        _ => {
            let (word, after) = name(text);
            (!word.is_empty()).then(|| (Token::Word(word.to_owned()), after))
        }
    }
}

fn name(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    text.split_at(end.unwrap_or(text.len()))
}

/// `.A.B` and what follows it.
fn fields(text: &str) -> (Vec<String>, &str) {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(after) = rest.strip_prefix('.') {
        let (field, after) = name(after);
        if field.is_empty() {
            break;
        }
        all.push(field.to_owned());
        rest = after;
    }
    (all, rest)
}

fn number(text: &str) -> Option<(Token, &str)> {
    let end = text[1..].find(|c: char| !c.is_ascii_digit() && c != '.');
    let (digits, after) = text.split_at(end.map_or(text.len(), |end| end + 1));
    let token = match digits.parse() {
        Ok(int) => Token::Int(int),
        Err(_) => digits
            .parse::<f64>()
            .ok()
            .map(|_| Token::Float(digits.to_owned()))?,
    };
    Some((token, after))
}

/// A text in double quotes has the escapes of JSON, near enough.
fn quoted(text: &str) -> Option<(Token, &str)> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let value = stream.next()?.ok()?;
    let after = &text[stream.byte_offset()..];
    Some((Token::Text(value), after))
}
