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
        if let Some(apiserver) = environment::path("KUBE_APISERVER_BIN") {
            let etcd =
                environment::path("ETCD_BIN").unwrap_or_else(|| apiserver.with_file_name("etcd"));
            return Ok(Self::Pair { apiserver, etcd });
        }
        if let Some(directory) = environment::path("KUBEBUILDER_ASSETS") {
            return Ok(Self::Assets(directory));
        }
        built_testbed().map(Self::Testbed).ok_or(MissingBinaries)
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
