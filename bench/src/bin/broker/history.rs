//! Old events, many of them, so that what is measured beside them is measured on a store with a
//! history.

use std::str::FromStr;
use std::time::Duration;

use evenkeel_bench::http::Connection;
use serde_json::json;
use sqlx::ConnectOptions as _;
use sqlx::sqlite::SqliteConnectOptions;

use crate::fleet::Agent;
use crate::{Server, progress};

/// How many old events are written at once.
const STEP: usize = 100_000;

/// Gives the agent old events about the object. A broker of our own gets them straight into its
/// database, which takes seconds; any other is told them one by one.
pub(crate) async fn add_events(
    server: &Server,
    agent: &Agent,
    object: &str,
    count: usize,
) -> anyhow::Result<()> {
    match &server.database {
        Some(url) => insert(url, agent, object, count).await,
        None => tell(server, agent, object, count).await,
    }
}

async fn insert(url: &str, agent: &Agent, object: &str, count: usize) -> anyhow::Result<()> {
    let options = SqliteConnectOptions::from_str(url)?.busy_timeout(Duration::from_secs(60));
    let mut database = options.connect().await?;
    let id = |text: &str| text.replace('-', "").to_uppercase();
    for begun in (0..count).step_by(STEP) {
        progress(&format!("{begun} of {count} old events"));
        // Their places are before the first that the broker gave out, so they are the oldest.
        let statement = "WITH RECURSIVE n (i) AS \
                 (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) \
             INSERT INTO agent_events (id, position, created_at, agent_id, \
                 deployment_object_id, stack_id, event_type, status, message) \
             SELECT randomblob(16), -($2 + i), $2 + i, o.agent_id, d.id, d.stack_id, \
                 'DEPLOY', 'SUCCESS', 'as it should be' \
             FROM n, assignments o JOIN deployment_objects d ON d.stack_id = o.stack_id \
             WHERE hex(o.agent_id) = $3 AND hex(d.id) = $4";
        sqlx::query(statement)
            .bind(STEP.min(count - begun) as i64)
            .bind(begun as i64)
            .bind(id(&agent.id))
            .bind(id(object))
            .execute(&mut database)
            .await?;
    }
    Ok(())
}

async fn tell(server: &Server, agent: &Agent, object: &str, count: usize) -> anyhow::Result<()> {
    let mut wire = Connection::open(&server.host).await?;
    let path = format!("/agents/{}/events", agent.id);
    let event =
        json!({ "deployment_object_id": object, "event_type": "DEPLOY", "status": "SUCCESS" });
    for told in 0..count {
        if told % 1_000 == 0 {
            progress(&format!("{told} of {count} old events"));
        }
        wire.api("POST", &path, &agent.key, &event).await?;
    }
    Ok(())
}
