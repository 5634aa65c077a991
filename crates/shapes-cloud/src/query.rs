//! Which shapes a list shows.

use serde::{Deserialize, Serialize};

use crate::wire::Shape;

/// The longest page.
const LONGEST_PAGE: usize = 500;

/// Which shapes a list shows; what is not said does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// Those with this label, written `name=value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Those with this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Those whose name begins so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// The one that was made with this token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// How many at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Those after this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl Query {
    /// Those with a label.
    pub fn label(name: &str, value: &str) -> Self {
        Self {
            label: Some(format!("{name}={value}")),
            ..Self::default()
        }
    }

    pub(crate) fn page_size(&self) -> usize {
        self.limit.unwrap_or(LONGEST_PAGE).clamp(1, LONGEST_PAGE)
    }

    pub(crate) fn includes(&self, shape: &Shape) -> bool {
        let is = |wanted: &Option<String>, value: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| value == Some(wanted))
        };
        is(&self.name, Some(&shape.name))
            && is(&self.token, shape.token.as_deref())
            && self
                .prefix
                .as_ref()
                .is_none_or(|prefix| shape.name.starts_with(prefix))
            && self
                .label
                .as_ref()
                .is_none_or(|label| has_label(shape, label))
            && self.after.as_ref().is_none_or(|after| shape.id > *after)
    }
}

fn has_label(shape: &Shape, label: &str) -> bool {
    let (name, value) = label.split_once('=').unwrap_or((label, ""));
    shape.labels.get(name).is_some_and(|known| known == value)
}
