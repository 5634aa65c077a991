//! Heartbeats: signs of life, many at a time.

use async_trait::async_trait;
use evenkeel_model::Heartbeat;
use futures::FutureExt;

use crate::Result;
use crate::database::Database;
use crate::sql::sql;
use crate::transaction::Transaction;

/// Signs of life.
#[async_trait]
pub trait Heartbeats {
    /// Remembers each agent's newest sign of life. Neither audited nor a change: a broker gathers
    /// them and hands over many at once.
    async fn heartbeats_record(&self, beats: &[Heartbeat]) -> Result<()>;
}

#[async_trait]
impl Heartbeats for Database {
    async fn heartbeats_record(&self, beats: &[Heartbeat]) -> Result<()> {
        let beats = beats.to_vec();
        self.write(move |tx| async move { record(tx, &beats).await }.boxed())
            .await
    }
}

async fn record(tx: &mut Transaction, beats: &[Heartbeat]) -> Result<()> {
    for beat in beats {
        let reported_at = beat.k8s_reachable.map(|_| beat.at);
        let query = sql("UPDATE agents SET last_heartbeat = $2, \
                 k8s_reachable = COALESCE($3, k8s_reachable), \
                 k8s_api_latency_ms = COALESCE($4, k8s_api_latency_ms), \
                 k8s_reported_at = COALESCE($5, k8s_reported_at), \
                 agent_version = COALESCE($6, agent_version), \
                 kubernetes_version = COALESCE($7, kubernetes_version) \
             WHERE id = $1 AND (last_heartbeat IS NULL OR last_heartbeat < $2)")
        .bind(&beat.agent_id)
        .bind(&beat.at)
        .bind(&beat.k8s_reachable)
        .bind(&beat.k8s_api_latency_ms)
        .bind(&reported_at)
        .bind(&beat.agent_version)
        .bind(&beat.kubernetes_version);
        tx.run(query).await?;
    }
    Ok(())
}
