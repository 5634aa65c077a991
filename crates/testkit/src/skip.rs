//! Tests that need something that this machine does not have.

use std::fmt::Display;
use std::io::Write;

use crate::environment;

/// Says loudly that the running test is skipped, and why.
///
/// The line goes to the real standard error (the test harness hides printed text of tests that
/// pass) and to the file named by `EVENKEEL_SKIPS`, which the stage summary counts.
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
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
    if let Some(path) = environment::path("EVENKEEL_SKIPS") {
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path);
        let line = format!("{test}\t{}\n", reason.to_string().replace('\n', " "));
        let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
    }
}
