//! `evenkeel broker`, and the broker of `evenkeel up`, from the outside.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hyper::{Method, StatusCode};

use crate::running::{Up, evenkeel, request, request_as};

#[tokio::test]
async fn the_broker_of_up_takes_the_key_in_the_file_and_no_other() {
    let up = Up::start(&["--ephemeral", "--no-sample"]);
    let url = up.told["broker"]["url"].as_str().unwrap();
    let file = up.told["broker"]["adminKeyFile"].as_str().unwrap();
    assert_eq!(
        fs::metadata(file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let key = fs::read_to_string(file).unwrap();
    let stacks = || format!("{url}/api/v1/stacks");
    let (allowed, body) = request_as(Method::GET, stacks(), key.trim(), "").await;
    assert_eq!((allowed, body), (StatusCode::OK, serde_json::json!([])));
    let (refused, body) = request(Method::GET, stacks(), "").await;
    assert_eq!(refused, StatusCode::UNAUTHORIZED);
    assert!(body["message"].is_string(), "{body}");
}

#[test]
fn settings_are_shown_with_what_was_said_and_without_secrets() {
    let output = evenkeel(&[
        "broker",
        "--print-config",
        "--database",
        "postgres://me:hunter2@db/fleet",
        "--set",
        "limits.burst=7",
    ])
    .env("EVENKEEL__RETENTION__EVENT_DAYS", "3")
    .output()
    .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("burst: 7"), "{shown}");
    assert!(shown.contains("event_days: 3"), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn a_setting_that_nobody_knows_is_an_error() {
    let output = evenkeel(&["broker", "--print-config", "--set", "limits.brust=7"]).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("brust"), "{error}");
}
