//! Submitting revisions: what is refused, what is remembered.

use evenkeel_api::{ListQuery, NewDeployment};
use evenkeel_client::Submit;
use evenkeel_model::Checksum;
use serde_json::json;

use crate::world::{Scene, World, manifest};

fn yaml(text: &str) -> NewDeployment {
    NewDeployment::of(text)
}

#[tokio::test]
async fn what_no_agent_could_apply_is_refused_with_document_and_line() {
    let world = World::new().await;
    let shop = world.tenant("shop").await;
    let stack = shop.stack("web").await;
    let nameless = format!(
        "{}---\napiVersion: v1\nkind: Secret\nmetadata: {{}}\n",
        manifest("x")
    );
    for (text, words) in [
        ("", "no documents"),
        ("just words", "a mapping is expected, not a text"),
        ("kind: [", "document 1, line"),
        (nameless.as_str(), "document 2, line 8: `metadata.name`"),
        (
            "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: run-}\n",
            "document 1, line 1: Job has `metadata.generateName`",
        ),
        (
            &format!("{0}---\n{0}", manifest("x")),
            "already described on line 1",
        ),
    ] {
        let submit = Submit::default();
        let refused = shop
            .client
            .deployment_create(stack.id, &yaml(text), &submit)
            .await;
        let refused = refused.unwrap_err();
        assert_eq!(
            (refused.status(), refused.code()),
            (Some(400), Some("invalid_deployment_object"))
        );
        assert!(refused.to_string().contains(words), "{refused}");
    }
    let all = shop
        .client
        .deployment_list(stack.id, &ListQuery::default())
        .await
        .unwrap();
    assert!(all.items.is_empty());
}

#[tokio::test]
async fn the_checksum_is_that_of_the_bytes_as_submitted() {
    let world = World::new().await;
    let shop = world.tenant("shop").await;
    let stack = shop.stack("web").await;
    let text = format!("# a comment\r\n{}\n\n", manifest("ü"));
    let url = format!(
        "{}/api/v1/stacks/{}/deployment-objects",
        world.address, stack.id
    );
    let http = reqwest::Client::new();
    let answer = http
        .post(&url)
        .header("authorization", &shop.key)
        .header("content-type", "application/yaml; charset=utf-8")
        .body(text.clone())
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 201);
    let object: serde_json::Value = answer.json().await.unwrap();
    assert_eq!(object["yaml_checksum"], Checksum::of(&text).as_str());
    let id = object["id"].as_str().unwrap();
    let raw = http
        .get(format!("{}/api/v1/deployment-objects/{id}", world.address))
        .bearer_auth(&shop.key)
        .header("accept", "application/yaml")
        .send()
        .await
        .unwrap();
    assert_eq!(raw.text().await.unwrap(), text);
}

#[tokio::test]
async fn the_same_content_again_makes_a_new_revision() {
    let world = World::new().await;
    let shop = world.tenant("shop").await;
    let stack = shop.stack("web").await;
    let (one, two) = (
        shop.submit(stack.id, "x").await,
        shop.submit(stack.id, "x").await,
    );
    assert_eq!(one.yaml_checksum, two.yaml_checksum);
    assert!(one.sequence_id < two.sequence_id && one.id != two.id);
    let newest = shop.client.deployment_newest(stack.id).await.unwrap();
    assert_eq!((newest.id, newest.yaml_content), (two.id, None));
}

#[tokio::test]
async fn a_submission_can_ask_that_nobody_was_faster() {
    let world = World::new().await;
    let shop = world.tenant("shop").await;
    let stack = shop.stack("web").await;
    let (one, two) = (
        shop.submit(stack.id, "1").await,
        shop.submit(stack.id, "2").await,
    );
    let late = Submit {
        if_newest: Some(one.sequence_id),
        ..Submit::default()
    };
    let refused = shop
        .client
        .deployment_create(stack.id, &yaml(&manifest("3")), &late)
        .await
        .unwrap_err();
    let evenkeel_client::ClientError::Refused { status, body, .. } = refused else {
        panic!()
    };
    assert_eq!((status, body.code.as_str()), (409, "stale_revision"));
    let both = json!({ "expected": one.sequence_id, "newest": two.sequence_id });
    assert_eq!(body.details, Some(both));
    let timely = Submit {
        if_newest: Some(two.sequence_id),
        ..Submit::default()
    };
    shop.client
        .deployment_create(stack.id, &yaml(&manifest("3")), &timely)
        .await
        .unwrap();
}

#[tokio::test]
async fn an_idempotency_key_makes_one_revision_of_many_tries() {
    let world = World::new().await;
    let shop = world.tenant("shop").await;
    let stack = shop.stack("web").await;
    let keyed = Submit {
        idempotency_key: Some("build-17".to_owned()),
        ..Submit::default()
    };
    let text = yaml(&manifest("1"));
    let one = shop
        .client
        .deployment_create(stack.id, &text, &keyed)
        .await
        .unwrap();
    let two = shop
        .client
        .deployment_create(stack.id, &text, &keyed)
        .await
        .unwrap();
    assert_eq!(one.id, two.id);
    let other = yaml(&manifest("2"));
    let refused = shop
        .client
        .deployment_create(stack.id, &other, &keyed)
        .await
        .unwrap_err();
    assert_eq!(refused.code(), Some("idempotency_key_reused"));
}

#[tokio::test]
async fn limits_on_size_and_count_are_said_clearly() {
    let mut config = crate::world::config();
    config.limits.manifest_documents = 2;
    config.limits.manifest_bytes = 1000;
    config.limits.body_bytes = 3000;
    let world = World::with(config).await;
    let shop = world.tenant("shop").await;
    let stack = shop.stack("web").await;
    let named =
        |name: usize| format!("apiVersion: v1\nkind: A\nmetadata: {{name: n{name}}}\n---\n");
    let three: String = (0..3).map(named).collect();
    for (text, code) in [
        (three, "manifest_too_large"),
        (manifest(&"x".repeat(1500)), "manifest_too_large"),
        (manifest(&"x".repeat(5000)), "body_too_large"),
    ] {
        let submit = Submit::default();
        let refused = shop
            .client
            .deployment_create(stack.id, &yaml(&text), &submit)
            .await;
        let refused = refused.unwrap_err();
        assert_eq!((refused.status(), refused.code()), (Some(413), Some(code)));
    }
}

#[tokio::test]
async fn a_deletion_marker_on_a_living_stack_is_served_until_confirmed() {
    let it = Scene::new().await;
    it.submit("1").await;
    let marker = NewDeployment {
        is_deletion_marker: true,
        ..NewDeployment::default()
    };
    let marker = it
        .shop
        .client
        .deployment_create(it.stack.id, &marker, &Submit::default())
        .await
        .unwrap();
    assert_eq!(it.agent.sequences().await, [marker.sequence_id.0]);
    it.agent
        .reports(marker.id, evenkeel_model::EventStatus::Success)
        .await;
    assert!(it.agent.sequences().await.is_empty());
    let again = it.submit("2").await;
    assert_eq!(it.agent.sequences().await, [again.sequence_id.0]);
}
