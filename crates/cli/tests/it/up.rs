//! `evenkeel up` from the outside.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hyper::{Method, StatusCode};
use serde_json::Value;

use crate::running::{Up, evenkeel, request_as};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn path(dir: &tempfile::TempDir) -> &str {
    dir.path().to_str().expect("a plain path")
}

#[tokio::test]
async fn clusters_answer_and_are_strangers_to_each_other() {
    let up = Up::start(&["--ephemeral"]);
    let hello = r#"{"metadata":{"name":"hello"},"data":{"who":"world"}}"#;
    let maps = format!("{}{CONFIG_MAPS}", up.url(0));
    let (made, _) = request_as(Method::POST, maps, &up.token(0), hello).await;
    assert_eq!(made, StatusCode::CREATED);
    let there = async |place| {
        let url = format!("{}{CONFIG_MAPS}/hello", up.url(place));
        request_as(Method::GET, url, &up.token(place), "").await
    };
    assert_eq!(there(0).await.0, StatusCode::OK);
    assert_eq!(there(1).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_second_up_finds_what_the_first_one_kept_at_the_same_address() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["--data-dir", path(&dir), "--cluster", "one"];
    let first = Up::start(&arguments);
    let url = first.url(0).to_owned();
    let hello = r#"{"metadata":{"name":"hello"},"data":{"who":"world"}}"#;
    let token = first.token(0);
    request_as(Method::POST, format!("{url}{CONFIG_MAPS}"), &token, hello).await;
    assert!(first.interrupt(), "Ctrl-C ends it in good order");

    let second = Up::start(&arguments);
    assert_eq!(second.url(0), url);
    assert_eq!(second.token(0), token, "a copied kubeconfig stays good");
    let hello = format!("{url}{CONFIG_MAPS}/hello");
    let (_, found) = request_as(Method::GET, hello, &token, "").await;
    assert_eq!(found["data"]["who"], "world");
}

#[test]
fn kubeconfigs_are_for_their_owner_only() {
    let dir = tempfile::tempdir().unwrap();
    let up = Up::start(&["--data-dir", path(&dir)]);
    let file = up.told["clusters"][0]["kubeconfig"].as_str().unwrap();
    let mode = fs::metadata(file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let config: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(config["clusters"][0]["cluster"]["server"], up.url(0));
}

#[test]
fn a_directory_in_use_is_refused_with_a_way_out() {
    let dir = tempfile::tempdir().unwrap();
    let _first = Up::start(&["--data-dir", path(&dir)]);
    let second = evenkeel(&["up", "--data-dir", path(&dir)])
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(1));
    let error = String::from_utf8(second.stderr).unwrap();
    assert!(error.contains("in use by another `evenkeel up`"), "{error}");
    assert!(error.contains("--data-dir"), "{error}");
}

#[test]
fn names_that_could_leave_the_directory_are_refused() {
    let output = evenkeel(&["up", "--ephemeral", "--cluster", "../x"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_cluster_named_twice_is_refused() {
    let arguments = ["up", "--ephemeral", "--cluster", "a", "--cluster", "a"];
    let output = evenkeel(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("named twice")
    );
}
