//! `reconcile`, `suspend`, `resume`, `approve`, `stack drift-mode`, `stack move`.

use std::process::Child;

use evenkeel_api::ReportedHealth;
use evenkeel_client::Poll;
use evenkeel_model::{DriftMode, HealthStatus, ObjectControl};

use crate::fleet::{Agent, Fleet};

async fn told(agent: &Agent) -> ObjectControl {
    let state = agent.client.target_state(agent.id, &Poll::default()).await;
    state.unwrap().unwrap().objects[0].control
}

#[tokio::test]
async fn what_people_ask_for_reaches_the_agents() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    assert_eq!(
        fleet.run(&["suspend", "shop"]).ok(),
        "stack/shop suspended\n"
    );
    assert!(told(&agent).await.suspended);
    assert!(fleet.run(&["get", "stacks"]).ok().contains("suspended"));
    assert_eq!(
        fleet.run(&["resume", "shop", "-o", "name"]).ok(),
        "stack/shop\n"
    );
    assert!(!told(&agent).await.suspended);
    let before = told(&agent).await.reconcile_token;
    let said = fleet.run(&["reconcile", "shop"]).ok();
    assert_eq!(said, "stack/shop will be looked at anew\n");
    assert!(told(&agent).await.reconcile_token > before);
}

#[tokio::test]
async fn a_stack_says_what_becomes_of_drift() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    let said = fleet.run(&["stack", "drift-mode", "shop", "warn"]).ok();
    assert_eq!(said, "stack/shop set to drift mode warn\n");
    assert_eq!(told(&agent).await.drift, Some(DriftMode::Warn));
    let stacks = fleet.run(&["get", "stacks", "-o", "json"]).json();
    assert_eq!(stacks[0]["drift"], "warn");
    let tree = fleet.run(&["describe", "stack", "shop"]).ok();
    assert!(
        tree.lines().next().unwrap().ends_with("drift: warn"),
        "{tree}"
    );
    let said = fleet.run(&["stack", "drift-mode", "shop", "agent"]).ok();
    assert_eq!(said, "stack/shop left to each agent's settings\n");
    assert_eq!(told(&agent).await.drift, None);
    fleet
        .run(&["stack", "drift-mode", "shop", "mend"])
        .failed(2);
}

#[tokio::test]
async fn deletions_that_wait_are_approved() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    let error = fleet.run(&["approve", "shop", "--yes"]).failed(1);
    assert!(error.contains("stack shop cannot be approved"), "{error}");
    agent.applies().await;
    let waits = |report| ReportedHealth {
        waiting: Some("12 objects would be deleted".to_owned()),
        ..report
    };
    agent.health(HealthStatus::Healthy, None, waits).await;
    assert!(
        fleet
            .run(&["status"])
            .ok()
            .contains("12 objects would be deleted")
    );
    assert_eq!(
        fleet.run(&["approve", "shop", "--yes"]).ok(),
        "stack/shop approved\n"
    );
    assert!(told(&agent).await.approved);
}

#[tokio::test]
async fn objects_change_their_stack_only_after_every_agent_took_them_over() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    agent.applies().await;
    let moving = [
        "stack",
        "move",
        "shop",
        "texts",
        "ConfigMap/shop/greeting",
        "--yes",
    ];

    let error = fleet
        .run(&[&moving[..], &["--timeout", "0s"]].concat())
        .failed(4);
    assert!(error.contains("texts has not converged"), "{error}");
    let history = fleet.run(&["history", "shop", "-o", "json"]).json();
    assert_eq!(
        history.as_array().unwrap().len(),
        1,
        "the old stack was left alone"
    );

    agent.applies().await;
    let mut moving = fleet.command(&moving).spawn().unwrap();
    follow(&agent, &mut moving).await;
    let output = moving.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.ends_with("1 objects moved from stack/shop to stack/texts\n"),
        "{said}"
    );
    let shop = fleet.run(&["history", "shop", "-o", "json"]).json();
    assert!(!shop[0]["yaml"].as_str().unwrap().contains("greeting"));
}

/// Applies whatever comes until the move has ended.
async fn follow(agent: &Agent, moving: &mut Child) {
    while moving.try_wait().unwrap().is_none() {
        agent.applies().await;
    }
}

#[test]
fn objects_that_are_not_there_cannot_be_moved() {
    let fleet = Fleet::start();
    fleet.apply_shop();
    let error = fleet
        .run(&["stack", "move", "shop", "b", "Pod/x", "--yes"])
        .failed(1);
    assert!(
        error.contains("it has Namespace/shop, ConfigMap/shop/greeting"),
        "{error}"
    );
}
