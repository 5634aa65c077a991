//! `agent ...` and `target ...`.

use evenkeel_client::Client;

use crate::fleet::Fleet;

#[test]
fn an_agent_is_made_labelled_annotated_put_to_work_and_to_rest() {
    let fleet = Fleet::start();
    let said = fleet
        .run(&["agent", "create", "eu-1", "--cluster", "berlin"])
        .ok();
    assert!(
        said.starts_with("agent/eu-1 created (INACTIVE)\n"),
        "{said}"
    );
    let agent = || fleet.run(&["get", "agents", "eu-1", "-o", "json"]).json()[0].clone();
    assert_eq!(agent()["cluster"], "berlin");
    assert!(agent()["key"].is_null(), "the key is shown once");

    assert_eq!(
        fleet.run(&["agent", "activate", "eu-1"]).ok(),
        "agent/eu-1 activated\n"
    );
    assert_eq!(agent()["status"], "ACTIVE");
    fleet.run(&["agent", "deactivate", "berlin/eu-1"]).ok();
    assert_eq!(agent()["status"], "INACTIVE");

    fleet
        .run(&["agent", "label", "eu-1", "region=eu", "edge"])
        .ok();
    fleet
        .run(&["agent", "label", "eu-1", "region=eu", "--remove", "edge"])
        .ok();
    assert_eq!(agent()["labels"], serde_json::json!(["region=eu"]));
    fleet
        .run(&["agent", "annotate", "eu-1", "owner=me", "tier=1"])
        .ok();
    fleet
        .run(&["agent", "annotate", "eu-1", "--remove", "tier"])
        .ok();
    assert_eq!(agent()["annotations"], serde_json::json!(["owner=me"]));
    let error = fleet.run(&["agent", "annotate", "eu-1", "owner"]).failed(2);
    assert!(error.contains("key=value"), "{error}");

    let error = fleet.run(&["agent", "remove", "eu-1"]).failed(2);
    assert!(error.contains("--yes"), "{error}");
    assert_eq!(
        fleet.run(&["agent", "remove", "eu-1", "--yes"]).ok(),
        "agent/eu-1 removed\n"
    );
    assert_eq!(fleet.run(&["get", "agents", "-o", "name"]).ok(), "");
}

#[tokio::test]
async fn a_replaced_key_ends_at_once() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    let made = fleet
        .run(&["agent", "rotate-key", "eu-1", "-o", "json"])
        .json();
    let new = Client::new(&fleet.url, made["key"].as_str().unwrap()).unwrap();
    assert_eq!(
        agent.client.auth_pak().await.unwrap_err().status(),
        Some(401)
    );
    assert_eq!(new.auth_pak().await.unwrap().agent, Some(agent.id));
}

#[test]
fn agents_get_a_stack_by_name_label_or_annotation_and_lose_it_again() {
    let fleet = Fleet::start();
    for name in ["a", "b", "c"] {
        fleet.run(&["agent", "create", name]).ok();
    }
    fleet.run(&["agent", "label", "b", "blue"]).ok();
    fleet.run(&["agent", "annotate", "c", "owner=me"]).ok();
    fleet.apply_shop();
    let ways = [
        ["--agent", "a"],
        ["--label", "blue"],
        ["--annotation", "owner=me"],
    ];
    for [way, who] in ways {
        fleet.run(&["target", "add", "shop", way, who]).ok();
    }
    let ties = fleet.run(&["target", "list", "-o", "json"]).json();
    let because: Vec<_> = ties
        .as_array()
        .unwrap()
        .iter()
        .map(|tie| &tie["because"][0])
        .collect();
    assert_eq!(because, ["explicit", "label blue", "annotation owner=me"]);
    for [way, who] in ways {
        fleet.run(&["target", "remove", "shop", way, who]).ok();
    }
    assert_eq!(fleet.run(&["target", "list", "-o", "name"]).ok(), "");
    let error = fleet
        .run(&["target", "remove", "shop", "--label", "red"])
        .failed(1);
    assert!(error.contains("stack shop has no label red"), "{error}");
    fleet.run(&["target", "add", "shop"]).failed(2);
}

#[test]
fn a_name_in_two_clusters_must_be_told_apart() {
    let fleet = Fleet::start();
    for cluster in ["berlin", "paris"] {
        fleet
            .run(&["agent", "create", "main", "--cluster", cluster])
            .ok();
    }
    let error = fleet.run(&["agent", "activate", "main"]).failed(1);
    assert!(
        error.contains("more than one agent: berlin/main, paris/main"),
        "{error}"
    );
    fleet.run(&["agent", "activate", "paris/main"]).ok();
}
