//! Pages of long lists.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A place in a list. It stays valid while rows come and go: what was created before the list
/// was begun is seen exactly once, unless it is deleted meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(pub i64);

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Cursor {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// Which part of a list is wanted. The default is all of it, as clients that know nothing of
/// pages expect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Paging {
    /// Go on after this place.
    pub after: Option<Cursor>,
    /// At most so many.
    pub limit: Option<u32>,
}

impl Paging {
    /// The whole list.
    pub const ALL: Self = Self {
        after: None,
        limit: None,
    };

    /// The first `limit` entries.
    pub const fn first(limit: u32) -> Self {
        Self {
            after: None,
            limit: Some(limit),
        }
    }

    /// As many entries again, after `cursor`.
    #[must_use]
    pub const fn after(self, cursor: Cursor) -> Self {
        Self {
            after: Some(cursor),
            ..self
        }
    }
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<T> {
    /// The entries.
    pub items: Vec<T>,
    /// Where to go on, if there is more.
    pub next: Option<Cursor>,
}

impl<T> Page<T> {
    /// The same page with other entries.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Page<U> {
        Page {
            items: self.items.into_iter().map(convert).collect(),
            next: self.next,
        }
    }
}
