//! Polls that are held: on the bare wire, where a connection is taken apart and put together.

use std::time::Duration;

use evenkeel_client::{Client, Poll};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::world::Scene;

/// A connection on which bytes are sent as they are.
struct Wire(TcpStream);

impl Wire {
    async fn to(scene: &Scene) -> Self {
        let address = scene.world.broker.address();
        Self(TcpStream::connect(address).await.unwrap())
    }

    async fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.unwrap();
    }

    /// Everything up to and including `end`.
    async fn read_to(&mut self, end: &str) -> String {
        let mut text = Vec::new();
        while !text.ends_with(end.as_bytes()) {
            text.push(self.0.read_u8().await.unwrap());
        }
        String::from_utf8(text).unwrap()
    }
}

impl Scene {
    /// The text of a poll that waits for another version than `known`.
    fn held_poll(&self, known: &str, wait: &str) -> String {
        let (id, key) = (self.agent.id, &self.agent.key);
        format!(
            "GET /api/v1/agents/{id}/target-state?wait={wait}&bodies=false HTTP/1.1\r\nhost: x\r\n\
             authorization: {key}\r\nif-none-match: \"{known}\"\r\nx-request-id: mine\r\n\r\n"
        )
    }

    async fn until_nobody_waits(&self) {
        while self.world.admin.fleet().await.unwrap()[0].ws_connected {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn one_connection_holds_poll_after_poll() {
    let it = Scene::new().await;
    let mut wire = Wire::to(&it).await;
    for text in ["one", "two", "three"] {
        let known = it.agent.target_state().await.version;
        wire.send(&it.held_poll(&known, "30s")).await;
        it.until_waiting().await;
        let object = it.submit(text).await;
        let head = wire.read_to("\r\n\r\n").await;
        assert!(
            head.starts_with("HTTP/1.1 200") && head.contains("x-request-id: mine"),
            "{head}"
        );
        let body = wire.read_to("}]").await;
        assert!(body.contains(&object.id.to_string()), "{body}");
        it.until_nobody_waits().await;
    }
}

/// What is sent while a poll waits is answered after it.
#[tokio::test]
async fn a_request_behind_a_held_poll_keeps_its_place() {
    let it = Scene::new().await;
    let known = it.agent.target_state().await.version;
    let mut wire = Wire::to(&it).await;
    let (first, rest) = ("GET /healthz HTTP/1.1\r\nho", "st: x\r\n\r\n");
    wire.send(&(it.held_poll(&known, "30s") + first)).await;
    it.until_waiting().await;
    wire.send(rest).await;
    it.submit("one").await;
    assert!(wire.read_to("}]").await.starts_with("HTTP/1.1 200"));
    assert!(wire.read_to("\r\n\r\n").await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_held_poll_ends_unchanged_after_its_time() {
    let it = Scene::new().await;
    let known = it.agent.target_state().await.version;
    let mut wire = Wire::to(&it).await;
    for _ in 0..2 {
        wire.send(&it.held_poll(&known, "20ms")).await;
        let head = wire.read_to("\r\n\r\n").await;
        assert!(
            head.starts_with("HTTP/1.1 304") && head.contains(&known),
            "{head}"
        );
    }
}

#[tokio::test]
async fn whoever_hangs_up_does_not_wait_any_more() {
    let it = Scene::new().await;
    let known = it.agent.target_state().await.version;
    let mut wire = Wire::to(&it).await;
    wire.send(&it.held_poll(&known, "30s")).await;
    it.until_waiting().await;
    drop(wire);
    it.until_nobody_waits().await;
}

/// On HTTP/2 many polls wait on one connection.
#[tokio::test]
async fn a_poll_waits_on_http2_too() {
    let it = Scene::new().await;
    let http = reqwest::Client::builder().http2_prior_knowledge();
    let client = Client::with(http.build().unwrap(), &it.world.address, &it.agent.key).unwrap();
    let poll = Poll {
        known: Some(it.agent.target_state().await.version),
        wait: Some(Duration::from_secs(30)),
        without_bodies: true,
    };
    let ask = || client.target_state(it.agent.id, &poll);
    let (one, two, object) = tokio::join!(ask(), ask(), async {
        it.until_waiting().await;
        it.submit("one").await
    });
    for answer in [one, two] {
        assert_eq!(answer.unwrap().unwrap().objects[0].id, object.id);
    }
}
