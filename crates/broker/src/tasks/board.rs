//! The board: how each task last went.

use std::sync::{Mutex, MutexGuard, PoisonError};

use evenkeel_api::TaskStatus;
use jiff::Timestamp;
use tokio::sync::Notify;

use super::Task;

/// How each task last went, and a bell for those that should not wait.
#[derive(Debug)]
pub(crate) struct Board {
    lines: Mutex<Vec<TaskStatus>>,
    bell: Notify,
}

impl Board {
    pub(crate) fn new(tasks: &[Task]) -> Self {
        let lines = tasks.iter().map(|task| TaskStatus {
            name: task.name.to_owned(),
            purpose: task.purpose.to_owned(),
            period_seconds: task.period.as_secs(),
            last_started_at: None,
            last_finished_at: None,
            last_result: None,
            last_error: None,
        });
        Self {
            lines: Mutex::new(lines.collect()),
            bell: Notify::new(),
        }
    }

    /// Every task.
    pub(crate) fn shown(&self) -> Vec<TaskStatus> {
        self.lock().clone()
    }

    /// Rings the bell: something is to be delivered.
    pub(crate) fn wake(&self) {
        self.bell.notify_waiters();
    }

    pub(super) fn bell(&self) -> &Notify {
        &self.bell
    }

    pub(super) fn started(&self, name: &str, at: Timestamp) {
        self.change(name, |line| line.last_started_at = Some(at));
    }

    pub(super) fn finished(&self, name: &str, at: Timestamp, result: Result<String, String>) {
        self.change(name, |line| {
            line.last_finished_at = Some(at);
            match result {
                Ok(did) => (line.last_result, line.last_error) = (Some(did), None),
                Err(why) => line.last_error = Some(why),
            }
        });
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut TaskStatus)) {
        if let Some(line) = self.lock().iter_mut().find(|line| line.name == name) {
            change(line);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<TaskStatus>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
