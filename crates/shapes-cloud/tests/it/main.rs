//! The cloud over HTTP, with and without vices.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use evenkeel_ambient::{ManualClock, SeededRandom};
use evenkeel_shapes_cloud::{Cloud, Page, Shape, Vices, router};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use serde_json::json;
use tower::ServiceExt;

fn cloud() -> (Arc<Cloud>, Router) {
    let (clock, dice) = (ManualClock::default(), SeededRandom::new(1));
    let cloud = Arc::new(Cloud::new(Arc::new(clock), Arc::new(dice)));
    (cloud.clone(), router(cloud))
}

async fn ask(
    router: &Router,
    method: &str,
    uri: &str,
    body: serde_json::Value,
) -> (StatusCode, Option<Vec<u8>>) {
    let request = Request::builder()
        .method(method)
        .uri(uri)
        .header("content-type", "application/json");
    let request = request
        .body(Body::from(body.to_string()))
        .expect("a request");
    let answer = router.clone().oneshot(request).await.expect("an answer");
    let status = answer.status();
    let body = answer.into_body().collect().await.ok();
    (status, body.map(|body| body.to_bytes().to_vec()))
}

fn read<T: DeserializeOwned>(body: Option<Vec<u8>>) -> T {
    serde_json::from_slice(&body.expect("a body")).expect("an answer of that kind")
}

#[tokio::test]
async fn a_shape_lives_and_goes() {
    let (_, router) = cloud();
    let square = json!({"name": "foo", "type": "Square", "colour": "red"});
    let (status, body) = ask(&router, "POST", "/v1/shapes", square).await;
    assert_eq!(status, StatusCode::CREATED);
    let shape: Shape = read(body);
    let one = format!("/v1/shapes/{}", shape.id);
    let (_, body) = ask(&router, "PATCH", &one, json!({"colour": "purple"})).await;
    assert_eq!(read::<Shape>(body).colour, "purple");
    let (_, body) = ask(&router, "GET", "/v1/shapes?name=foo&limit=1", json!(null)).await;
    assert_eq!(read::<Page>(body).items.len(), 1);
    assert_eq!(
        ask(&router, "DELETE", &one, json!(null)).await.0,
        StatusCode::NO_CONTENT
    );
    assert_eq!(
        ask(&router, "GET", &one, json!(null)).await.0,
        StatusCode::NOT_FOUND
    );
    let bad = json!({"name": "foo", "type": "Blob", "colour": "red"});
    assert_eq!(
        ask(&router, "POST", "/v1/shapes", bad).await.0,
        StatusCode::UNPROCESSABLE_ENTITY
    );
}

#[tokio::test]
async fn vices_can_be_switched_on_by_anybody() {
    let (cloud, router) = cloud();
    let square = || json!({"name": "foo", "type": "Square", "colour": "red"});
    ask(&router, "PUT", "/v1/vices", json!({"losesReplies": 100})).await;
    let (_, body) = ask(&router, "POST", "/v1/shapes", square()).await;
    assert_eq!(
        (body, cloud.shapes().len()),
        (None, 1),
        "made, and not told"
    );
    ask(&router, "PUT", "/v1/vices", json!({"fails": 100})).await;
    assert_eq!(
        ask(&router, "POST", "/v1/shapes", square()).await.0,
        StatusCode::INTERNAL_SERVER_ERROR
    );
    cloud.set_vices(Vices {
        rate: 3,
        ..Vices::default()
    });
    let mut codes = Vec::new();
    for _ in 0..4 {
        codes.push(ask(&router, "GET", "/v1/shapes", json!(null)).await.0);
    }
    assert_eq!(codes.last(), Some(&StatusCode::TOO_MANY_REQUESTS));
    assert_eq!(cloud.shapes().len(), 1);
}
