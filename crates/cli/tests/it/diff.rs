//! `diff`, against the newest revision and against the clusters.

use evenkeel_api::{DiffAnswer, ObjectDiff};
use evenkeel_model::DiffChange;
use serde_json::json;

use crate::fleet::{Fleet, SHOP, greeting};

#[test]
fn differences_are_shown_and_told_by_the_exit_code() {
    let fleet = Fleet::start();
    fleet.apply_shop();
    let file = fleet.path("shop.yaml");
    let same = fleet
        .run(&["diff", "-f", file.to_str().unwrap(), "--stack", "shop"])
        .ok();
    assert_eq!(same, "no differences\n");

    let (_, map) = SHOP.split_once("---\n").unwrap();
    let file = fleet.write("other.yaml", &map.replace("hello", "bye"));
    let said = fleet.run(&["diff", "-f", &file, "--stack", "shop"]);
    assert_eq!(said.code, 3);
    let expected = "\
update ConfigMap shop/greeting
  apiVersion: v1
  data:
-   text: hello
+   text: bye
  kind: ConfigMap
  metadata:
    name: greeting

delete Namespace shop
- apiVersion: v1
- kind: Namespace
- metadata:
-   name: shop

0 to create, 1 to update, 1 to delete
";
    assert_eq!(said.out, expected);
    let names = fleet.run(&["diff", "-f", &file, "--stack", "shop", "-o", "name"]);
    assert_eq!(
        names.out,
        "change/ConfigMap/shop/greeting\nchange/Namespace/shop\n"
    );
}

#[test]
fn secrets_are_not_shown() {
    let fleet = Fleet::start();
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {p: hunter2}\n";
    let file = fleet.write("secret.yaml", secret);
    for output in ["table", "json", "yaml"] {
        let said = fleet.run(&["diff", "-f", &file, "--stack", "new", "-o", output]);
        assert_eq!(said.code, 3);
        assert!(!said.out.contains("hunter2"), "{}", said.out);
    }
}

#[tokio::test]
async fn agents_are_asked_what_would_change_in_their_clusters() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    let file = fleet.write("other.yaml", &SHOP.replace("hello", "bye"));
    let mut asking = fleet
        .command(&["diff", "-f", &file, "--stack", "shop", "--live"])
        .spawn()
        .unwrap();
    let pending = loop {
        if let Some(pending) = agent.client.agent_diffs(agent.id).await.unwrap().pop() {
            break pending;
        }
        assert!(
            asking.try_wait().unwrap().is_none(),
            "it waits for the agent"
        );
    };
    assert!(pending.yaml_content.contains("bye"));
    let update = ObjectDiff {
        object: greeting(),
        change: DiffChange::Update,
        before: Some(json!({ "data": { "text": "changed by hand" } })),
        after: Some(json!({ "data": { "text": "bye" } })),
        message: None,
    };
    let answer = DiffAnswer {
        objects: vec![update],
        error: None,
    };
    agent
        .client
        .diff_answer(agent.id, pending.id, &answer)
        .await
        .unwrap();
    let output = asking.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let expected = "\
update ConfigMap shop/greeting on eu-1
  data:
-   text: changed by hand
+   text: bye

0 to create, 1 to update, 0 to delete
";
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[test]
fn agents_that_do_not_answer_are_named() {
    let fleet = Fleet::start();
    fleet.agent("eu-1");
    fleet.apply_shop();
    let file = fleet.path("shop.yaml");
    let arguments = [
        "diff",
        "-f",
        file.to_str().unwrap(),
        "--stack",
        "shop",
        "--live",
    ];
    let said = fleet.run(&[&arguments[..], &["--timeout", "0s"]].concat());
    let error = said.failed(4);
    assert!(
        error.contains("these agents gave no answer: eu-1"),
        "{error}"
    );
}
