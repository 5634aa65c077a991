//! Servers of tools, asked over real HTTP.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use evenkeel_agent_operator::api::RemoteMCPServer;
use evenkeel_agent_operator::mcp::{Endpoint, tools};
use evenkeel_agent_operator::operator::Options;
use evenkeel_agent_operator::translate::Protocol;
use evenkeel_controller::Status;
use k8s_openapi::api::core::v1::Secret;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};

use crate::bed::Bed;

/// A server of tools that remembers what it was asked.
#[derive(Clone, Default)]
struct Server(Arc<Shared>);

#[derive(Default)]
struct Shared {
    down: AtomicBool,
    slow: AtomicBool,
    asked: AtomicUsize,
    key: Mutex<String>,
    stream: Mutex<Option<mpsc::UnboundedSender<Event>>>,
}

impl Server {
    async fn start(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let routes = Router::new()
            .route("/mcp", post(streamable).delete(async || StatusCode::OK))
            .route("/sse", get(open))
            .route("/messages", post(message))
            .with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        format!("http://{address}")
    }

    fn answer(&self, request: &Value) -> Value {
        let result = match request["method"].as_str() {
            Some("initialize") => json!({"protocolVersion": "2025-06-18", "capabilities": {},
                "serverInfo": {"name": "test", "version": "1"}}),
            // Two pages.
            Some("tools/list") if request["params"]["cursor"].is_null() => {
                json!({"tools": [{"name": "add", "description": "Adds", "inputSchema": {}}],
                    "nextCursor": "more"})
            }
            Some("tools/list") => json!({"tools": [{"name": "subtract", "inputSchema": {}}]}),
            _ => {
                return json!({"jsonrpc": "2.0", "id": request["id"],
                "error": {"code": -32601, "message": "unknown"}});
            }
        };
        json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
    }
}

async fn streamable(
    State(server): State<Server>,
    headers: HeaderMap,
    Json(request): Json<Value>,
) -> Response {
    if server.0.slow.load(Ordering::SeqCst) {
        tokio::time::sleep(Duration::from_secs(3_600)).await;
    }
    if server.0.down.load(Ordering::SeqCst) {
        return (StatusCode::SERVICE_UNAVAILABLE, "down for a while").into_response();
    }
    server.0.asked.fetch_add(1, Ordering::SeqCst);
    let key = headers.get("x-key").and_then(|key| key.to_str().ok());
    *server.0.key.lock().await = key.unwrap_or_default().to_owned();
    let session = [("mcp-session-id", "one")];
    if request.get("id").is_none() {
        return (StatusCode::ACCEPTED, session).into_response();
    }
    if request["method"] != "initialize" && headers.get("mcp-session-id").is_none() {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let answer = server.answer(&request);
    // Every second answer comes as a stream: clients must take both.
    if request["id"] == 1 {
        let noise = json!({"jsonrpc": "2.0", "method": "notifications/message"});
        let text = format!("data: {noise}\n\nevent: message\ndata: {answer}\n\n");
        return (session, [("content-type", "text/event-stream")], text).into_response();
    }
    (session, Json(answer)).into_response()
}

async fn open(State(server): State<Server>) -> Response {
    let (sender, events) = mpsc::unbounded_channel();
    let endpoint = Event::default().event("endpoint").data("/messages?id=1");
    let _ = sender.send(endpoint);
    *server.0.stream.lock().await = Some(sender);
    let events = futures::stream::unfold(events, async |mut events| {
        let event = events.recv().await?;
        Some((Ok::<_, Infallible>(event), events))
    });
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}

async fn message(State(server): State<Server>, Json(request): Json<Value>) -> StatusCode {
    if request.get("id").is_some() {
        let answer = Event::default().data(server.answer(&request).to_string());
        if let Some(stream) = server.0.stream.lock().await.as_ref() {
            let _ = stream.send(answer);
        }
    }
    StatusCode::ACCEPTED
}

fn endpoint(url: String, protocol: Protocol) -> Endpoint {
    Endpoint {
        url,
        protocol,
        headers: [("x-key".to_owned(), "k1".to_owned())].into(),
        timeout: Duration::from_secs(10),
        authorities: None,
        only_these_authorities: false,
        skip_verification: false,
    }
}

async fn names(endpoint: &Endpoint) -> Vec<String> {
    let tools = tools(endpoint).await.unwrap_or_else(|error| {
        panic!("{}", evenkeel_ambient::chain(&error));
    });
    tools.into_iter().map(|tool| tool.name).collect()
}

#[tokio::test]
async fn tools_are_listed_in_both_forms_of_the_protocol_page_by_page() {
    let server = Server::default();
    let url = server.start().await;
    let streamable = endpoint(format!("{url}/mcp"), Protocol::StreamableHttp);
    assert_eq!(names(&streamable).await, ["add", "subtract"]);
    assert_eq!(*server.0.key.lock().await, "k1");
    let events = endpoint(format!("{url}/sse"), Protocol::Sse);
    assert_eq!(names(&events).await, ["add", "subtract"]);
}

#[tokio::test]
async fn what_is_wrong_with_a_server_is_said() {
    let server = Server::default();
    let url = server.start().await;
    server.0.down.store(true, Ordering::SeqCst);
    let at = |path: &str| endpoint(format!("{url}{path}"), Protocol::StreamableHttp);
    let error = tools(&at("/mcp"))
        .await
        .expect_err("it is down")
        .to_string();
    assert!(
        error.contains("503") && error.contains("down for a while"),
        "{error}"
    );
    let error = tools(&at("/none"))
        .await
        .expect_err("nothing is there")
        .to_string();
    assert!(error.contains("404"), "{error}");
    server.0.down.store(false, Ordering::SeqCst);
    server.0.slow.store(true, Ordering::SeqCst);
    let hasty = Endpoint {
        timeout: Duration::from_millis(200),
        ..at("/mcp")
    };
    let error = tools(&hasty).await.expect_err("it is slow").to_string();
    assert!(
        error.contains("did not tell its tools within 200ms"),
        "{error}"
    );
    let nobody = endpoint(
        "http://127.0.0.1:1/mcp".to_owned(),
        Protocol::StreamableHttp,
    );
    let error = tools(&nobody)
        .await
        .expect_err("nobody listens")
        .to_string();
    assert!(
        error.contains("cannot ask http://127.0.0.1:1/mcp"),
        "{error}"
    );
}

/// The operator asks, tells, keeps what it knew while the server is down, and asks again.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_s_tools_are_told_kept_and_refreshed() {
    let server = Server::default();
    let url = server.start().await;
    let bed = Bed::quick().await;
    let options = Options {
        refresh: Duration::from_millis(500),
        ..Options::default()
    };
    let working = bed.operator_with(options);
    bed.apply(&format!(
        "\
apiVersion: v1
kind: Secret
metadata: {{name: keys, namespace: NS}}
stringData: {{header: k1}}
---
apiVersion: kagent.dev/v1alpha2
kind: RemoteMCPServer
metadata: {{name: math, namespace: NS}}
spec:
  description: math
  url: {url}/mcp
  headersFrom: [{{name: X-Key, valueFrom: {{type: Secret, name: keys, key: header}}}}]
"
    ))
    .await;
    let status = async || {
        let math = bed
            .api::<RemoteMCPServer>()
            .get("math")
            .await
            .expect("a server");
        math.status.unwrap_or_default()
    };
    let accepted = async |wanted: Status| {
        let conditions = status().await.conditions;
        conditions
            .iter()
            .any(|it| it.kind == "Accepted" && it.status == wanted)
    };
    bed.until("its tools are told", async || accepted(Status::True).await)
        .await;
    let tools = status().await.discovered_tools.expect("tools");
    assert_eq!(tools.len(), 2);
    assert_eq!(status().await.secret_hash, None);
    let asked = server.0.asked.load(Ordering::SeqCst);
    bed.until("it is asked again", async || {
        server.0.asked.load(Ordering::SeqCst) > asked
    })
    .await;
    bed.merge::<Secret>("keys", json!({"stringData": {"header": "k2"}}))
        .await;
    bed.until("the new key is used", async || {
        *server.0.key.lock().await == "k2"
    })
    .await;
    server.0.down.store(true, Ordering::SeqCst);
    bed.until("that it is down is told", async || {
        accepted(Status::False).await
    })
    .await;
    assert_eq!(status().await.discovered_tools.expect("kept").len(), 2);
    server.0.down.store(false, Ordering::SeqCst);
    bed.until("it is up again", async || accepted(Status::True).await)
        .await;
    working.end().await;
}

/// kagent asked its servers one after the other.
#[tokio::test(flavor = "multi_thread")]
async fn issue_1805_servers_that_hang_delay_no_other() {
    let (hung, works) = (Server::default(), Server::default());
    hung.0.slow.store(true, Ordering::SeqCst);
    let (nowhere, somewhere) = (hung.start().await, works.start().await);
    let bed = Bed::quick().await;
    let working = bed.operator();
    let server = |name: &str, url: &str| {
        format!(
            "apiVersion: kagent.dev/v1alpha2\nkind: RemoteMCPServer\nmetadata: {{name: {name}, namespace: NS}}\nspec: {{description: d, url: '{url}/mcp'}}\n"
        )
    };
    for name in ["a", "b", "c"] {
        bed.apply(&server(name, &nowhere)).await;
    }
    bed.apply(&server("works", &somewhere)).await;
    let tools = async |name: &str| {
        let server = bed.api::<RemoteMCPServer>().get(name).await;
        let status = server.expect("a server").status.unwrap_or_default();
        status.discovered_tools.map(|tools| tools.len())
    };
    bed.until("one that works is asked", async || {
        tools("works").await == Some(2)
    })
    .await;
    assert_eq!(tools("a").await, None, "it still hangs");
    working.end().await;
}

/// The official SDK of the protocol, as a process of its own, where Python has it.
#[tokio::test]
async fn a_server_of_the_official_sdk_is_understood() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp_server.py");
    let has_sdk = std::process::Command::new("python3")
        .args(["-c", "import mcp"])
        .output();
    if !has_sdk.is_ok_and(|output| output.status.success()) {
        evenkeel_testkit::skip(&"python3 has no package mcp (pip install mcp)");
        return;
    }
    for (form, path, protocol) in [
        ("streamable-http", "/mcp", Protocol::StreamableHttp),
        ("sse", "/sse", Protocol::Sse),
    ] {
        let port = {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            listener.local_addr().expect("an address").port()
        };
        let mut process = tokio::process::Command::new("python3")
            .args([script, form, &port.to_string()])
            .kill_on_drop(true)
            .spawn()
            .expect("python runs");
        let there = endpoint(format!("http://127.0.0.1:{port}{path}"), protocol);
        let mut listed = tools(&there).await;
        for _ in 0..150 {
            if listed.is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
            listed = tools(&there).await;
        }
        let listed = listed.unwrap_or_else(|error| panic!("{}", evenkeel_ambient::chain(&error)));
        let told: Vec<_> = listed
            .iter()
            .map(|tool| (&*tool.name, &*tool.description))
            .collect();
        assert_eq!(
            told,
            [("add", "Add two numbers."), ("greet", "Greet somebody.")],
            "{form}"
        );
        let _ = process.kill().await;
    }
}
