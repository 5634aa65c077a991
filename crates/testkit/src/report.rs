//! What tests say to whoever ran them, beside passing and failing.
//!
//! The test harness hides what passing tests print, so these lines go to the real standard error
//! and to a file that the summary of all stages reads.

use std::fmt::Display;
use std::io::Write;

use crate::environment;

/// Says loudly that the running test is skipped, and why. The line is added to the file that
/// `EVENKEEL_SKIPS` names.
///
/// # Panics
/// When `EVENKEEL_NO_SKIP` is set: on a machine that should have everything, a skip is a failure.
pub fn skip(reason: &dyn Display) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    assert!(
        environment::variable("EVENKEEL_NO_SKIP").is_none(),
        "{test} may not be skipped here: {reason}"
    );
    let reason = reason.to_string().replace('\n', " ");
    write("SKIPPED ", &format!("{test}: {reason}"), "EVENKEEL_SKIPS");
}

/// Says a number that belongs into the summary. The line is added to the file that
/// `EVENKEEL_NOTES` names.
pub fn note(text: &dyn Display) {
    write("", &text.to_string(), "EVENKEEL_NOTES");
}

fn write(prefix: &str, line: &str, variable: &str) {
    let _ = writeln!(std::io::stderr(), "{prefix}{line}");
    if let Some(path) = environment::path(variable) {
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path);
        let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    }
}
