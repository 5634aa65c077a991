//! The Secret: made once, never invented again, exchanged safely.

use evenkeel_ambient::SeededRandom;
use evenkeel_database_operator::Database;
use evenkeel_database_operator::credentials::{
    Given, Step, Stuck, announce, conclude, create, decide, refresh,
};
use k8s_openapi::api::core::v1::Secret;
use serde_json::json;

use crate::sample::{asking_for_a_password, database};

fn made(database: &Database) -> Secret {
    create(database, None, &SeededRandom::new(1))
}

fn read(secret: &Secret, key: &str) -> Option<String> {
    let data = secret.data.as_ref()?.get(key)?;
    Some(String::from_utf8(data.0.clone()).unwrap())
}

fn step(database: &Database, secret: &Secret) -> Step {
    decide(database, Some(secret), &Given::Nothing, true)
}

#[test]
fn a_new_database_gets_a_secret_with_everything_a_client_needs() {
    let database = database(json!({}));
    assert_eq!(
        decide(&database, None, &Given::Nothing, false),
        Step::Create { given: None }
    );
    let secret = made(&database);
    let password = read(&secret, "password").unwrap();
    assert_eq!(password.len(), 32);
    assert_eq!(read(&secret, "host").unwrap(), "orders.shop.svc");
    assert_eq!(read(&secret, "port").unwrap(), "5432");
    assert_eq!(read(&secret, "user").unwrap(), "app");
    assert_eq!(read(&secret, "dbname").unwrap(), "app");
    let uri = format!("postgresql://app:{password}@orders.shop.svc:5432/app");
    assert_eq!(read(&secret, "uri").unwrap(), uri);
    assert_eq!(step(&database, &secret), Step::Nothing);
}

/// The Secret must never carry an owner reference: it would go with the Database, whatever the policy.
#[test]
fn the_secret_is_not_collected_with_the_database() {
    assert_eq!(made(&database(json!({}))).metadata.owner_references, None);
}

#[test]
fn a_lost_secret_with_data_is_reported_and_not_invented() {
    let database = database(json!({}));
    assert_eq!(
        decide(&database, None, &Given::Nothing, true),
        Step::Stuck(Stuck::Lost)
    );
}

#[test]
fn a_secret_of_somebody_else_is_left_alone() {
    let database = database(json!({}));
    let mut unlabelled = made(&database);
    unlabelled.metadata.labels = None;
    assert!(matches!(
        step(&database, &unlabelled),
        Step::Stuck(Stuck::Foreign(_))
    ));
    let mut owned = made(&database);
    owned.metadata.owner_references = Some(vec![
        serde_json::from_value(
            json!({"apiVersion": "v1", "kind": "Pod", "name": "thief", "uid": "1"}),
        )
        .unwrap(),
    ]);
    assert_eq!(
        step(&database, &owned),
        Step::Stuck(Stuck::Foreign("Pod thief".to_owned()))
    );
}

#[test]
fn a_secret_without_a_password_is_damaged_not_filled_in() {
    let database = database(json!({}));
    let mut secret = made(&database);
    secret.data.as_mut().unwrap().remove("password");
    assert_eq!(
        step(&database, &secret),
        Step::Stuck(Stuck::Damaged("password"))
    );
    let mut secret = made(&database);
    secret.data.as_mut().unwrap().remove("replication-password");
    assert_eq!(
        step(&database, &secret),
        Step::Stuck(Stuck::Damaged("replication-password"))
    );
}

/// Programs put certificates and the like beside; that is no reason to write for ever.
#[test]
fn what_people_put_beside_the_credentials_is_theirs() {
    let database = database(json!({}));
    let mut secret = made(&database);
    let data = secret.data.as_mut().unwrap();
    data.insert(
        "ca.crt".to_owned(),
        k8s_openapi::ByteString(b"theirs".to_vec()),
    );
    assert_eq!(step(&database, &secret), Step::Nothing);
    let moved = crate::sample::database(json!({"port": 6000}));
    assert_eq!(
        read(&refresh(&moved, secret), "ca.crt").as_deref(),
        Some("theirs")
    );
}

#[test]
fn a_rotation_announces_then_changes_then_concludes() {
    let plain = database(json!({}));
    let secret = made(&plain);
    let database = asking_for_a_password(plain, "monday");
    let Step::Announce {
        given: None,
        request,
    } = step(&database, &secret)
    else {
        panic!("the request was not heard");
    };
    let announced = announce(secret.clone(), None, request, &SeededRandom::new(2));
    assert_eq!(read(&announced, "password"), read(&secret, "password"));

    // Whenever it is looked at now, both passwords are known.
    let Step::Change(exchange) = step(&database, &announced) else {
        panic!("the announced password is not carried out");
    };
    assert_eq!(Some(exchange.old), read(&secret, "password"));

    let concluded = conclude(&database, announced);
    assert_eq!(read(&concluded, "password"), Some(exchange.next.clone()));
    assert!(read(&concluded, "uri").unwrap().contains(&exchange.next));
    assert_eq!(read(&concluded, "next-password"), None);
    assert_eq!(
        read(&concluded, "replication-password"),
        read(&secret, "replication-password")
    );
    assert_eq!(step(&database, &concluded), Step::Nothing);

    // The next request is another one.
    let again = asking_for_a_password(database, "tuesday");
    assert!(matches!(step(&again, &concluded), Step::Announce { .. }));
}

#[test]
fn a_request_from_before_the_first_password_is_fulfilled_by_it() {
    let database = asking_for_a_password(database(json!({})), "at birth");
    assert_eq!(step(&database, &made(&database)), Step::Nothing);
}

#[test]
fn a_given_password_is_used_and_its_change_is_carried_out() {
    let database = database(json!({"passwordSecretRef": {"name": "mine"}}));
    let given = |text: &str| Given::Password(text.to_owned());
    let Step::Create { given: Some(first) } = decide(&database, None, &given("p@ss"), false) else {
        panic!("the given password was not taken");
    };
    let secret = create(&database, Some(first), &SeededRandom::new(1));
    assert_eq!(read(&secret, "password").unwrap(), "p@ss");
    assert!(read(&secret, "uri").unwrap().contains(":p%40ss@"));
    assert_eq!(
        decide(&database, Some(&secret), &given("p@ss"), true),
        Step::Nothing
    );
    assert!(matches!(
        decide(&database, Some(&secret), &given("other"), true),
        Step::Announce {
            given: Some(_),
            request: None
        }
    ));
    let gone = Given::Unreadable("Secret mine does not exist".to_owned());
    assert!(matches!(
        decide(&database, Some(&secret), &gone, true),
        Step::Stuck(Stuck::Unreadable(_))
    ));
}

#[test]
fn a_new_port_refreshes_the_secret_and_keeps_the_password() {
    let secret = made(&database(json!({})));
    let moved = database(json!({"port": 6000}));
    assert_eq!(step(&moved, &secret), Step::Refresh);
    let refreshed = refresh(&moved, secret.clone());
    assert_eq!(read(&refreshed, "port").unwrap(), "6000");
    assert_eq!(read(&refreshed, "password"), read(&secret, "password"));
    assert_eq!(step(&moved, &refreshed), Step::Nothing);
}

#[test]
fn passwords_do_not_show_in_debug_output() {
    let plain = database(json!({}));
    let announced = announce(made(&plain), None, None, &SeededRandom::new(2));
    let shown = format!("{:?}", step(&plain, &announced));
    assert!(
        !shown.contains(&read(&announced, "next-password").unwrap()),
        "{shown}"
    );
}
