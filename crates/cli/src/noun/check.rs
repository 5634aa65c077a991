//! Checks: what `doctor` looked at and found.

use crate::output::cell::Cell;
use crate::output::noun::{Column, Noun, column};
use crate::output::tone::Tone;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finding {
    Ok,
    Warning,
    Fault,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) what: &'static str,
    pub(crate) finding: Finding,
    pub(crate) detail: String,
    /// What to do about it.
    pub(crate) remedy: Option<String>,
}

impl Check {
    /// All is well.
    pub(crate) fn ok(what: &'static str, detail: impl Into<String>) -> Self {
        Self {
            what,
            finding: Finding::Ok,
            detail: detail.into(),
            remedy: None,
        }
    }

    /// It works, but somebody should look.
    pub(crate) fn warning(
        what: &'static str,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            finding: Finding::Warning,
            remedy: Some(remedy.into()),
            ..Self::ok(what, detail)
        }
    }

    /// It does not work.
    pub(crate) fn fault(
        what: &'static str,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            finding: Finding::Fault,
            ..Self::warning(what, detail, remedy)
        }
    }
}

impl Noun for Check {
    const KIND: &'static str = "check";

    fn columns() -> Vec<Column<Self>> {
        vec![
            column("check", |check| check.what.into()),
            column("result", |check| {
                let (word, tone) = match check.finding {
                    Finding::Ok => ("ok", Tone::Good),
                    Finding::Warning => ("look", Tone::Notice),
                    Finding::Fault => ("broken", Tone::Bad),
                };
                Cell::Word(word.to_owned(), tone)
            }),
            column("detail", |check| check.detail.as_str().into()),
            column("what_to_do", |check| check.remedy.as_deref().into()),
        ]
    }

    fn name(&self) -> String {
        self.what.replace(' ', "-")
    }
}
