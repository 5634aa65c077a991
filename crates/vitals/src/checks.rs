//! What a process needs in order to work, each by name, and why it does not have it.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The checks of one process. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Checks(Arc<Mutex<BTreeMap<&'static str, State>>>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Passing,
    Failing(String),
}

/// One check; whoever does the work holds it and says how it is.
#[derive(Debug, Clone)]
pub struct Check {
    name: &'static str,
    checks: Checks,
}

impl Checks {
    /// A check that fails until somebody says otherwise.
    pub fn named(&self, name: &'static str) -> Check {
        let unknown = State::Failing("it has not been tried yet".to_owned());
        self.lock().entry(name).or_insert(unknown);
        Check {
            name,
            checks: self.clone(),
        }
    }

    /// Whether every check passes.
    pub fn all_pass(&self) -> bool {
        self.lock().values().all(|state| *state == State::Passing)
    }

    /// The checks that fail, and why.
    pub fn failing(&self) -> Vec<(&'static str, String)> {
        let failing = |(name, state): (&&'static str, &State)| match state {
            State::Passing => None,
            State::Failing(why) => Some((*name, why.clone())),
        };
        self.lock().iter().filter_map(failing).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, State>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One line for each check.
impl Display for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lock()
            .iter()
            .try_for_each(|(name, state)| match state {
                State::Passing => writeln!(f, "[+] {name}"),
                State::Failing(why) => writeln!(f, "[-] {name}: {why}"),
            })
    }
}

impl Check {
    /// It is there.
    pub fn pass(&self) {
        self.checks.lock().insert(self.name, State::Passing);
    }

    /// It is not, because of `why`.
    pub fn fail(&self, why: impl Into<String>) {
        let state = State::Failing(why.into());
        self.checks.lock().insert(self.name, state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_fails_until_somebody_says_otherwise() {
        let checks = Checks::default();
        assert!(checks.all_pass());
        let broker = checks.named("broker");
        assert!(!checks.all_pass());
        broker.pass();
        assert!(checks.all_pass());
        broker.fail("no answer");
        assert_eq!(checks.failing(), [("broker", "no answer".to_owned())]);
        assert_eq!(checks.to_string(), "[-] broker: no answer\n");
    }
}
