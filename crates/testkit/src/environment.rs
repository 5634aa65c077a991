//! What a developer may say about the machine through environment variables.
//!
//! | variable | meaning |
//! |---|---|
//! | `EVENKEEL_TEST_POSTGRES` | URL of a PostgreSQL to use instead of a private one; its user may create databases |
//! | `KUBEBUILDER_ASSETS` | directory with `etcd`, `kube-apiserver` and, if wanted, the other components |
//! | `KUBE_APISERVER_BIN`, `ETCD_BIN` | the two programs, by path |
//! | `KUBECONFIG` | a running cluster to use; only with `EVENKEEL_TEST_KUBECONFIG=1`, so that no test touches a cluster by accident |
//! | `EVENKEEL_SKIPS` | file to which every skipped test adds a line `test: reason` |
//! | `EVENKEEL_NOTES` | file to which tests add what belongs into the summary |
//! | `EVENKEEL_NO_SKIP` | when set, a test that would be skipped fails |

use std::path::PathBuf;

/// Reads one variable; empty counts as unset.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where the test kit reads settings"
)]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A variable that holds a path.
pub(crate) fn path(name: &str) -> Option<PathBuf> {
    variable(name).map(PathBuf::from)
}
