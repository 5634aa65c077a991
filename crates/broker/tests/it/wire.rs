//! What is on the wire, whatever goes wrong: JSON errors, ids, headers.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::World;

struct Wire {
    world: World,
    http: reqwest::Client,
}

impl Wire {
    async fn new() -> Self {
        Self {
            world: World::new().await,
            http: reqwest::Client::new(),
        }
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let key = &self.world.broker.first_key().unwrap().key;
        let url = format!("{}{path}", self.world.address);
        self.http.request(method, url).header("authorization", key)
    }
}

async fn refusal(request: reqwest::RequestBuilder) -> (u16, String) {
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    let media = answer.headers()["content-type"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(media.starts_with("application/json"), "{status} is {media}");
    assert!(answer.headers().contains_key("x-request-id"));
    let body: Value = answer.json().await.unwrap();
    assert!(!body["message"].as_str().unwrap().is_empty());
    (status, body["code"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn every_error_is_json() {
    let wire = Wire::new().await;
    let json_body = |body: &'static str| {
        wire.request(Method::POST, "/api/v1/generators")
            .header("content-type", "application/json")
            .body(body)
    };
    let cases = [
        (wire.request(Method::GET, "/nowhere"), 404, "not_found"),
        (
            wire.request(Method::GET, "/api/v1/nowhere"),
            404,
            "not_found",
        ),
        (
            wire.request(Method::GET, "/api/v1/agents/not-a-uuid"),
            400,
            "invalid_path",
        ),
        (
            wire.request(Method::DELETE, "/api/v1/fleet"),
            405,
            "method_not_allowed",
        ),
        (
            wire.request(Method::POST, "/healthz"),
            405,
            "method_not_allowed",
        ),
        (
            wire.request(Method::GET, "/api/v1/stacks?limit=many"),
            400,
            "invalid_query",
        ),
        (
            wire.request(Method::GET, "/api/v1/agents/?name=x"),
            400,
            "name_and_cluster_required",
        ),
        (json_body("{not json"), 400, "invalid_json"),
        (json_body("{}"), 422, "invalid_body"),
        (json_body(r#"{"name": ""}"#), 422, "invalid_body"),
        (
            wire.request(Method::POST, "/api/v1/generators")
                .body("name=x")
                .header("content-type", "text/plain"),
            415,
            "unsupported_media_type",
        ),
    ];
    for (request, status, code) in cases {
        let shown = format!("{request:?}");
        assert_eq!(refusal(request).await, (status, code.to_owned()), "{shown}");
    }
    let too_large = wire
        .request(Method::POST, "/api/v1/generators")
        .header("content-type", "application/json")
        .body("x".repeat(7 << 20));
    assert_eq!(refusal(too_large).await, (413, "body_too_large".to_owned()));
    let url = format!("{}/api/v1/fleet", wire.world.address);
    assert_eq!(
        refusal(wire.http.get(url)).await,
        (401, "unauthenticated".to_owned())
    );
}

#[tokio::test]
async fn deleting_what_is_not_there_is_not_found() {
    let wire = Wire::new().await;
    let nobody = "00000000-0000-4000-8000-000000000000";
    for noun in ["agents", "generators", "stacks", "webhooks", "keys"] {
        let request = wire.request(Method::DELETE, &format!("/api/v1/{noun}/{nobody}"));
        assert_eq!(
            refusal(request).await,
            (404, "not_found".to_owned()),
            "{noun}"
        );
    }
}

#[tokio::test]
async fn a_name_that_is_taken_is_a_conflict_with_its_constraint() {
    let wire = Wire::new().await;
    wire.world.tenant("shop").await;
    let again = wire
        .request(Method::POST, "/api/v1/generators")
        .json(&json!({ "name": "shop" }));
    let answer = again.send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::CONFLICT);
    let body: Value = answer.json().await.unwrap();
    assert_eq!(body["code"], "unique_violation");
    assert_eq!(body["details"]["constraint"], "generators_name_key");
}

#[tokio::test]
async fn lists_are_whole_unless_pages_are_asked_for() {
    let wire = Wire::new().await;
    for number in 0..5 {
        wire.world.tenant(&format!("t{number}")).await;
    }
    let all: Vec<Value> = wire
        .request(Method::GET, "/api/v1/generators")
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let mut paged = Vec::new();
    let mut path = "/api/v1/generators?limit=2".to_owned();
    loop {
        let answer = wire.request(Method::GET, &path).send().await.unwrap();
        let next = answer
            .headers()
            .get("x-next-cursor")
            .map(|c| c.to_str().unwrap().to_owned());
        let items: Vec<Value> = answer.json().await.unwrap();
        assert!(items.len() <= 2);
        paged.extend(items);
        match next {
            Some(cursor) => path = format!("/api/v1/generators?limit=2&after={cursor}"),
            None => break,
        }
    }
    assert_eq!(paged, all);
    assert_eq!(all.len(), 6, "five tenants and the broker itself");
}

#[tokio::test]
async fn request_ids_are_kept_or_made_up() {
    let wire = Wire::new().await;
    let given = wire
        .request(Method::GET, "/healthz")
        .header("x-request-id", "mine-1");
    assert_eq!(
        given.send().await.unwrap().headers()["x-request-id"],
        "mine-1"
    );
    let junk = wire
        .request(Method::GET, "/healthz")
        .header("x-request-id", "a b");
    assert_ne!(junk.send().await.unwrap().headers()["x-request-id"], "a b");
}

#[tokio::test]
async fn answers_are_compressed_when_asked_for() {
    let http = reqwest::Client::builder()
        .no_gzip()
        .no_zstd()
        .build()
        .unwrap();
    let wire = Wire {
        http,
        ..Wire::new().await
    };
    for encoding in ["gzip", "zstd"] {
        let asked = wire
            .request(Method::GET, "/openapi.json")
            .header("accept-encoding", encoding);
        assert_eq!(
            asked.send().await.unwrap().headers()["content-encoding"],
            encoding
        );
    }
}

#[tokio::test]
async fn whoever_runs_it_can_look_at_it_without_a_key() {
    let wire = Wire::new().await;
    let get = async |path: &str| {
        let answer = wire
            .http
            .get(format!("{}{path}", wire.world.address))
            .send()
            .await
            .unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    assert_eq!(get("/healthz").await, (200, "OK".to_owned()));
    assert_eq!(get("/readyz").await, (200, "OK".to_owned()));
    let (status, metrics) = get("/metrics").await;
    assert_eq!(status, 200);
    assert!(
        metrics.contains("evenkeel_broker_http_requests_total{endpoint=\"/healthz\""),
        "{metrics}"
    );
    assert!(get("/docs").await.1.contains("Evenkeel"));
    wire.world.database.close().await;
    assert_eq!(get("/readyz").await.0, 503);
    assert_eq!(get("/healthz").await.0, 200);
}

#[tokio::test]
async fn who_asks_too_often_waits() {
    let mut config = crate::world::config();
    config.limits.requests_per_second = 1;
    config.limits.burst = 3;
    let world = World::with(config).await;
    let mut refused = None;
    for _ in 0..10 {
        if let Err(error) = world.admin.auth_pak().await {
            refused = Some(error);
        }
    }
    let Some(evenkeel_client::ClientError::Refused {
        status,
        retry_after,
        ..
    }) = refused
    else {
        panic!("nobody was slowed down");
    };
    assert_eq!((status, retry_after), (429, Some(1)));
}
