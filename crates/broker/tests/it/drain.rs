//! Stopping: requests in progress are answered, and nothing that was acknowledged is lost.

use std::time::Duration;

use evenkeel_api::Heartbeat;
use evenkeel_store::Agents as _;

use crate::world::World;

#[tokio::test]
async fn a_broker_that_stops_answers_those_who_wait_and_writes_down_signs_of_life() {
    let world = World::new().await;
    let agent = world.agent("edge", &[]).await;
    agent
        .client
        .agent_heartbeat(agent.id, &Heartbeat::default())
        .await
        .unwrap();
    let version = agent.target_state().await.version;
    let (answer, ()) = tokio::join!(agent.poll(&version, Some(Duration::from_secs(60))), async {
        while !world.admin.fleet().await.unwrap()[0].ws_connected {
            tokio::task::yield_now().await;
        }
        world.stop.cancel();
    });
    assert_eq!(answer, None);
    world.broker.stopped().await;
    assert!(world.admin.fleet().await.is_err());
    let kept = world.database.agent_get(agent.id).await.unwrap().unwrap();
    assert!(kept.last_heartbeat.is_some());
}
