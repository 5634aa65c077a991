//! Kinds without rules of their own: their metadata is checked, their types by the decoder.

use super::kind::Kind;

/// A kind of which only the schema is known.
pub(super) fn kind() -> Kind {
    Kind::plain("", "")
}
