//! Where state lives: a directory of the user's, or one that goes with the process.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::options::UpOptions;
use crate::environment;

#[derive(Debug)]
pub(super) enum Home {
    Kept(PathBuf),
    Temporary(tempfile::TempDir),
}

impl Home {
    pub(super) fn of(options: &UpOptions) -> anyhow::Result<Self> {
        if options.ephemeral {
            let dir = tempfile::tempdir().context("cannot make a temporary directory")?;
            return Ok(Self::Temporary(dir));
        }
        let default = || environment::data_home().map(|home| home.join("evenkeel"));
        match options.data_dir.clone().or_else(default) {
            Some(path) => Ok(Self::Kept(path)),
            None => bail!("neither XDG_DATA_HOME nor HOME is set: say --data-dir or --ephemeral"),
        }
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(dir) => dir.path(),
        }
    }
}
