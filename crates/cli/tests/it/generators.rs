//! `generator ...`, and what a generator's own key can do.

use crate::fleet::{Fleet, SHOP};

#[test]
fn a_generator_works_with_its_own_key_and_sees_only_what_is_its_own() {
    let fleet = Fleet::start();
    fleet.apply_shop();
    let made = fleet
        .run(&["generator", "create", "payments", "-o", "json"])
        .json();
    let key = made["key"].as_str().unwrap();
    let own = |arguments: &[&str]| fleet.run(&[arguments, &["--key", key]].concat());
    let file = fleet.write("shop.yaml", SHOP);
    own(&["apply", "-f", &file, "--stack", "billing"]).ok();
    assert_eq!(
        own(&["get", "stacks", "-o", "name"]).ok(),
        "stack/billing\n"
    );
    assert_eq!(
        own(&["get", "generators", "-o", "name"]).ok(),
        "generator/payments\n"
    );
    let error = own(&["agent", "create", "x"]).failed(6);
    assert!(error.contains("this key may not do that"), "{error}");
    assert!(
        own(&["history", "shop"])
            .failed(1)
            .contains("there is no stack `shop`")
    );
}

#[test]
fn with_several_generators_it_must_be_said_whose_a_stack_is() {
    let fleet = Fleet::start();
    for name in ["payments", "search"] {
        fleet.run(&["generator", "create", name]).ok();
    }
    let file = fleet.write("shop.yaml", SHOP);
    let apply = ["apply", "-f", &file, "--stack", "shop"];
    let error = fleet.run(&apply).failed(1);
    assert!(
        error.contains("more than one generator: payments, search"),
        "{error}"
    );
    assert!(error.contains("--generator"), "{error}");
    for name in ["payments", "search"] {
        let stack = format!("{name}-shop");
        fleet
            .run(&["apply", "-f", &file, "--stack", &stack, "--generator", name])
            .ok();
    }
    let stack = fleet
        .run(&["get", "stacks", "payments/payments-shop", "-o", "json"])
        .json();
    assert_eq!(stack[0]["generator"], "payments");
}

#[test]
fn a_generator_rests_gets_a_new_key_and_goes() {
    let fleet = Fleet::start();
    let key = |made: serde_json::Value| made["key"].as_str().unwrap().to_owned();
    let old = key(fleet
        .run(&["generator", "create", "ci", "-o", "json"])
        .json());
    fleet.run(&["generator", "deactivate", "ci"]).ok();
    let file = fleet.write("shop.yaml", SHOP);
    let apply = ["apply", "-f", &file, "--stack", "shop", "--key", &old];
    fleet.run(&apply).failed(6);
    fleet.run(&["generator", "activate", "ci"]).ok();
    fleet.run(&apply).ok();
    let new = key(fleet
        .run(&["generator", "rotate-key", "ci", "-o", "json"])
        .json());
    fleet.run(&["get", "stacks", "--key", &old]).failed(6);
    fleet.run(&["get", "stacks", "--key", &new]).ok();
    fleet.run(&["generator", "remove", "ci"]).failed(2);
    let said = fleet.run(&["generator", "remove", "ci", "--yes"]).ok();
    assert_eq!(said, "generator/ci removed with 1 stacks\n");
}

#[test]
fn an_agent_must_agree_to_serve_a_generator() {
    let fleet = Fleet::start();
    fleet.agent("eu-1");
    fleet.run(&["generator", "create", "payments"]).ok();
    let file = fleet.write("shop.yaml", SHOP);
    let apply = [
        "apply",
        "-f",
        &file,
        "--stack",
        "billing",
        "--generator",
        "payments",
    ];
    fleet
        .run(&[&apply[..], &["--to", "region=eu"]].concat())
        .ok();
    let served = || fleet.run(&["get", "targets", "-o", "json"]).json()[0]["served"].clone();
    assert_eq!(served(), "no: not registered");
    fleet
        .run(&["agent", "register", "eu-1", "--generator", "payments"])
        .ok();
    assert_eq!(served(), "yes");
    fleet
        .run(&[
            "agent",
            "register",
            "eu-1",
            "--generator",
            "payments",
            "--remove",
        ])
        .ok();
    assert_eq!(served(), "no: not registered");
}
