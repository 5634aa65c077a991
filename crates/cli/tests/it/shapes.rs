//! `evenkeel operator`, `evenkeel shapes-cloud` and the shapes of `evenkeel up`.

use std::path::Path;
use std::time::Duration;

use hyper::Method;
use serde_json::Value;

use crate::running::{Up, evenkeel, request};

fn said(arguments: &[&str]) -> String {
    let output = evenkeel(arguments).output().expect("evenkeel runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    text
}

fn committed(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../deploy")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_committed_definitions_of_shapes_are_those_of_the_code() {
    let printed = said(&["operator", "crds", "shape"]);
    assert_eq!(
        printed,
        committed("crds/shape.yaml"),
        "run `evenkeel operator crds shape > deploy/crds/shape.yaml`"
    );
    assert!(said(&["operator", "crds"]).contains("name: shaperefs.shapes.evenkeel.io"));
    let unknown = evenkeel(&["operator", "crds", "blob"])
        .output()
        .expect("evenkeel runs");
    assert!(!unknown.status.success());
}

#[test]
fn the_committed_files_of_databases_are_those_of_the_code() {
    assert_eq!(
        said(&["operator", "crds", "database"]),
        committed("crds/database.yaml"),
        "run `evenkeel operator crds database > deploy/crds/database.yaml`"
    );
    assert_eq!(
        said(&["operator", "rights", "--only", "database"]),
        committed("operator/database-rights.yaml"),
        "run `evenkeel operator rights --only database > deploy/operator/database-rights.yaml`"
    );
}

#[test]
fn a_database_is_rendered_without_a_cluster() {
    let sample = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/operator/samples/database.yaml"
    );
    let printed = said(&["operator", "render", "-f", sample, "--namespace", "shop"]);
    for line in [
        "kind: StatefulSet",
        "kind: PodDisruptionBudget",
        "name: orders-ro",
        "namespace: shop",
    ] {
        assert!(printed.contains(line), "{line} is missing in\n{printed}");
    }
}

#[test]
fn the_committed_rights_are_those_of_the_code() {
    let printed = said(&[
        "operator",
        "rights",
        "--only",
        "shape",
        "--shapes-cloud",
        "http://shapes",
    ]);
    assert_eq!(
        printed,
        committed("operator/shape-rights.yaml"),
        "run `evenkeel operator rights --only shape --shapes-cloud http://shapes > deploy/operator/shape-rights.yaml`"
    );
}

async fn shapes(cloud: &str) -> Vec<Value> {
    let (_, page) = request(Method::GET, format!("{cloud}/v1/shapes"), "").await;
    page["items"].as_array().cloned().unwrap_or_default()
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..1_200 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("never: {what}");
}

#[tokio::test]
async fn a_shape_that_is_removed_behind_its_back_comes_back() {
    let up = Up::start(&["--ephemeral", "--cluster", "only"]);
    let cloud = up.told["shapesClouds"]["only"].as_str().expect("a cloud");
    let cloud = cloud.to_owned();
    until("the samples are made", async || {
        shapes(&cloud).await.len() == 2
    })
    .await;
    let gone = shapes(&cloud).await[0]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    tokio::time::sleep(Duration::from_secs(1)).await;
    request(Method::DELETE, format!("{cloud}/v1/shapes/{gone}"), "").await;
    assert_eq!(shapes(&cloud).await.len(), 1);
    until("it is back", async || shapes(&cloud).await.len() == 2).await;
    assert!(
        shapes(&cloud)
            .await
            .iter()
            .all(|shape| shape["id"] != *gone)
    );
    assert!(up.interrupt());
}
