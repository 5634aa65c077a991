//! Retention: forgetting what only history needs.

use async_trait::async_trait;
use futures::FutureExt;
use jiff::Timestamp;

use crate::Result;
use crate::database::Database;
use crate::sql::sql;

/// What may be forgotten. Nothing that agents are served depends on any of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expendable {
    /// What agents reported; the assignments keep what it meant.
    Events,
    /// The audit log.
    Audit,
    /// Deliveries that succeeded or were given up.
    Deliveries,
    /// Questions to the clusters that nobody waits for any more.
    Diffs,
    /// Changes; a broker that slept longer loads everything again.
    Changes,
}

/// Forgetting.
#[async_trait]
pub trait Retention {
    /// Forgets at most `limit` of what is older than `before`, and says how many. Call it until
    /// it says 0: small steps let other writes through.
    async fn forget(&self, what: Expendable, before: Timestamp, limit: u32) -> Result<u64>;
}

#[async_trait]
impl Retention for Database {
    async fn forget(&self, what: Expendable, before: Timestamp, limit: u32) -> Result<u64> {
        let query = sql(statement(what)).bind(&before).bind(&i64::from(limit));
        self.write(move |tx| async move { tx.run(query).await }.boxed())
            .await
    }
}

const fn statement(what: Expendable) -> &'static str {
    match what {
        Expendable::Events => {
            "DELETE FROM agent_events WHERE id IN \
             (SELECT id FROM agent_events WHERE created_at < $1 ORDER BY created_at LIMIT $2)"
        }
        Expendable::Audit => {
            "DELETE FROM audit_log WHERE id IN \
             (SELECT id FROM audit_log WHERE timestamp < $1 ORDER BY timestamp LIMIT $2)"
        }
        Expendable::Deliveries => {
            "DELETE FROM webhook_deliveries WHERE id IN \
             (SELECT id FROM webhook_deliveries WHERE completed_at < $1 \
              ORDER BY completed_at LIMIT $2)"
        }
        Expendable::Diffs => {
            "DELETE FROM diffs WHERE id IN \
             (SELECT id FROM diffs WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)"
        }
        // By number, not by time: what remains must have no holes even if a clock went back.
        Expendable::Changes => {
            "DELETE FROM changes WHERE number IN \
             (SELECT number FROM changes WHERE number < \
                  COALESCE((SELECT MIN(number) FROM changes WHERE at >= $1), \
                           (SELECT change_number + 1 FROM ledger)) \
              ORDER BY number LIMIT $2)"
        }
    }
}
