//! Settings in layers: defaults, then a file, then the environment, then flags.
//!
//! Each layer overrides the one before, key by key. A key that nobody knows is an error that names
//! the layer it came from, because a setting that is silently ignored is worse than one that is
//! refused. The environment is given, never read.
//!
//! ```text
//! T::default() ◀── file (YAML, TOML) ◀── EVENKEEL__SECTION__KEY ◀── section.key=value
//! ```
//!
//! Read [`Layers`]; it is all there is.

mod layers;

pub use layers::{Format, Layers, SettingsError};
