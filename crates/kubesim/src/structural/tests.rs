//! What schemas do to values, as tables.
