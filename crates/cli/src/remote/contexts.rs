//! Contexts: brokers by name, with their keys, in a file that only its owner may read.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::near;
use crate::environment;

/// Every context of this user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Contexts {
    /// The one that counts when none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) current: Option<String>,
    #[serde(default)]
    pub(crate) contexts: BTreeMap<String, Place>,
}

/// One broker and how to be let in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    pub(crate) broker: String,
    pub(crate) key: Credential,
    /// The authorities that alone are trusted there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ca_file: Option<PathBuf>,
}

/// A key, or the file that holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Credential {
    Text(String),
    File(PathBuf),
}

/// Why contexts cannot be used.
#[derive(Debug, Error)]
pub(crate) enum ContextError {
    #[error("neither XDG_CONFIG_HOME nor HOME is set, so there is no place for contexts")]
    Homeless,
    #[error("cannot use {path}")]
    Io { path: PathBuf, source: io::Error },
    #[error("cannot understand {path}")]
    Unreadable {
        path: PathBuf,
        source: Box<serde_saphyr::Error>,
    },
    #[error("there is no context `{name}`{}", near::did_you_mean(.near))]
    Unknown { name: String, near: Vec<String> },
}

impl Credential {
    /// The key.
    pub(crate) fn read(&self) -> Result<String, ContextError> {
        match self {
            Self::Text(key) => Ok(key.clone()),
            Self::File(path) => {
                let text = fs::read_to_string(path).map_err(io_error(path))?;
                Ok(text.trim().to_owned())
            }
        }
    }
}

impl Contexts {
    /// What the user's file says; nothing if there is none.
    pub(crate) fn load() -> Result<Self, ContextError> {
        match file() {
            Ok(path) => Self::read(&path),
            Err(ContextError::Homeless) => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Writes the user's file.
    pub(crate) fn save(&self) -> Result<(), ContextError> {
        self.write(&file()?)
    }

    /// The context of this name, or the current one.
    pub(crate) fn chosen(&self, name: Option<&str>) -> Result<Option<&Place>, ContextError> {
        match name.or(self.current.as_deref()) {
            Some(name) => self.get(name).map(Some),
            None => Ok(None),
        }
    }

    /// The context of this name.
    pub(crate) fn get(&self, name: &str) -> Result<&Place, ContextError> {
        let unknown = || ContextError::Unknown {
            name: name.to_owned(),
            near: near::to(name, self.contexts.keys()),
        };
        self.contexts.get(name).ok_or_else(unknown)
    }

    /// Adds or replaces a context.
    pub(crate) fn put(&mut self, name: &str, place: Place) {
        self.contexts.insert(name.to_owned(), place);
    }

    /// Makes this the context that counts when none is named.
    pub(crate) fn switch(&mut self, name: &str) -> Result<(), ContextError> {
        self.get(name)?;
        self.current = Some(name.to_owned());
        Ok(())
    }

    /// Forgets a context.
    pub(crate) fn remove(&mut self, name: &str) -> Result<Place, ContextError> {
        let place = self.get(name)?.clone();
        self.contexts.remove(name);
        self.current.take_if(|current| current == name);
        Ok(place)
    }

    fn read(path: &Path) -> Result<Self, ContextError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(io_error(path)(error)),
        };
        serde_saphyr::from_str(&text).map_err(|source| ContextError::Unreadable {
            path: path.to_owned(),
            source: Box::new(source),
        })
    }

    /// Replaces the file in one step, so that nobody ever reads half of it. A temporary file is
    /// for its owner only from the start.
    fn write(&self, path: &Path) -> Result<(), ContextError> {
        let error = io_error(path);
        let dir = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(dir).map_err(&error)?;
        let text = serde_saphyr::to_string(self).map_err(|e| error(io::Error::other(e)))?;
        let mut file = tempfile::NamedTempFile::new_in(dir).map_err(&error)?;
        file.write_all(text.as_bytes()).map_err(&error)?;
        file.persist(path).map_err(|e| error(e.error))?;
        Ok(())
    }
}

/// Where contexts are kept.
pub(crate) fn file() -> Result<PathBuf, ContextError> {
    let home = environment::config_home().ok_or(ContextError::Homeless)?;
    Ok(home.join("evenkeel/contexts.yaml"))
}

/// Whether others than its owner can read the file; `None` if there is none.
pub(crate) fn is_exposed(path: &Path) -> Option<bool> {
    let mode = fs::metadata(path).ok()?.permissions().mode();
    Some(mode & 0o077 != 0)
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> ContextError {
    let path = path.to_owned();
    move |source| ContextError::Io {
        path: path.clone(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local() -> Place {
        Place {
            broker: "http://127.0.0.1:3000".to_owned(),
            key: Credential::File("/data/admin-key".into()),
            ca_file: None,
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("evenkeel/contexts.yaml");
        let mut contexts = Contexts::default();
        contexts.put("local", local());
        contexts.switch("local").unwrap();
        contexts.write(&path).unwrap();
        assert_eq!(Contexts::read(&path).unwrap(), contexts);
        assert_eq!(is_exposed(&path), Some(false));
    }

    #[test]
    fn a_missing_file_has_no_contexts_and_a_strange_one_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("contexts.yaml");
        assert_eq!(Contexts::read(&path).unwrap(), Contexts::default());
        fs::write(
            &path,
            "contexts: {a: {broker: x, key: {text: y}, colour: red}}",
        )
        .unwrap();
        assert!(Contexts::read(&path).is_err());
    }

    #[test]
    fn a_removed_context_is_not_current() {
        let mut contexts = Contexts::default();
        contexts.put("local", local());
        contexts.switch("local").unwrap();
        contexts.remove("local").unwrap();
        assert_eq!(contexts.current, None);
        assert_eq!(contexts.chosen(None).unwrap(), None);
    }

    #[test]
    fn a_mistyped_context_is_answered_with_the_near_one() {
        let mut contexts = Contexts::default();
        contexts.put("production", local());
        let error = contexts.get("prodution").unwrap_err().to_string();
        assert!(error.contains("did you mean `production`?"), "{error}");
    }
}
