//! `doctor`: what it finds, and what it says to do.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use evenkeel_api::Heartbeat;

use crate::fleet::Fleet;

/// Each check and how it ended.
fn findings(fleet: &Fleet) -> BTreeMap<String, String> {
    let said = fleet.run(&["doctor", "-o", "json"]);
    let checks: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let checks = checks.as_array().unwrap().iter();
    checks
        .map(|check| (text(&check["check"]), text(&check["result"])))
        .collect()
}

#[tokio::test]
async fn a_fleet_in_order_passes() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    let beat = Heartbeat {
        k8s_reachable: Some(true),
        ..Heartbeat::default()
    };
    agent.client.agent_heartbeat(agent.id, &beat).await.unwrap();
    agent.applies().await;
    let said = fleet.run(&["doctor"]).ok();
    assert!(said.contains("accepted: an administrator"), "{said}");
    assert!(
        findings(&fleet).values().all(|result| result == "ok"),
        "{said}"
    );
}

#[tokio::test]
async fn what_is_broken_is_found_and_ends_with_a_failure() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.run(&["agent", "create", "resting"]).ok();
    fleet.apply_shop();
    agent.fails("no room").await;
    fleet
        .run(&[
            "apply",
            "-f",
            fleet.path("shop.yaml").to_str().unwrap(),
            "--stack",
            "loose",
        ])
        .ok();
    assert_eq!(fleet.run(&["doctor"]).code, 1);
    let found = findings(&fleet);
    assert_eq!(found["agents"], "look");
    assert_eq!(found["heartbeats"], "broken");
    assert_eq!(found["targets"], "look");
    assert_eq!(found["deliveries"], "broken");
}

#[test]
fn a_broker_that_is_away_is_the_first_thing_to_say() {
    let fleet = Fleet::start_unknown();
    assert_eq!(findings(&fleet)["broker"], "broken");
    let said = fleet.run(&["doctor", "--broker", "http://127.0.0.1:1", "--key", "x"]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("Connection refused"), "{}", said.out);
}

#[test]
fn keys_that_others_can_read_are_noticed() {
    let fleet = Fleet::start();
    let file = fleet.path("config/evenkeel/contexts.yaml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(findings(&fleet)["contexts"], "look");
}
