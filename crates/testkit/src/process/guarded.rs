//! A program that cannot outlive its owner.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use thiserror::Error;
use tokio::time::{Instant, sleep};

const GUARD: &str = include_str!("guard.sh");

/// What went wrong with a program that a test needs.
#[derive(Debug, Error)]
pub enum ProcessError {
    /// There was no place for its files.
    #[error("make the directory {path}")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The program could not be started at all.
    #[error("start {program}")]
    Start {
        /// The program.
        program: String,
        /// Why not.
        source: io::Error,
    },
    /// The program ended by itself.
    #[error(
        "{program} ended with exit code {code} before it was ready; the end of its log:\n{log}"
    )]
    Ended {
        /// The program.
        program: String,
        /// Its exit code.
        code: String,
        /// The last lines that it wrote.
        log: String,
    },
    /// The program runs but does not answer.
    #[error("{program} was not ready after {seconds} s; the end of its log:\n{log}")]
    NotReady {
        /// The program.
        program: String,
        /// How long we waited.
        seconds: u64,
        /// The last lines that it wrote.
        log: String,
    },
}

/// A temporary directory in which several programs have a directory each. It holds no file of its
/// own, so the guard that leaves last can remove it.
#[derive(Debug)]
pub(crate) struct Nest(PathBuf);

impl Nest {
    pub(crate) fn new(purpose: &str) -> Result<Self, ProcessError> {
        let parent = std::env::temp_dir();
        tempfile::Builder::new()
            .prefix(&format!("evenkeel-{purpose}-"))
            .tempdir_in(&parent)
            .map(|directory| Self(directory.keep()))
            .map_err(|source| ProcessError::Directory {
                path: parent,
                source,
            })
    }

    /// Makes the directory of one program.
    pub(crate) fn room(&self, name: &str) -> Result<PathBuf, ProcessError> {
        let path = self.0.join(name);
        std::fs::create_dir_all(&path).map_err(|source| ProcessError::Directory {
            path: path.clone(),
            source,
        })?;
        Ok(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Nest {
    /// Removes what is left when a start failed half-way; after a whole life the guards were here
    /// first.
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// How a program likes to be ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StopSignal {
    /// At once: nothing that it holds is worth a flush.
    Kill,
    /// PostgreSQL's "immediate shutdown", which also frees its shared memory.
    Quit,
}

impl StopSignal {
    fn name(self) -> &'static str {
        match self {
            Self::Kill => "KILL",
            Self::Quit => "QUIT",
        }
    }
}

/// A running program. Dropping it ends the program and removes its directory; when this process
/// dies without dropping anything, the guard does the same.
#[derive(Debug)]
pub(crate) struct Guarded {
    name: String,
    room: PathBuf,
    guard: Child,
}

impl Guarded {
    /// Starts `command` (program and arguments) with `room` as its directory.
    pub(crate) fn start(
        name: &str,
        room: PathBuf,
        signal: StopSignal,
        command: impl IntoIterator<Item = OsString>,
    ) -> Result<Self, ProcessError> {
        let guard = Command::new("sh")
            .args(["-c", GUARD, "guard"])
            .arg(&room)
            .arg(signal.name())
            .args(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C in the terminal reaches the test, whose end closes the pipe; a guard that
            // died of the same Ctrl-C could not clean up.
            .process_group(0)
            .spawn()
            .map_err(|source| ProcessError::Start { program: name.to_owned(), source })?;
        Ok(Self {
            name: name.to_owned(),
            room,
            guard,
        })
    }

    /// Asks `probe` again and again until it says yes.
    pub(crate) async fn ready(
        &self,
        within: Duration,
        probe: impl AsyncFn() -> bool,
    ) -> Result<(), ProcessError> {
        let deadline = Instant::now() + within;
        while !probe().await {
            self.check_alive()?;
            if Instant::now() > deadline {
                return Err(ProcessError::NotReady {
                    program: self.name.clone(),
                    seconds: within.as_secs(),
                    log: self.end_of_log(),
                });
            }
            sleep(Duration::from_millis(30)).await;
        }
        Ok(())
    }

    fn check_alive(&self) -> Result<(), ProcessError> {
        match std::fs::read_to_string(self.room.join("exited")) {
            Err(_) => Ok(()),
            Ok(code) => Err(ProcessError::Ended {
                program: self.name.clone(),
                code: code.trim().to_owned(),
                log: self.end_of_log(),
            }),
        }
    }

    /// The last twenty lines that the program wrote.
    pub(crate) fn end_of_log(&self) -> String {
        let text = std::fs::read(self.room.join("log")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Vec<OsString> {
        ["sh", "-c", script].map(OsString::from).to_vec()
    }

    fn exists(pid: &str) -> bool {
        Path::new("/proc").join(pid.trim()).exists()
    }

    #[tokio::test]
    async fn a_dropped_program_is_gone_with_its_directory() {
        let nest = Nest::new("guard").unwrap();
        let room = nest.room("sleeper").unwrap();
        let script = format!("echo $$ > {}/pid; exec sleep 600", room.display());
        let program =
            Guarded::start("sleeper", room.clone(), StopSignal::Kill, shell(&script)).unwrap();
        let written =
            async || std::fs::read_to_string(room.join("pid")).is_ok_and(|p| !p.is_empty());
        program
            .ready(Duration::from_secs(20), written)
            .await
            .unwrap();
        let pid = std::fs::read_to_string(room.join("pid")).unwrap();
        assert!(exists(&pid));

        drop(program);

        assert!(!exists(&pid));
        assert!(!nest.path().exists());
    }

    #[tokio::test]
    async fn a_program_that_ignores_its_signal_is_killed() {
        let nest = Nest::new("guard").unwrap();
        let room = nest.room("stubborn").unwrap();
        let program = Guarded::start(
            "stubborn",
            room,
            StopSignal::Quit,
            shell("trap '' QUIT; sleep 1"),
        )
        .unwrap();
        drop(program);
        assert!(!nest.path().exists());
    }

    #[tokio::test]
    async fn an_early_end_is_reported_with_the_log() {
        let nest = Nest::new("guard").unwrap();
        let room = nest.room("failing").unwrap();
        let program = Guarded::start(
            "failing",
            room,
            StopSignal::Kill,
            shell("echo out of ink; exit 3"),
        )
        .unwrap();
        let error = program
            .ready(Duration::from_secs(20), async || false)
            .await
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("exit code 3") && text.contains("out of ink"),
            "{text}"
        );
    }
}
