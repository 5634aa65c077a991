//! Typed client of the public API
