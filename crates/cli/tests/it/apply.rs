//! `apply`, `history`, `rollback`.

use crate::fleet::{Fleet, SHOP};

#[test]
fn a_stack_is_made_on_the_way_and_unchanged_content_is_not_submitted_twice() {
    let fleet = Fleet::start();
    let file = fleet.write("shop.yaml", SHOP);
    let apply = ["apply", "-f", &file, "--stack", "shop"];
    assert_eq!(
        fleet.run(&apply).ok(),
        "stack/shop created, revision 1 submitted (2 objects)\n"
    );
    assert_eq!(
        fleet.run(&apply).ok(),
        "stack/shop revision 1 unchanged (2 objects)\n"
    );
    let forced = fleet.run(&[&apply[..], &["--force"]].concat()).ok();
    assert_eq!(forced, "stack/shop revision 2 submitted (2 objects)\n");
}

#[test]
fn manifests_come_from_directories_and_from_standard_input() {
    let fleet = Fleet::start();
    let (first, second) = SHOP.split_once("---\n").unwrap();
    fleet.write("shop/1.yaml", first);
    fleet.write("shop/below/2.yaml", second);
    let dir = fleet.path("shop");
    let said = fleet
        .run(&["apply", "-f", dir.to_str().unwrap(), "--stack", "a"])
        .ok();
    assert!(said.contains("(2 objects)"), "{said}");
    let said = fleet
        .run_with(&["apply", "-f", "-", "--stack", "b"], SHOP)
        .ok();
    assert!(said.contains("(2 objects)"), "{said}");
}

#[test]
fn bad_manifests_change_nothing() {
    let fleet = Fleet::start();
    let cases = [
        ("kind: ConfigMap\nmetadata: {name: a}\n", "apiversion"),
        ("apiVersion: v1\nkind: [\n", "line"),
        ("", "no documents"),
        (&format!("{SHOP}---\n{SHOP}"), "already described"),
    ];
    for (text, expected) in cases {
        let file = fleet.write("bad.yaml", text);
        let said = fleet.run(&["apply", "-f", &file, "--stack", "shop"]);
        let error = said.failed(1);
        assert!(error.contains("bad.yaml"), "{error}");
        assert!(error.to_lowercase().contains(expected), "{text:?}: {error}");
    }
    let error = fleet
        .run(&["apply", "-f", "/nowhere", "--stack", "shop"])
        .failed(1);
    assert!(error.contains("cannot read /nowhere"), "{error}");
    assert_eq!(fleet.run(&["get", "stacks", "-o", "name"]).ok(), "");
}

#[tokio::test]
async fn targets_are_added_and_agents_get_it() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    agent.applies().await;
    let rows = fleet.run(&["status", "shop", "-o", "json"]).json();
    assert_eq!(rows[0]["agent"], "eu-1");
    assert_eq!(rows[0]["phase"], "applied");
}

#[test]
fn an_agent_can_be_named_and_a_mistyped_one_is_answered_with_the_near_one() {
    let fleet = Fleet::start();
    fleet.agent("berlin");
    let file = fleet.write("shop.yaml", SHOP);
    fleet
        .run(&["apply", "-f", &file, "--stack", "shop", "--agent", "berlin"])
        .ok();
    let ties = fleet.run(&["get", "targets", "-o", "json"]).json();
    assert_eq!(ties[0]["because"], serde_json::json!(["explicit"]));
    let error = fleet.run(&["apply", "-f", &file, "--stack", "shop", "--agent", "berlni"]);
    assert!(error.failed(1).contains("did you mean `berlin`?"));
}

#[tokio::test]
async fn waiting_ends_when_every_agent_is_there() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    let file = fleet.path("shop.yaml");
    let arguments = [
        "apply",
        "-f",
        file.to_str().unwrap(),
        "--stack",
        "shop",
        "--wait",
    ];
    let waiting = fleet.command(&arguments).spawn().unwrap();
    agent.applies().await;
    let output = waiting.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.ends_with("stack/shop converged on 1/1 agents\n"),
        "{said}"
    );
}

#[tokio::test]
async fn waiting_in_vain_says_for_whom_and_why() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    agent.fails("the quota is used up").await;
    let file = fleet.path("shop.yaml");
    let arguments = ["apply", "-f", file.to_str().unwrap(), "--stack", "shop"];
    let said = fleet.run(&[&arguments[..], &["--wait", "--timeout", "0s"]].concat());
    let error = said.failed(4);
    assert!(
        error.contains("eu-1: failed, tries again: the quota is used up"),
        "{error}"
    );
}

#[test]
fn waiting_for_nobody_is_an_error_at_once() {
    let fleet = Fleet::start();
    let file = fleet.write("shop.yaml", SHOP);
    let error = fleet
        .run(&["apply", "-f", &file, "--stack", "shop", "--wait"])
        .failed(1);
    assert!(error.contains("no agent serves stack shop"), "{error}");
    assert!(error.contains("evenkeel target add"), "{error}");
}

#[test]
fn old_content_becomes_the_newest_again() {
    let fleet = Fleet::start();
    fleet.apply_shop();
    let file = fleet.write("shop.yaml", &SHOP.replace("hello", "good evening"));
    fleet.run(&["apply", "-f", &file, "--stack", "shop"]).ok();
    let said = fleet.run(&["rollback", "shop"]).ok();
    assert_eq!(
        said,
        "stack/shop rolled back to the content of revision 1, as revision 3\n"
    );
    let history = fleet.run(&["history", "shop", "-o", "json"]).json();
    let yaml = |at: usize| history[at]["yaml"].as_str().unwrap();
    assert_eq!(yaml(0), SHOP);
    assert!(yaml(1).contains("good evening"));
    let table = fleet.run(&["history", "shop"]).ok();
    let remarks: Vec<_> = table
        .lines()
        .skip(1)
        .map(|line| line.contains("same content"))
        .collect();
    assert_eq!(remarks, [false, false, true], "{table}");
    fleet.run(&["rollback", "shop", "--to", "2"]).ok();
    let error = fleet.run(&["rollback", "shop", "--to", "99"]).failed(1);
    assert!(
        error.contains("has no revision 99; it has 4, 3, 2, 1"),
        "{error}"
    );
}
