//! The driver: runs a task again and again, and tells the board.

use std::time::Duration;

use evenkeel_ambient::chain;
use evenkeel_store::Result;
use futures::future::BoxFuture;

use super::{deliveries, retention, signs};
use crate::app::{App, Core};
use crate::config::Config;

/// One piece of background work.
pub(crate) struct Task {
    pub(crate) name: &'static str,
    pub(crate) purpose: &'static str,
    pub(crate) period: Duration,
    /// Whether only one broker should do it at a time.
    pub(crate) leased: bool,
    /// Does it once; `None` when there was nothing to do.
    pub(crate) run: for<'a> fn(&'a Core) -> BoxFuture<'a, Result<Option<String>>>,
}

/// Every task of a broker.
pub(crate) fn all(config: &Config) -> Vec<Task> {
    vec![
        Task {
            name: "signs",
            purpose: "write down signs of life",
            period: Duration::from_secs(1),
            leased: false,
            run: |core| Box::pin(signs::write_down(core)),
        },
        Task {
            name: "deliveries",
            purpose: "send what webhooks wait for",
            period: Duration::from_secs(config.webhooks.period_seconds.max(1)),
            leased: false,
            run: |core| Box::pin(deliveries::send_due(core)),
        },
        Task {
            name: "retention",
            purpose: "forget what only history needs",
            period: Duration::from_secs(600),
            leased: true,
            run: |core| Box::pin(retention::forget_old(core)),
        },
    ]
}

/// Runs the task until the broker stops.
pub(crate) async fn drive(app: App, holder: String, task: Task) {
    loop {
        tokio::select! {
            () = app.stopping.cancelled() => return,
            () = app.board.bell().notified() => {}
            () = tokio::time::sleep(task.period) => {}
        }
        run_once(&app, &holder, &task).await;
    }
}

async fn run_once(core: &Core, holder: &str, task: &Task) {
    match may_run(core, holder, task).await {
        Ok(true) => {}
        Ok(false) => return,
        Err(error) => {
            tracing::warn!(task = task.name, error = %chain(&error), "could not take a lease");
            return;
        }
    }
    core.board.started(task.name, core.clock.now());
    let result = match (task.run)(core).await {
        Ok(None) => return,
        Ok(Some(did)) => Ok(did),
        Err(error) => {
            tracing::warn!(task = task.name, error = %chain(&error), "background work failed");
            Err(chain(&error))
        }
    };
    core.board.finished(task.name, core.clock.now(), result);
}

async fn may_run(core: &Core, holder: &str, task: &Task) -> Result<bool> {
    if !task.leased {
        return Ok(true);
    }
    let name = format!("task/{}", task.name);
    let lease = core
        .store
        .lease_acquire(&name, holder, task.period * 3)
        .await?;
    Ok(lease.is_some())
}
