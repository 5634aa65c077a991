//! Pieces into a tree.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::vec::IntoIter;

use super::TemplateError;
use super::functions;
use super::lex::{Piece, Token, pieces, syntax};
use super::value::Value;

/// The main text and those that it defines.
pub(super) struct Template {
    pub(super) main: Vec<Node>,
    pub(super) defined: BTreeMap<String, Vec<Node>>,
}

#[derive(Debug, Clone)]
pub(super) enum Node {
    Text(String),
    Pipe(Pipe),
    If(Pipe, Vec<Node>, Vec<Node>),
    With(Pipe, Vec<Node>, Vec<Node>),
    Range(Pipe, Vec<Node>, Vec<Node>),
    Call(String, Option<Pipe>),
    Break,
    Continue,
}

/// Commands, each with the result of the one before as its last argument; perhaps into variables.
#[derive(Debug, Clone)]
pub(super) struct Pipe {
    pub(super) into: Vec<String>,
    pub(super) declares: bool,
    pub(super) commands: Vec<Vec<Operand>>,
}

#[derive(Debug, Clone)]
pub(super) enum Operand {
    Field(Vec<String>),
    Variable(String, Vec<String>),
    Literal(Value),
    Function(String),
    Pipe(Pipe),
}

pub(super) fn parse(text: &str) -> Result<Template, TemplateError> {
    let mut parser = Parser {
        pieces: pieces(text)?.into_iter(),
        defined: BTreeMap::new(),
        line: 1,
    };
    match parser.nodes(None)? {
        (main, Stop::End) => Ok(Template {
            main,
            defined: parser.defined,
        }),
        (_, Stop::Else(_)) => Err(syntax(parser.line, "unexpected \"else\"")),
    }
}

struct Parser {
    pieces: IntoIter<Piece>,
    defined: BTreeMap<String, Vec<Node>>,
    line: usize,
}

/// What ended a stretch of nodes.
enum Stop {
    End,
    Else(Vec<Token>),
}

impl Parser {
    /// Nodes up to the end of the block that `opened` began.
    fn nodes(&mut self, opened: Option<(&str, usize)>) -> Result<(Vec<Node>, Stop), TemplateError> {
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.next() {
            let (line, mut tokens) = match piece {
                Piece::Text(text) => {
                    nodes.push(Node::Text(text));
                    continue;
                }
                Piece::Action { line, tokens } => (line, tokens),
            };
            self.line = line;
            let word = match tokens.first() {
                None => continue,
                Some(Token::Word(word)) => word.clone(),
                Some(_) => String::new(),
            };
            match (word.as_str(), opened) {
                ("end", Some(_)) => return Ok((nodes, Stop::End)),
                ("else", Some(_)) => return Ok((nodes, Stop::Else(tokens.split_off(1)))),
                _ => nodes.extend(self.node(&word, tokens)?),
            }
        }
        match opened {
            Some((word, line)) => Err(syntax(line, format!("{word:?} has no end"))),
            None => Ok((nodes, Stop::End)),
        }
    }

    fn node(&mut self, word: &str, mut tokens: Vec<Token>) -> Result<Option<Node>, TemplateError> {
        let rest = |tokens: &mut Vec<Token>| tokens.split_off(1);
        Ok(Some(match word {
            "if" | "with" | "range" => self.block(word, rest(&mut tokens))?,
            "break" => Node::Break,
            "continue" => Node::Continue,
            "define" => {
                let (name, _) = self.named(rest(&mut tokens))?;
                let body = self.nodes(Some(("define", self.line)))?.0;
                self.defined.insert(name, body);
                return Ok(None);
            }
            "block" => {
                let (name, argument) = self.named(rest(&mut tokens))?;
                let body = self.nodes(Some(("block", self.line)))?.0;
                self.defined.insert(name.clone(), body);
                Node::Call(name, argument)
            }
            "template" => {
                let (name, argument) = self.named(rest(&mut tokens))?;
                Node::Call(name, argument)
            }
            "end" | "else" => return Err(syntax(self.line, format!("unexpected {word:?}"))),
            _ => Node::Pipe(self.pipe(tokens)?),
        }))
    }

    fn block(&mut self, word: &str, tokens: Vec<Token>) -> Result<Node, TemplateError> {
        let line = self.line;
        let pipe = self.pipe(tokens)?;
        let (then, stop) = self.nodes(Some((word, line)))?;
        let otherwise = match stop {
            Stop::End => Vec::new(),
            Stop::Else(mut tokens) if tokens.first() == Some(&Token::Word(word.to_owned())) => {
                vec![self.block(word, tokens.split_off(1))?]
            }
            Stop::Else(_) => self.nodes(Some((word, line)))?.0,
        };
        Ok(match word {
            "if" => Node::If(pipe, then, otherwise),
            "with" => Node::With(pipe, then, otherwise),
            _ => Node::Range(pipe, then, otherwise),
        })
    }

    /// A name in quotes, and perhaps what is handed to it.
    fn named(&self, mut tokens: Vec<Token>) -> Result<(String, Option<Pipe>), TemplateError> {
        let name = match tokens.first() {
            Some(Token::Text(name)) => name.clone(),
            _ => return Err(syntax(self.line, "a template needs a name in quotes")),
        };
        let rest = tokens.split_off(1);
        let argument = (!rest.is_empty()).then(|| self.pipe(rest)).transpose()?;
        Ok((name, argument))
    }

    fn pipe(&self, tokens: Vec<Token>) -> Result<Pipe, TemplateError> {
        let mut tokens = tokens.into_iter().peekable();
        let pipe = self.pipe_until(&mut tokens, None)?;
        match tokens.next() {
            None => Ok(pipe),
            Some(_) => Err(syntax(self.line, "unexpected \")\"")),
        }
    }

    fn pipe_until(
        &self,
        tokens: &mut Peekable<IntoIter<Token>>,
        close: Option<&str>,
    ) -> Result<Pipe, TemplateError> {
        let (into, declares) = assignment(tokens);
        let mut commands = vec![Vec::new()];
        while let Some(token) = tokens.peek() {
            match token {
                Token::Sign(")") => break,
                Token::Sign("|") => commands.push(Vec::new()),
                _ => {
                    let operand = self.operand(tokens)?;
                    if let Some(command) = commands.last_mut() {
                        command.push(operand);
                    }
                    continue;
                }
            }
            tokens.next();
        }
        if close.is_some() && tokens.next() != Some(Token::Sign(")")) {
            return Err(syntax(self.line, "a parenthesis is not closed"));
        }
        if commands.iter().any(Vec::is_empty) {
            return Err(syntax(self.line, "a command is missing"));
        }
        Ok(Pipe {
            into,
            declares,
            commands,
        })
    }

    fn operand(&self, tokens: &mut Peekable<IntoIter<Token>>) -> Result<Operand, TemplateError> {
        let token = tokens
            .next()
            .ok_or_else(|| syntax(self.line, "a command is missing"))?;
        Ok(match token {
            Token::Field(fields) => Operand::Field(fields),
            Token::Variable(name, fields) => Operand::Variable(name, fields),
            Token::Text(text) => Operand::Literal(Value::Text(text)),
            Token::Int(int) => Operand::Literal(Value::Int(int)),
            Token::Float(text) => Operand::Literal(Value::Float(text.parse().unwrap_or(0.0))),
            Token::Word(word) => self.word(word)?,
            Token::Sign("(") => Operand::Pipe(self.pipe_until(tokens, Some(")"))?),
            Token::Sign(sign) => return Err(syntax(self.line, format!("unexpected {sign:?}"))),
        })
    }

    fn word(&self, word: String) -> Result<Operand, TemplateError> {
        match word.as_str() {
            "true" => Ok(Operand::Literal(Value::Bool(true))),
            "false" => Ok(Operand::Literal(Value::Bool(false))),
            "nil" => Ok(Operand::Literal(Value::Nil)),
            known if functions::is_known(known) => Ok(Operand::Function(word)),
            _ => Err(syntax(
                self.line,
                format!("the function {word} is not known"),
            )),
        }
    }
}

/// `$a, $b :=` or `$a =`, if the pipe begins so.
fn assignment(tokens: &mut Peekable<IntoIter<Token>>) -> (Vec<String>, bool) {
    let mut ahead = tokens.clone();
    let mut names = Vec::new();
    loop {
        match ahead.next() {
            Some(Token::Variable(name, fields)) if fields.is_empty() => names.push(name),
            _ => return (Vec::new(), false),
        }
        match ahead.next() {
            Some(Token::Sign(",")) => {}
            Some(Token::Sign(sign @ (":=" | "="))) => {
                *tokens = ahead;
                return (names, sign == ":=");
            }
            _ => return (Vec::new(), false),
        }
    }
}
