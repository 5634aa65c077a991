//! Where in a text something stands.

use std::fmt::{self, Display};

/// Where an object stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which document, counted from 1; empty ones count.
    pub document: usize,
    /// The line on which the document begins, or on which it cannot be read, counted from 1.
    pub line: usize,
    /// Which item of the list, counted from 1, if the document is a list.
    pub item: Option<usize>,
}

impl Place {
    /// The item `at` of the list that stands here.
    pub(crate) const fn item(self, at: usize) -> Self {
        Self {
            item: Some(at),
            ..self
        }
    }

    /// The same, the line first.
    pub(crate) fn line_first(self) -> String {
        let Self { document, line, .. } = self;
        let item = self.item.map(|item| format!(", item {item}"));
        format!(
            "line {line}, document {document}{}",
            item.unwrap_or_default()
        )
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "document {}, line {}", self.document, self.line)?;
        self.item.map_or(Ok(()), |item| write!(f, ", item {item}"))
    }
}
