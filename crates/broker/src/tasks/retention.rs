//! Retention: forgetting, in small steps, what only history needs.

use evenkeel_store::{Expendable, Result};
use jiff::{SignedDuration, Timestamp};

use crate::app::Core;

/// So much is forgotten in one step; other writes go in between.
const STEP: u32 = 500;
const DAY: i64 = 24 * 3600;

/// Forgets what is older than the configuration says.
pub(crate) async fn forget_old(core: &Core) -> Result<Option<String>> {
    let days = &core.config.retention;
    let mut forgotten = forget(core, Expendable::Diffs, core.clock.now()).await?;
    for (what, days) in [
        (Expendable::Events, days.event_days),
        (Expendable::Audit, days.audit_days),
        (Expendable::Deliveries, days.delivery_days),
        (Expendable::Changes, days.change_days),
    ] {
        if let Some(before) = before(core.clock.now(), days) {
            forgotten += forget(core, what, before).await?;
        }
    }
    Ok(Some(format!("{forgotten} rows")))
}

fn before(now: Timestamp, days: u32) -> Option<Timestamp> {
    let age = SignedDuration::from_secs(i64::from(days) * DAY);
    (days > 0).then(|| now.saturating_sub(age).unwrap_or(Timestamp::MIN))
}

async fn forget(core: &Core, what: Expendable, before: Timestamp) -> Result<u64> {
    let mut all = 0;
    loop {
        let some = core.store.forget(what, before, STEP).await?;
        all += some;
        if some == 0 || core.stopping.is_cancelled() {
            return Ok(all);
        }
    }
}
