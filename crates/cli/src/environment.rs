//! What the environment says. Read here and nowhere else.

use std::env;
use std::path::PathBuf;

/// The directory in which programs of this user keep their data.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
pub(crate) fn data_home() -> Option<PathBuf> {
    let non_empty = |name| env::var_os(name).filter(|value| !value.is_empty());
    non_empty("XDG_DATA_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(non_empty("HOME")?).join(".local/share")))
}

/// Every variable that is text.
pub(crate) fn variables() -> impl Iterator<Item = (String, String)> {
    env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}
