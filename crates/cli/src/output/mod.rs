//! Everything that a command says, in whichever form it was asked for.
//!
//! A noun declares its columns once; every form is derived from them, so that what a person reads
//! and what a program reads cannot disagree.
//!
//! ```text
//! Noun::columns ──▶ Cell ──▶ table, wide (cell as text) │ json, yaml (cell as data) │ name
//! ```
//!
//! Read [`noun`] first, then [`cell`], then [`table`]; [`tree`] is for `describe`.

pub(crate) mod cell;
pub(crate) mod live;
pub(crate) mod noun;
mod table;
pub(crate) mod tone;
pub(crate) mod tree;

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;
use evenkeel_ambient::{Clock, SystemClock};
use jiff::Timestamp;
use serde_json::Value;

use crate::environment;
use noun::Noun;
use tone::Palette;
use tree::Branch;

/// The form in which a command answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people: the columns that matter most.
    #[default]
    Table,
    /// For people with wide screens: all columns, nothing cut short.
    Wide,
    /// For programs.
    Json,
    /// For programs and people.
    Yaml,
    /// Only the names, one on each line, such as `stack/shop`.
    Name,
}

impl Format {
    /// Whether a person is to read it.
    const fn is_for_people(self) -> bool {
        matches!(self, Self::Table | Self::Wide)
    }
}

/// Where a command's answers go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Out {
    format: Format,
    palette: Palette,
}

impl Out {
    /// Answers in `format`; in colour if a terminal listens and nobody objects.
    pub(crate) fn new(format: Format) -> Self {
        let colours = io::stdout().is_terminal() && !environment::no_color();
        let palette = if colours {
            Palette::Ansi
        } else {
            Palette::Plain
        };
        Self { format, palette }
    }

    /// Whether a person reads this.
    pub(crate) const fn is_for_people(self) -> bool {
        self.format.is_for_people()
    }

    /// Shows a list.
    pub(crate) fn list<N: Noun>(self, rows: &[N]) -> io::Result<()> {
        match self.format {
            Format::Table | Format::Wide if rows.is_empty() => {
                writeln!(io::stderr(), "No {}s.", N::KIND)
            }
            Format::Table | Format::Wide => put(&self.table(rows)),
            Format::Json | Format::Yaml => {
                self.data(&rows.iter().map(noun::record).collect::<Vec<_>>().into())
            }
            Format::Name => rows.iter().try_for_each(|row| put(&name_line(row))),
        }
    }

    /// Shows rows that come after others: without titles, one document to a line.
    pub(crate) fn more<N: Noun>(self, rows: &[N]) -> io::Result<()> {
        match self.format {
            Format::Table | Format::Wide if rows.is_empty() => Ok(()),
            Format::Table | Format::Wide => {
                let table = self.table(rows);
                put(table.split_once('\n').map_or("", |(_, rows)| rows))
            }
            Format::Json => rows
                .iter()
                .try_for_each(|row| put(&format!("{}\n", noun::record(row)))),
            Format::Yaml => rows
                .iter()
                .try_for_each(|row| put(&format!("---\n{}", yaml(&noun::record(row))))),
            Format::Name => self.list(rows),
        }
    }

    /// Shows one thing as a table of one row, or as one document.
    pub(crate) fn one<N: Noun>(self, row: &N) -> io::Result<()> {
        match self.format {
            Format::Table | Format::Wide => put(&self.table(std::slice::from_ref(row))),
            Format::Json | Format::Yaml => self.data(&noun::record(row)),
            Format::Name => put(&name_line(row)),
        }
    }

    /// Says what was done: a sentence for people, the thing itself for programs.
    pub(crate) fn done<N: Noun>(self, row: &N, sentence: &str) -> io::Result<()> {
        if self.is_for_people() {
            put(&format!("{sentence}\n"))
        } else {
            self.one(row)
        }
    }

    /// Shows a thing as a tree for people and as one document for programs.
    pub(crate) fn story<N: Noun>(self, row: &N, tree: &Branch) -> io::Result<()> {
        if self.is_for_people() {
            put(&tree.shown(self.now(), self.palette))
        } else {
            self.one(row)
        }
    }

    /// Says something that only people care for.
    pub(crate) fn say(self, text: &str) -> io::Result<()> {
        if self.is_for_people() {
            put(&format!("{text}\n"))
        } else {
            Ok(())
        }
    }

    /// The rows as a table, or as their names when names are wanted.
    pub(crate) fn table<N: Noun>(self, rows: &[N]) -> String {
        let wide = self.format == Format::Wide;
        table::shown(rows, wide, self.now(), self.palette)
    }

    /// How words are coloured here.
    pub(crate) const fn palette(self) -> Palette {
        self.palette
    }

    /// The present moment, from which ages are counted.
    #[expect(clippy::unused_self, reason = "the clock belongs to the output")]
    pub(crate) fn now(self) -> Timestamp {
        SystemClock.now()
    }

    fn data(self, value: &Value) -> io::Result<()> {
        put(&match self.format {
            Format::Yaml => yaml(value),
            _ => format!("{value:#}\n"),
        })
    }
}

/// A value as YAML text.
pub(crate) fn yaml(value: &Value) -> String {
    let text = serde_saphyr::to_string(value).unwrap_or_default();
    if text.ends_with('\n') {
        text
    } else {
        text + "\n"
    }
}

fn name_line<N: Noun>(row: &N) -> String {
    format!("{}/{}\n", N::KIND, row.name())
}

fn put(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
