//! Which objects a list, a watch or a deletion is about: label and field selectors, parsed once
//! and asked of many objects.

mod field;
mod label;
mod text;

use serde_json::Value;

pub(crate) use field::{FieldLabels, FieldSelector};
pub(crate) use label::LabelSelector;
pub(crate) use text::selector_text;

/// Both selectors of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selectors {
    pub(crate) labels: LabelSelector,
    pub(crate) fields: FieldSelector,
}

impl Selectors {
    /// Whether everything is selected.
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether an object is selected.
    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.labels.matches(&object["metadata"]["labels"]) && self.fields.matches(object)
    }
}
