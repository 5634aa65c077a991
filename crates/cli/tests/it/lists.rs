//! `get`, `status`, `events`, `drift`, `history`: lists, in every form.

use std::io::{BufRead, BufReader};

use evenkeel_model::HealthStatus;
use serde_json::Value;

use crate::fleet::Fleet;

/// Every list that a person can ask for, of a fleet in which each has something to show.
const LISTS: [&[&str]; 11] = [
    &["get", "stacks"],
    &["get", "agents"],
    &["get", "revisions", "shop"],
    &["get", "targets"],
    &["get", "events"],
    &["get", "generators"],
    &["status"],
    &["history", "shop"],
    &["events"],
    &["drift"],
    &["target", "list"],
];

async fn busy_fleet() -> Fleet {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    agent.applies().await;
    agent.drift(true).await;
    fleet
}

/// The text with what differs from run to run made the same, ages and the gaps they leave.
fn steady(text: &str) -> String {
    let age = regex::Regex::new(r"\b\d+[smhd]\b").unwrap();
    let gap = regex::Regex::new("  +").unwrap();
    let text = age.replace_all(text, "AGE");
    gap.replace_all(&text, "  ").into_owned()
}

#[tokio::test]
async fn every_list_has_every_form_and_all_forms_agree() {
    let fleet = busy_fleet().await;
    for list in LISTS {
        let said = |form: &str| fleet.run(&[list, &["-o", form]].concat()).ok();
        let json: Value = serde_json::from_str(&said("json")).unwrap();
        let yaml: Value = serde_saphyr::from_str(&said("yaml")).unwrap();
        assert_eq!(json, yaml, "{list:?}");
        let rows = json.as_array().unwrap().len();
        assert!(rows > 0, "{list:?} has something to show");
        for form in ["table", "wide"] {
            let text = said(form);
            assert_eq!(text.lines().count(), rows + 1, "{list:?} -o {form}: {text}");
            assert!(!text.contains('\u{1b}'), "no colours in a pipe: {text}");
        }
        let wide = said("wide").lines().next().unwrap().split("   ").count();
        let table = said("table").lines().next().unwrap().split("   ").count();
        assert!(wide >= table, "{list:?}");
        let names = said("name");
        assert_eq!(names.lines().count(), rows, "{names}");
        assert!(names.lines().all(|line| line.contains('/')), "{names}");
    }
}

#[tokio::test]
async fn tables_look_like_this() {
    let fleet = busy_fleet().await;
    let said = |arguments: &[&str]| steady(&fleet.run(arguments).ok());
    let stacks = "\
NAME  GENERATOR  REVISION  AGENTS  STATE  HEALTH  CREATED
shop  default  1  1/1  converged  healthy  AGE
";
    assert_eq!(said(&["get", "stacks"]), stacks);
    let targets = "\
STACK  AGENT  BECAUSE  SERVED
shop  eu-1  label region=eu  yes
";
    assert_eq!(said(&["get", "targets"]), targets);
    let status = "\
STACK  AGENT  WANTED  APPLIED  PHASE  HEALTH  SINCE  MESSAGE
shop  eu-1  1  1  applied  healthy  AGE  -
";
    assert_eq!(said(&["status"]), status);
    let drift = "\
FOUND  AGENT  STACK  OBJECT  CHANGED  BY  NOW
AGE  eu-1  shop  ConfigMap shop/greeting  data.text  kubectl-edit  repaired
";
    assert_eq!(said(&["drift"]), drift);
}

#[tokio::test]
async fn drift_that_is_left_is_told_by_the_exit_code() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    agent.drift(false).await;
    let said = fleet.run(&["drift", "--stack", "shop", "--agent", "eu-1"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.out.contains("left"), "{said:?}");
}

#[tokio::test]
async fn events_are_followed_as_they_come() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    agent.applies().await;
    let mut following = fleet
        .command(&["events", "--follow", "--stack", "shop", "-o", "json"])
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(next()["status"], "SUCCESS");
    agent.fails("no room").await;
    let failure = next();
    assert_eq!(failure["status"], "FAILURE");
    assert_eq!(failure["message"], "no room");
    following.kill().unwrap();
    following.wait().unwrap();
}

#[tokio::test]
async fn watching_says_only_what_changes() {
    let fleet = Fleet::start();
    let agent = fleet.agent("eu-1");
    fleet.apply_shop();
    let mut watching = fleet.command(&["status", "--watch"]).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert_eq!(next(), "shop on eu-1: pending 1");
    agent.applies().await;
    let mut line = next();
    assert_eq!(line, "shop on eu-1: applied 1");
    agent
        .health(HealthStatus::Degraded, Some("0 of 1 ready"), |report| {
            report
        })
        .await;
    line = next();
    assert_eq!(line, "shop on eu-1: applied 1, degraded");
    watching.kill().unwrap();
    watching.wait().unwrap();
}

#[test]
fn nothing_is_said_of_nothing_but_to_people() {
    let fleet = Fleet::start();
    let said = fleet.run(&["get", "stacks"]);
    assert_eq!((said.out.as_str(), said.err.as_str()), ("", "No stacks.\n"));
    assert_eq!(fleet.run(&["get", "agents", "-o", "yaml"]).ok(), "[]\n");
}

#[test]
fn bad_questions_are_answered_with_good_ones() {
    let fleet = Fleet::start();
    fleet.apply_shop();
    assert!(
        fleet
            .run(&["get", "stacks", "shpo"])
            .failed(1)
            .contains("did you mean `shop`?")
    );
    assert!(
        fleet
            .run(&["get", "revisions"])
            .failed(2)
            .contains("of which stack?")
    );
    assert!(
        fleet
            .run(&["get", "boats"])
            .failed(2)
            .contains("possible values")
    );
    assert!(
        fleet
            .run(&["get", "stacks", "-o", "xml"])
            .failed(2)
            .contains("possible values")
    );
    let error = fleet.run(&["history", "nothing-like-it"]).failed(1);
    assert!(
        error.contains("`evenkeel get stacks` shows what there is"),
        "{error}"
    );
}
