//! `login` and `context`: which broker is meant.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::fleet::Fleet;

#[test]
fn a_key_that_was_tried_is_remembered_for_its_owner_only() {
    let fleet = Fleet::start_unknown();
    let said = fleet
        .run_with(&["login", &fleet.url, "--name", "here"], &fleet.key)
        .ok();
    assert!(
        said.contains("context/here is now the current one: an administrator"),
        "{said}"
    );
    assert_eq!(fleet.run(&["get", "stacks", "-o", "json"]).ok(), "[]\n");
    let file = fleet.path("config/evenkeel/contexts.yaml");
    assert_eq!(
        fs::metadata(file).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn a_refused_key_is_not_remembered() {
    let fleet = Fleet::start_unknown();
    let error = fleet
        .run(&["login", &fleet.url, "--key", "brokkr_none_none"])
        .failed(6);
    assert!(error.contains("the key was refused"), "{error}");
    let error = fleet.run(&["get", "stacks"]).failed(1);
    assert!(error.contains("no broker is known"), "{error}");
    assert!(error.contains("`evenkeel up`"), "{error}");
}

#[test]
fn a_broker_that_is_not_there_is_named_with_a_way_out() {
    let fleet = Fleet::start();
    let error = fleet.run(&[
        "get",
        "stacks",
        "--broker",
        "http://127.0.0.1:1",
        "--key",
        "x",
    ]);
    let error = error.failed(5);
    assert!(
        error.contains("cannot ask the broker at http://127.0.0.1:1: "),
        "{error}"
    );
    assert!(error.contains("Connection refused"), "{error}");
    assert!(error.contains("is it running?"), "{error}");
}

#[test]
fn variables_count_more_than_the_context_and_flags_more_than_variables() {
    let fleet = Fleet::start();
    let elsewhere = ("EVENKEEL_BROKER", "http://127.0.0.1:1");
    let mut command = fleet.command(&["get", "stacks", "--key", "x"]);
    let output = command.env(elsewhere.0, elsewhere.1).output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    let mut command = fleet.command(&["get", "stacks", "--broker", &fleet.url]);
    let output = command.env(elsewhere.0, elsewhere.1).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_key_is_never_sent_to_another_broker() {
    let fleet = Fleet::start();
    let error = fleet
        .run(&["get", "stacks", "--broker", "http://127.0.0.1:1"])
        .failed(1);
    assert!(
        error.contains("no key for the broker at http://127.0.0.1:1 is known"),
        "{error}"
    );
}

#[test]
fn contexts_are_listed_chosen_and_removed() {
    let fleet = Fleet::start();
    let key = fleet.key.clone();
    fleet
        .run(&["login", &fleet.url, "--key", &key, "--name", "second"])
        .ok();
    let list = fleet.run(&["context", "list"]).ok();
    let url = &fleet.url;
    let width = url.len();
    assert_eq!(
        list,
        format!(
            "NAME     {:width$}   CURRENT\nsecond   {url}   yes\ntest     {url}   no\n",
            "BROKER"
        )
    );
    assert!(
        !fleet
            .run(&["context", "list", "-o", "json"])
            .ok()
            .contains(&key)
    );
    fleet.run(&["context", "use", "test"]).ok();
    assert_eq!(
        fleet
            .run(&["context", "remove", "second", "-o", "name"])
            .ok(),
        "context/second\n"
    );
    let error = fleet.run(&["context", "use", "tset"]).failed(1);
    assert!(error.contains("did you mean `test`?"), "{error}");
}

#[test]
fn an_address_that_is_none_is_explained() {
    let fleet = Fleet::start();
    let error = fleet.run(&["login", "broker", "--key", "x"]).failed(1);
    assert!(
        error.contains("`broker` is not the address of a broker"),
        "{error}"
    );
    assert!(error.contains("http://host:port"), "{error}");
}

#[test]
fn a_private_authority_is_trusted_where_it_is_named_and_from_then_on() {
    let fleet = Fleet::start_secure();
    assert!(fleet.url.starts_with("https://"), "{}", fleet.url);
    let key = format!("@{}", fleet.path("admin-key").display());
    let login = ["login", &fleet.url, "--key", &key, "--name", "private"];
    let error = fleet.run(&login).failed(5);
    assert!(
        error.contains("--ca-file FILE names the authority"),
        "{error}"
    );

    let (authority, other) = (fleet.path("ca.pem"), fleet.write("empty.pem", "none"));
    let authority = authority.to_str().unwrap();
    let error = fleet.run(&[&login[..], &["--ca-file", &other]].concat());
    assert!(error.failed(1).contains("no certificate of an authority"));
    fleet
        .run(&[&login[..], &["--ca-file", authority]].concat())
        .ok();
    fleet.run(&["get", "agents"]).ok();
    let contexts = fleet.run(&["context", "list", "-o", "wide"]).ok();
    assert!(contexts.contains(authority), "{contexts}");
}
