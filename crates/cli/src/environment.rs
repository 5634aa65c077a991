//! What the environment says. Read here and nowhere else.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// The directory in which programs of this user keep their data.
pub(crate) fn data_home() -> Option<PathBuf> {
    home("XDG_DATA_HOME", ".local/share")
}

/// The directory in which programs of this user keep what the user told them.
pub(crate) fn config_home() -> Option<PathBuf> {
    home("XDG_CONFIG_HOME", ".config")
}

/// Whether somebody asked for no colours (<https://no-color.org>).
pub(crate) fn no_color() -> bool {
    non_empty("NO_COLOR").is_some()
}

/// What people type to run this program: as they typed it just now.
pub(crate) fn called_as() -> String {
    let first = env::args().next();
    first.unwrap_or_else(|| "evenkeel".to_owned())
}

/// Every variable that is text.
pub(crate) fn variables() -> impl Iterator<Item = (String, String)> {
    env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

fn home(variable: &str, otherwise: &str) -> Option<PathBuf> {
    non_empty(variable)
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(non_empty("HOME")?).join(otherwise)))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
fn non_empty(variable: &str) -> Option<OsString> {
    env::var_os(variable).filter(|value| !value.is_empty())
}
