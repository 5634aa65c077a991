//! `evenkeel up` from the outside.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use hyper::StatusCode;
use serde_json::Value;

use crate::fleet::at_home;
use crate::running::{Up, a_home, evenkeel, run_at};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn path(dir: &tempfile::TempDir) -> &str {
    dir.path().to_str().expect("a plain path")
}

#[tokio::test]
async fn clusters_answer_and_are_strangers_to_each_other() {
    let up = Up::start(&["--ephemeral"]);
    let hello = r#"{"metadata":{"name":"hello"},"data":{"who":"world"}}"#;
    let (made, _) = up.make(0, CONFIG_MAPS, hello).await;
    assert_eq!(made, StatusCode::CREATED);
    let there = async |place| up.ask(place, &format!("{CONFIG_MAPS}/hello")).await;
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
    first.make(0, CONFIG_MAPS, hello).await;
    assert!(first.interrupt(), "Ctrl-C ends it in good order");

    let second = Up::start(&arguments);
    assert_eq!(second.url(0), url);
    assert_eq!(second.token(0), token, "a copied kubeconfig stays good");
    let (_, found) = second.ask(0, &format!("{CONFIG_MAPS}/hello")).await;
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

const SAMPLE: &str = "/apis/apps/v1/namespaces/hello/deployments/web";

/// The sample's Deployment on the cluster at `place`.
async fn sample(up: &Up, place: usize) -> (StatusCode, Value) {
    up.ask(place, SAMPLE).await
}

#[tokio::test]
async fn a_sample_is_delivered_to_every_cluster_and_commands_work_at_once() {
    let up = Up::start(&[]);
    assert_eq!(up.told["converged"], true, "{}", up.told);
    for place in [0, 1] {
        let (found, web) = sample(&up, place).await;
        assert_eq!(
            (found, &web["status"]["readyReplicas"]),
            (StatusCode::OK, &2.into())
        );
    }
    let rows = up.run(&["status", "-o", "json"]).json();
    for (row, agent) in rows.as_array().unwrap().iter().zip(["local-a", "local-b"]) {
        assert_eq!(
            (&row["agent"], &row["phase"]),
            (&agent.into(), &"applied".into())
        );
        assert_eq!(row["health"], "healthy");
        assert_eq!(row["objects"].as_array().unwrap().len(), 4, "{row}");
    }
    let tree = up.run(&["describe", "stack", "hello"]).ok();
    assert!(tree.contains("─ Deployment hello/web  healthy"), "{tree}");
    up.run(&["doctor"]).ok();
}

#[tokio::test]
async fn what_people_apply_and_delete_happens_in_the_clusters() {
    let up = Up::start(&["--ephemeral", "--no-sample", "--cluster", "one"]);
    let file = up.home.path().join("map.yaml");
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata: {k: first}\n";
    let file_name = file.to_str().unwrap();
    let apply = [
        "apply",
        "-f",
        file_name,
        "--stack",
        "s",
        "--to",
        "fleet=local",
        "--wait",
    ];
    let read = async || up.ask(0, &format!("{CONFIG_MAPS}/a")).await;
    for value in ["first", "second"] {
        fs::write(&file, text.replace("first", value)).unwrap();
        let said = up.run(&apply).ok();
        assert!(
            said.ends_with("stack/s converged on 1/1 agents\n"),
            "{said}"
        );
        assert_eq!(read().await.1["data"]["k"], value);
    }
    up.run(&["rollback", "s", "--wait"]).ok();
    assert_eq!(read().await.1["data"]["k"], "first");

    fs::write(&file, text.replace("first", "third")).unwrap();
    let said = up.run(&["diff", "-f", file_name, "--stack", "s", "--live"]);
    assert_eq!(said.code, 3, "{said:?}");
    let shown = said.out;
    assert!(
        shown.contains("update ConfigMap default/a on one"),
        "{shown}"
    );
    assert!(shown.contains("-   k: first\n+   k: third"), "{shown}");

    up.run(&["delete", "stack", "s", "--yes", "--wait"]).ok();
    assert_eq!(read().await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn objects_move_between_stacks_without_being_made_again() {
    let up = Up::start(&["--ephemeral", "--cluster", "one"]);
    let uid = sample(&up, 0).await.1["metadata"]["uid"].clone();
    let stacks = ["hello", "web"];
    let moving = [
        "stack",
        "move",
        stacks[0],
        stacks[1],
        "Deployment/hello/web",
        "--yes",
    ];
    up.run(&moving).ok();
    assert_eq!(sample(&up, 0).await.1["metadata"]["uid"], uid);
    let said = up.run(&["reconcile", "hello", "web", "--wait"]).ok();
    assert!(said.contains("stack/web converged"), "{said}");
    assert_eq!(sample(&up, 0).await.1["metadata"]["uid"], uid);
}

#[tokio::test]
async fn a_second_up_goes_on_with_the_same_agents_and_brings_nothing_back() {
    let home = a_home();
    let arguments = ["--cluster", "one"];
    let first = Up::start_at(&home, &arguments);
    let agents = first.run(&["get", "agents", "-o", "json"]).json();
    first
        .run(&["delete", "stack", "hello", "--yes", "--wait"])
        .ok();
    assert!(first.interrupt(), "Ctrl-C ends it in good order");

    let second = Up::start_at(&home, &arguments);
    assert_eq!(second.told["converged"], true);
    assert_eq!(second.told["stack"], Value::Null);
    let again = second.run(&["get", "agents", "-o", "json"]).json();
    assert_eq!(again[0]["id"], agents[0]["id"]);
    assert_eq!(sample(&second, 0).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn after_a_crash_the_lock_is_free_and_everything_goes_on() {
    let home = a_home();
    let arguments = ["--cluster", "one"];
    Up::start_at(&home, &arguments).kill();
    let second = Up::start_at(&home, &arguments);
    assert_eq!(second.told["converged"], true, "{}", second.told);
    assert_eq!(sample(&second, 0).await.0, StatusCode::OK);
}

#[test]
fn what_does_not_last_leaves_no_context_behind() {
    let home = a_home();
    let up = Up::start_at(&home, &["--ephemeral", "--no-sample"]);
    assert!(
        up.run(&["context", "list", "-o", "name"])
            .ok()
            .contains("context/local")
    );
    up.interrupt();
    assert_eq!(run_at(&home, &["context", "list", "-o", "name"]).ok(), "");
}

#[test]
fn whoever_works_elsewhere_stays_there() {
    let home = a_home();
    let first = Up::start_at(&home, &["--ephemeral", "--no-sample"]);
    let url = first.told["broker"]["url"].as_str().unwrap().to_owned();
    let key = format!(
        "@{}",
        first.told["broker"]["adminKeyFile"].as_str().unwrap()
    );
    first
        .run(&["login", &url, "--key", &key, "--name", "production"])
        .ok();
    let second = Up::start_at(&home, &["--no-sample"]);
    assert_eq!(second.told["context"]["current"], false);
    let contexts = second.run(&["context", "list", "-o", "json"]).json();
    assert_eq!(contexts[1]["name"], "production");
    assert_eq!(contexts[1]["current"], true);
}

#[tokio::test]
async fn of_a_kubeconfig_only_the_context_that_was_named_is_touched() {
    let clusters = Up::start(&["--ephemeral", "--no-sample"]);
    let home = a_home();
    let config = serde_json::json!({
        "clusters": [
            { "name": "c1", "cluster": clusters.kubeconfig(0)["clusters"][0]["cluster"] },
            { "name": "c2", "cluster": clusters.kubeconfig(1)["clusters"][0]["cluster"] },
        ],
        "users": [
            { "name": "u1", "user": { "token": clusters.token(0) } },
            { "name": "u2", "user": { "token": clusters.token(1) } },
        ],
        "contexts": [
            { "name": "dev", "context": { "cluster": "c1", "user": "u1" } },
            { "name": "prod", "context": { "cluster": "c2", "user": "u2" } },
        ],
        "current-context": "prod",
    });
    let file = home.path().join("kubeconfig");
    fs::write(&file, config.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let before = clusters.ask(1, "/api/v1/namespaces").await;

    let up = Up::start_at(&home, &["--kubeconfig", file, "--context", "dev"]);
    assert_eq!(up.told["converged"], true, "{}", up.told);
    assert_eq!(sample(&clusters, 0).await.0, StatusCode::OK);
    let after = clusters.ask(1, "/api/v1/namespaces").await;
    assert_eq!(before.1["items"], after.1["items"]);
    assert_eq!(fs::read_to_string(file).unwrap(), config.to_string());

    let error = run_at(&a_home(), &["up", "--kubeconfig", file, "--context", "dve"]).failed(1);
    assert!(
        error.contains("has no context `dve`; it has dev, prod"),
        "{error}"
    );
}

#[test]
fn a_control_plane_that_is_not_built_is_said_with_how_to_build_it() {
    let error = run_at(&a_home(), &["up", "--control-plane", "real"]).failed(1);
    assert!(error.contains("`make testbed` builds one"), "{error}");
}

#[tokio::test]
async fn a_real_control_plane_converges_too() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testbed/build.sh");
    let place = Command::new("sh")
        .args([script, "--where"])
        .output()
        .unwrap();
    let place = PathBuf::from(String::from_utf8(place.stdout).unwrap().trim());
    if !place.exists() {
        evenkeel_testkit::skip(&"no real control plane: `make testbed` builds one");
        return;
    }
    let home = a_home();
    let arguments = [
        "up",
        "-o",
        "json",
        "--control-plane",
        "real",
        "--cluster",
        "one",
    ];
    let mut command = evenkeel(&arguments);
    at_home(&mut command, home.path());
    command.env("EVENKEEL_CACHE", place.ancestors().nth(2).unwrap());
    let up = Up::started(command, home);
    assert_eq!(up.told["converged"], true, "{}", up.told);
    let rows = up.run(&["status", "-o", "json"]).json();
    assert_eq!(rows[0]["health"], "healthy", "{rows}");
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let error = run_at(&a_home(), &["up", "--ephemeral", "--port", &port]).failed(1);
    assert!(
        error.contains(&format!("cannot listen on port {port}")),
        "{error}"
    );
    assert!(error.contains("--port"), "{error}");
}

#[test]
fn the_port_of_the_last_time_may_be_taken_by_now() {
    let home = a_home();
    let first = Up::start_at(&home, &["--no-sample"]);
    let url = first.told["broker"]["url"].as_str().unwrap().to_owned();
    first.interrupt();
    let _taken = std::net::TcpListener::bind(url.strip_prefix("http://").unwrap()).unwrap();
    let second = Up::start_at(&home, &["--no-sample"]);
    assert_ne!(second.told["broker"]["url"].as_str().unwrap(), url);
    second.run(&["get", "agents"]).ok();
}

#[test]
fn state_of_a_newer_version_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("format"), "99\n").unwrap();
    let error = run_at(&a_home(), &["up", "--data-dir", path(&dir)]).failed(1);
    assert!(
        error.contains("written by a newer evenkeel (format 99"),
        "{error}"
    );
    assert!(error.contains("--data-dir"), "{error}");
}

#[test]
fn a_directory_in_use_is_refused_with_a_way_out() {
    let dir = tempfile::tempdir().unwrap();
    let _first = Up::start(&["--data-dir", path(&dir)]);
    let error = run_at(&a_home(), &["up", "--data-dir", path(&dir)]).failed(1);
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
    let error = run_at(&a_home(), &arguments).failed(1);
    assert!(error.contains("named twice"), "{error}");
}

#[tokio::test]
async fn kubectl_sees_what_the_operators_make_of_their_samples() {
    let up = Up::start(&["--ephemeral"]);
    let file = up.told["clusters"][0]["kubeconfig"].as_str().unwrap();
    let get = async || {
        let mut kubectl = evenkeel_testkit::kubectl_with(file.as_ref());
        let kinds = ["get", "databases,agents,shapes,statefulsets", "-o", "name"];
        let said = kubectl.args(kinds).output().await.unwrap();
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        (text, String::from_utf8_lossy(&said.stderr).into_owned())
    };
    let wanted = [
        "database.evenkeel.io/orders",
        "agent.kagent.dev/helper",
        "shape.shapes.evenkeel.io/foo",
        "statefulset.apps/orders",
    ];
    let mut said = get().await;
    for _ in 0..100 {
        if wanted.iter().all(|name| said.0.contains(name)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        said = get().await;
    }
    panic!("kubectl said {said:?}");
}

/// Asks until there is an answer.
async fn answered(what: &str, ask: impl AsyncFn() -> (StatusCode, Value)) -> Value {
    for _ in 0..600 {
        let (status, body) = ask().await;
        if status.is_success() {
            return body;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("waited in vain for {what}");
}

/// The samples are in the first cluster; what somebody declares in another is looked after too.
#[tokio::test]
async fn operators_work_in_every_cluster() {
    let up = Up::start(&["--ephemeral", "--no-sample"]);
    let path = "/apis/evenkeel.io/v1/namespaces/default/databases";
    let sample = format!("{path}/orders");
    let sample = answered("the sample", async || up.ask(0, &sample).await).await;
    let declared = serde_json::json!({
        "apiVersion": sample["apiVersion"],
        "kind": "Database",
        "metadata": { "name": "elsewhere" },
        "spec": sample["spec"],
    });
    let declared = declared.to_string();
    answered("the Database", async || up.make(1, path, &declared).await).await;
    let child = "/apis/apps/v1/namespaces/default/statefulsets/elsewhere";
    answered("its StatefulSet", async || up.ask(1, child).await).await;
}
