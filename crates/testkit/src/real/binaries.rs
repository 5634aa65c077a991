//! Where the programs of a control plane are on this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use thiserror::Error;

use crate::environment;

/// There is no control plane on this machine.
#[derive(Debug, Error)]
#[error(
    "no real control plane here: `make testbed` builds one; KUBEBUILDER_ASSETS or KUBE_APISERVER_BIN name another"
)]
pub struct MissingBinaries;

/// The programs, wherever they came from.
#[derive(Debug, Clone)]
pub(crate) enum Binaries {
    /// The multi-call program of `testbed/`, with kwok and its stages beside it.
    Testbed(PathBuf),
    /// A directory with one file per component.
    Assets(PathBuf),
    /// The two that are indispensable.
    Pair { apiserver: PathBuf, etcd: PathBuf },
}

impl Binaries {
    /// What a developer named, or else what `make testbed` built.
    pub(crate) fn find() -> Result<Self, MissingBinaries> {
        let built = || built_testbed().map(Self::Testbed);
        Self::named(environment::path)
            .or_else(built)
            .ok_or(MissingBinaries)
    }

    /// What the environment names.
    fn named(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<Self> {
        match variable("KUBE_APISERVER_BIN") {
            Some(apiserver) => {
                let beside = || apiserver.with_file_name("etcd");
                let etcd = variable("ETCD_BIN").unwrap_or_else(beside);
                Some(Self::Pair { apiserver, etcd })
            }
            None => variable("KUBEBUILDER_ASSETS").map(Self::Assets),
        }
    }

    /// The beginning of the command line of a component, when it is there.
    pub(crate) fn command(&self, component: &str) -> Option<Vec<OsString>> {
        match self {
            Self::Testbed(directory) if component == "kwok" => existing(directory.join("kwok")),
            Self::Testbed(directory) => {
                Some(vec![directory.join("testbed").into(), component.into()])
            }
            Self::Assets(directory) => existing(directory.join(component)),
            Self::Pair { apiserver, etcd } => match component {
                "kube-apiserver" => existing(apiserver.clone()),
                "etcd" => existing(etcd.clone()),
                _ => None,
            },
        }
    }

    /// kwok's description of how nodes and pods behave.
    pub(crate) fn kwok_stages(&self) -> Option<PathBuf> {
        match self {
            Self::Testbed(directory) | Self::Assets(directory) => {
                Some(directory.join("stages.yaml")).filter(|path| path.exists())
            }
            Self::Pair { .. } => None,
        }
    }
}

fn existing(path: PathBuf) -> Option<Vec<OsString>> {
    path.exists().then(|| vec![path.into()])
}

/// The build script knows where it puts things; it is asked, so that there is one rule.
fn built_testbed() -> Option<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testbed/build.sh");
    let output = Command::new("sh")
        .arg(script)
        .arg("--where")
        .output()
        .ok()?;
    let directory = String::from_utf8(output.stdout).ok()?;
    output
        .status
        .success()
        .then(|| PathBuf::from(directory.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(variables: &[(&str, &str)]) -> Option<Binaries> {
        let value = |name: &str| {
            variables
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, v)| v.into())
        };
        Binaries::named(value)
    }

    #[test]
    fn a_named_api_server_brings_the_etcd_beside_it() {
        let found = named(&[
            ("KUBE_APISERVER_BIN", "/k/kube-apiserver"),
            ("KUBEBUILDER_ASSETS", "/a"),
        ]);
        let Some(Binaries::Pair { apiserver, etcd }) = found else {
            panic!("{found:?}")
        };
        assert_eq!(apiserver, Path::new("/k/kube-apiserver"));
        assert_eq!(etcd, Path::new("/k/etcd"));
    }

    #[test]
    fn etcd_may_be_named_too() {
        let found = named(&[
            ("KUBE_APISERVER_BIN", "/k/kube-apiserver"),
            ("ETCD_BIN", "/e/etcd"),
        ]);
        assert!(matches!(found, Some(Binaries::Pair { etcd, .. }) if etcd == Path::new("/e/etcd")));
    }

    #[test]
    fn assets_are_a_directory() {
        let found = named(&[("KUBEBUILDER_ASSETS", "/a")]);
        assert!(matches!(found, Some(Binaries::Assets(path)) if path == Path::new("/a")));
        assert!(named(&[]).is_none());
    }
}
