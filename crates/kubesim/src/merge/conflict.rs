//! Fields that an applier wants otherwise than their managers.

use std::fmt;

use super::managers::{Identity, Operation};
use super::scalar::quoted;
use super::set::FieldSet;

/// One field that another manager holds at another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Who holds it.
    pub(crate) manager: Identity,
    /// The field as messages show it (`.data.x`).
    pub path: String,
}

impl Conflict {
    /// The message of the conflict's cause: `conflict with "m" using v1`.
    pub fn message(&self) -> String {
        format!("conflict with {}", self.manager)
    }
}

/// All conflicts of one apply, by manager, then in the order of fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conflicts(Vec<Conflict>);

impl Conflicts {
    /// Each conflict: one cause of the reply.
    pub fn iter(&self) -> impl Iterator<Item = &Conflict> {
        self.0.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn add(&mut self, manager: &Identity, fields: &FieldSet) {
        self.0
            .extend(fields.paths().into_iter().map(|path| Conflict {
                manager: manager.clone(),
                path,
            }));
        self.0.sort_by(|a, b| a.manager.cmp(&b.manager));
    }
}

/// The message of the reply.
impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = &self.0[..] {
            return write!(
                f,
                "Apply failed with 1 conflict: {}: {}",
                only.message(),
                only.path
            );
        }
        write!(f, "Apply failed with {} conflicts: ", self.0.len())?;
        for (nth, group) in self.0.chunk_by(|a, b| a.manager == b.manager).enumerate() {
            let separator = if nth == 0 { "" } else { "\n" };
            write!(f, "{separator}conflicts with {}:", group[0].manager)?;
            group
                .iter()
                .try_for_each(|conflict| write!(f, "\n- {}", conflict.path))?;
        }
        Ok(())
    }
}

/// As messages name a manager; appliers are known by their name alone.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", quoted(&self.manager))?;
        if !self.subresource.is_empty() {
            write!(f, " with subresource {}", quoted(&self.subresource))?;
        }
        match &self.operation {
            Operation::Apply => Ok(()),
            Operation::Update { api_version } => write!(f, " using {api_version}"),
        }
    }
}
