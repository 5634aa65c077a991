//! Signs of life, with how the cluster is doing.

use std::time::Duration;

use evenkeel_api::Heartbeat;
use evenkeel_model::AgentId;
use evenkeel_reconcile::RetryPolicy;
use tokio::time::{Instant, sleep, timeout};

use crate::shift::Shift;

/// How long a cluster may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// Gives a sign of life in every interval. What is not heard is not said again: the next one
/// follows.
pub(crate) async fn beat(shift: &Shift, agent: AgentId) {
    let pace = RetryPolicy::every(shift.agent.settings.polling_interval);
    loop {
        let sign = sign(shift).await;
        if let Err(error) = shift.agent.broker.agent_heartbeat(agent, &sign).await {
            tracing::debug!(%error, "the broker did not hear a sign of life");
        }
        sleep(pace.delay(1, &*shift.agent.dice)).await;
    }
}

async fn sign(shift: &Shift) -> Heartbeat {
    let asked = Instant::now();
    let version = timeout(PATIENCE, shift.client.apiserver_version()).await;
    let check = &shift.agent.checks.cluster;
    let said = match version {
        Ok(Ok(version)) => Ok(version.git_version),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer within {PATIENCE:?}")),
    };
    match &said {
        Ok(_) => check.pass(),
        Err(why) => check.fail(why.clone()),
    }
    let took = i64::try_from(asked.elapsed().as_millis()).ok();
    Heartbeat {
        k8s_reachable: Some(said.is_ok()),
        k8s_api_latency_ms: took.filter(|_| said.is_ok()),
        agent_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        kubernetes_version: said.ok(),
    }
}
