//! The machine's own PostgreSQL programs, and who may run them.

use std::ffi::OsString;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use tokio::process::Command;

use crate::postgres::PostgresError;
use crate::process::{Guarded, Nest, ProcessError, StopSignal, free_port};

/// The installed programs with a directory in which their server's user may write: for tests that
/// start PostgreSQL in a way of their own.
#[derive(Debug)]
pub struct Programs {
    binaries: PathBuf,
    user: ServerUser,
    nest: Nest,
}

/// A program that ends with the value.
#[derive(Debug)]
pub struct Running(Guarded);

impl Programs {
    /// Finds them.
    pub async fn find() -> Result<Self, PostgresError> {
        let binaries = find_binaries().ok_or(PostgresError::NotInstalled)?;
        let nest = Nest::new("postgres")?;
        let user = ServerUser::find(nest.path()).await?;
        Ok(Self {
            binaries,
            user,
            nest,
        })
    }

    /// A directory that the server's user owns; it is there as long as this value.
    pub fn directory(&self, name: &str) -> Result<PathBuf, PostgresError> {
        let room = self.nest.room(name)?;
        self.user.take(self.nest.path(), &room)?;
        Ok(room)
    }

    /// A port that nobody uses.
    pub fn free_port(&self) -> u16 {
        free_port()
    }

    /// Starts `command` as the server's user, with the programs in its path and nothing in its
    /// environment but `environment`.
    pub fn start<'a>(
        &self,
        name: &str,
        environment: impl IntoIterator<Item = (&'a str, String)>,
        command: &[&str],
    ) -> Result<Running, PostgresError> {
        let mut words = self.user.prefix();
        words.extend(["env", "-i"].map(OsString::from));
        words.push(format!("PATH={}:/usr/bin:/bin", self.binaries.display()).into());
        let pairs = environment.into_iter();
        words.extend(pairs.map(|(key, value)| OsString::from(format!("{key}={value}"))));
        words.extend(command.iter().map(OsString::from));
        let room = self.directory(&format!("{name}-log"))?;
        Ok(Running(Guarded::start(
            name,
            room,
            StopSignal::Quit,
            words,
        )?))
    }

    /// What one statement answers, as bare text.
    pub async fn query(&self, url: &str, sql: &str) -> Result<String, PostgresError> {
        let mut psql = Command::new(self.binaries.join("psql"));
        let output = run(psql.args(["-X", "-A", "-t", "-q", "-d", url, "-c", sql])).await?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

impl Running {
    /// Waits until `check` holds; fails with the end of the log when the program ends or takes
    /// longer than a minute.
    pub async fn until(&self, check: impl AsyncFn() -> bool) -> Result<(), ProcessError> {
        self.0.ready(Duration::from_secs(60), check).await
    }
}

/// The newest version that is installed.
pub(super) fn find_binaries() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    versions
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let version: u32 = entry.file_name().to_str()?.parse().ok()?;
            let binaries = entry.path().join("bin");
            binaries
                .join("initdb")
                .exists()
                .then_some((version, binaries))
        })
        .max()
        .map(|(_, binaries)| binaries)
}

/// Who runs the server. PostgreSQL refuses to run as root.
#[derive(Debug)]
pub(super) enum ServerUser {
    Ourselves,
    Other { user: u32, group: u32 },
}

impl ServerUser {
    /// Whoever owns a directory that we have just made is who we are.
    pub(super) async fn find(made_by_us: &Path) -> Result<Self, PostgresError> {
        if std::fs::metadata(made_by_us)?.uid() != 0 {
            return Ok(Self::Ourselves);
        }
        match Self::by_name("postgres").await {
            Ok(user) => Ok(user),
            Err(_) => Self::by_name("nobody").await,
        }
    }

    async fn by_name(name: &str) -> Result<Self, PostgresError> {
        let user = number(&run(Command::new("id").args(["-u", name])).await?);
        let group = number(&run(Command::new("id").args(["-g", name])).await?);
        match (user, group) {
            (Some(user), Some(group)) => Ok(Self::Other { user, group }),
            _ => Err(PostgresError::Tool {
                program: "id".into(),
                output: "no number".into(),
            }),
        }
    }

    /// Makes the server's directory theirs, and the one above passable.
    pub(super) fn take(&self, nest: &Path, room: &Path) -> Result<(), PostgresError> {
        if let Self::Other { user, group } = self {
            std::fs::set_permissions(nest, std::fs::Permissions::from_mode(0o711))?;
            chown(room, Some(*user), Some(*group))?;
        }
        Ok(())
    }

    /// What to put before a command so that it runs as this user.
    pub(super) fn prefix(&self) -> Vec<OsString> {
        match self {
            Self::Ourselves => Vec::new(),
            Self::Other { user, group } => {
                let (user, group) = (format!("--reuid={user}"), format!("--regid={group}"));
                ["setpriv", &user, &group, "--clear-groups"]
                    .map(OsString::from)
                    .to_vec()
            }
        }
    }
}

fn number(output: &Output) -> Option<u32> {
    String::from_utf8_lossy(&output.stdout).trim().parse().ok()
}

pub(super) async fn run(command: &mut Command) -> Result<Output, PostgresError> {
    let program = command
        .as_std()
        .get_program()
        .to_string_lossy()
        .into_owned();
    let failed = |output: String| PostgresError::Tool {
        program: program.clone(),
        output,
    };
    let output = command
        .output()
        .await
        .map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(failed(
        String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    ))
}
