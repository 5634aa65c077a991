//! Deliveries: sending what is due, in order per subscription, many subscriptions at once.

use std::time::Duration;

use evenkeel_model::{Attempt, Paging};
use evenkeel_store::{Claimed, Error, Result};
use futures::{StreamExt, TryStreamExt, stream};

use crate::app::Core;
use crate::metrics::DeliveryLabels;

/// A try may take as long as its subscription allows, and then some.
const MARGIN: Duration = Duration::from_secs(15);

/// Sends everything that is due.
pub(crate) async fn send_due(core: &Core) -> Result<Option<String>> {
    let lease = match longest_try(core).await? {
        None => return Ok(None),
        Some(longest) => longest + MARGIN,
    };
    // A name per pass: a pass that was overtaken cannot finish what another has claimed since.
    let holder = core.random.uuid().to_string();
    let mut sent = 0;
    loop {
        let claimed = core
            .store
            .deliveries_claim(&holder, lease, core.config.webhooks.at_once)
            .await?;
        if claimed.is_empty() || core.stopping.is_cancelled() {
            break;
        }
        sent += claimed.len();
        let at_once = claimed.len();
        stream::iter(claimed)
            .map(|one| send(core, &holder, one))
            .buffer_unordered(at_once)
            .try_collect::<()>()
            .await?;
    }
    Ok((sent > 0).then(|| format!("{sent} tries")))
}

/// The longest that any subscription lets a try take; `None` if there is no subscription.
async fn longest_try(core: &Core) -> Result<Option<Duration>> {
    let webhooks = core.store.webhook_list(Paging::ALL).await?.items;
    let seconds = webhooks
        .iter()
        .map(|webhook| webhook.settings.timeout_seconds.unsigned_abs());
    Ok(seconds.max().map(Duration::from_secs))
}

async fn send(core: &Core, holder: &str, claimed: Claimed) -> Result<()> {
    let attempt = core
        .webhooks
        .send(&claimed, core.clock.as_ref(), core.random.as_ref())
        .await;
    let result = match &attempt {
        Attempt::Delivered { .. } => "delivered",
        Attempt::Retry { .. } => "retry",
        Attempt::GiveUp { .. } => "dead",
    };
    core.metrics
        .deliveries
        .get_or_create(&DeliveryLabels { result })
        .inc();
    match core
        .store
        .delivery_finish(claimed.delivery.id, holder, attempt)
        .await
    {
        // Deleted or claimed by another meanwhile: no longer ours to say.
        Ok(_) | Err(Error::LeaseLost { .. } | Error::NotFound { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
