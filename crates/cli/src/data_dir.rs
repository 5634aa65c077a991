//! The directory in which `evenkeel up` keeps its state: one owner at a time, one format.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The format of what is in the directory. A newer program may raise it; an older one must not
/// touch what it does not understand.
const FORMAT: u32 = 1;

/// A directory that is ours until this is dropped.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    /// Holds the lock for as long as the file is open; a crash releases it too.
    _lock: File,
}

/// Why a directory cannot be used.
#[derive(Debug, Error)]
pub(crate) enum DataDirError {
    /// Another process has it.
    #[error(
        "{path} is in use by another `evenkeel up`; stop that one, or give this one its own with --data-dir"
    )]
    InUse { path: PathBuf },
    /// A newer version wrote it.
    #[error(
        "{path} was written by a newer evenkeel (format {found}, this one knows {FORMAT}); upgrade, or use another --data-dir"
    )]
    Newer { path: PathBuf, found: u32 },
    /// What says the format cannot be understood.
    #[error(
        "{path} does not look like a data directory of evenkeel: its file `format` says {found:?}"
    )]
    Foreign { path: PathBuf, found: String },
    /// The file system said no.
    #[error("cannot use {path} as data directory")]
    Io { path: PathBuf, source: io::Error },
}

impl DataDir {
    /// Makes the directory if need be and takes it for this process.
    pub(crate) fn open(path: &Path) -> Result<Self, DataDirError> {
        let io = |source| DataDirError::Io {
            path: path.to_owned(),
            source,
        };
        for part in ["broker", "clusters", "agents"] {
            fs::create_dir_all(path.join(part)).map_err(io)?;
        }
        let lock = lock(path)?;
        check_format(path)?;
        Ok(Self {
            path: path.to_owned(),
            _lock: lock,
        })
    }

    /// The directory itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A file that belongs to the broker.
    pub(crate) fn of_broker(&self, file: &str) -> PathBuf {
        self.path.join("broker").join(file)
    }

    /// A file that belongs to the agent called `name`.
    pub(crate) fn of_agent(&self, name: &str, extension: &str) -> PathBuf {
        self.path.join("agents").join(format!("{name}.{extension}"))
    }

    /// A file that belongs to the cluster called `name`.
    pub(crate) fn of_cluster(&self, name: &str, extension: &str) -> PathBuf {
        self.path
            .join("clusters")
            .join(format!("{name}.{extension}"))
    }
}

fn lock(path: &Path) -> Result<File, DataDirError> {
    let io = |source| DataDirError::Io {
        path: path.to_owned(),
        source,
    };
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path.join("lock"))
        .map_err(io)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(DataDirError::InUse {
            path: path.to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(io(source)),
    }
}

fn check_format(path: &Path) -> Result<(), DataDirError> {
    let file = path.join("format");
    let io = |source| DataDirError::Io {
        path: file.clone(),
        source,
    };
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return fs::write(&file, format!("{FORMAT}\n")).map_err(io);
        }
        Err(error) => return Err(io(error)),
    };
    match text.trim().parse() {
        Ok(found) if found > FORMAT => Err(DataDirError::Newer {
            path: path.to_owned(),
            found,
        }),
        Ok(_) => Ok(()),
        Err(_) => Err(DataDirError::Foreign {
            path: path.to_owned(),
            found: text.trim().to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_owner_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let first = DataDir::open(dir.path()).unwrap();
        assert!(matches!(
            DataDir::open(dir.path()),
            Err(DataDirError::InUse { .. })
        ));
        drop(first);
        DataDir::open(dir.path()).unwrap();
    }

    #[test]
    fn a_newer_format_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("format"), "2\n").unwrap();
        let error = DataDir::open(dir.path()).unwrap_err();
        assert!(
            matches!(error, DataDirError::Newer { found: 2, .. }),
            "{error}"
        );
        assert_eq!(
            fs::read_to_string(dir.path().join("format")).unwrap(),
            "2\n"
        );
    }

    #[test]
    fn a_foreign_directory_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("format"), "photographs").unwrap();
        assert!(matches!(
            DataDir::open(dir.path()),
            Err(DataDirError::Foreign { .. })
        ));
    }
}
