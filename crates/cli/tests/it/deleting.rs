//! `delete stack`: asks, and follows until it is gone.

use crate::fleet::Fleet;

#[tokio::test]
async fn a_stack_is_gone_when_every_agent_has_confirmed() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    agent.applies().await;
    let mut deleting = fleet
        .command(&["delete", "stack", "shop", "--yes", "--wait"])
        .spawn()
        .unwrap();
    while deleting.try_wait().unwrap().is_none() {
        agent.applies().await;
    }
    let output = deleting.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let expected = "\
stack/shop deleted; 1 agents are told to remove its objects
stack/shop is gone everywhere
";
    assert_eq!(said, expected);
}

#[test]
fn without_a_person_to_ask_yes_must_be_said() {
    let fleet = Fleet::start();
    fleet.apply_shop();
    let error = fleet.run(&["delete", "stack", "shop"]).failed(2);
    assert!(error.contains("say --yes"), "{error}");
    assert_eq!(
        fleet.run(&["get", "stacks", "-o", "name"]).ok(),
        "stack/shop\n"
    );
}

#[test]
fn waiting_in_vain_is_told() {
    let fleet = Fleet::start();
    fleet.agent("eu-1");
    fleet.apply_shop();
    let arguments = [
        "delete",
        "stack",
        "shop",
        "--yes",
        "--wait",
        "--timeout",
        "0s",
    ];
    let error = fleet.run(&arguments).failed(4);
    assert!(
        error.contains("stack shop is not gone everywhere"),
        "{error}"
    );
}

#[test]
fn what_is_not_there_cannot_be_deleted() {
    let fleet = Fleet::start();
    fleet.apply_shop();
    let error = fleet.run(&["delete", "stack", "shopp", "--yes"]).failed(1);
    assert!(error.contains("did you mean `shop`?"), "{error}");
}
