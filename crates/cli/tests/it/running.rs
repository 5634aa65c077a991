//! An `evenkeel up` that is running, and requests to its clusters.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

use crate::fleet::{Said, at_home};

/// The command itself, not yet started. The kernel ends it with the thread of the test, however
/// that ends.
pub(crate) fn evenkeel(arguments: &[&str]) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", env!("CARGO_BIN_EXE_evenkeel")]);
    command.args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A running `evenkeel up -o json`; ends with the test.
pub(crate) struct Up {
    child: Child,
    /// A home of its own, so that the developer's contexts are left alone.
    pub(crate) home: Arc<tempfile::TempDir>,
    /// The JSON document that it printed.
    pub(crate) told: Value,
}

impl Up {
    /// Starts it and waits until it has said what runs where.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_at(&a_home(), arguments)
    }

    /// The same for somebody who was here before.
    pub(crate) fn start_at(home: &Arc<tempfile::TempDir>, arguments: &[&str]) -> Self {
        let mut command = evenkeel(&[&["up", "-o", "json"], arguments].concat());
        at_home(&mut command, home.path());
        Self::started(command, home.clone())
    }

    /// Starts this command line.
    pub(crate) fn started(mut command: Command, home: Arc<tempfile::TempDir>) -> Self {
        let mut child = command.spawn().expect("evenkeel starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe"))
            .read_line(&mut line)
            .expect("evenkeel speaks");
        if line.is_empty() {
            let mut error = String::new();
            let _ = child
                .stderr
                .take()
                .expect("a pipe")
                .read_to_string(&mut error);
            panic!("evenkeel up said nothing but: {error}");
        }
        let told = serde_json::from_str(&line).expect("one JSON document");
        Self { child, home, told }
    }

    /// The address of the cluster at `place`.
    pub(crate) fn url(&self, place: usize) -> &str {
        self.told["clusters"][place]["url"].as_str().expect("a URL")
    }

    /// The kubeconfig of the cluster at `place`.
    pub(crate) fn kubeconfig(&self, place: usize) -> Value {
        let file = self.told["clusters"][place]["kubeconfig"].as_str();
        let text = std::fs::read_to_string(file.expect("a path")).expect("a kubeconfig");
        serde_json::from_str(&text).expect("JSON")
    }

    /// The token in the kubeconfig of the cluster at `place`.
    pub(crate) fn token(&self, place: usize) -> String {
        let config = self.kubeconfig(place);
        let token = config["users"][0]["user"]["token"].as_str();
        token.expect("a token").to_owned()
    }

    /// Asks the cluster at `place`.
    pub(crate) async fn ask(&self, place: usize, path: &str) -> (StatusCode, Value) {
        self.send(place, Method::GET, path, "").await
    }

    /// Makes something in the cluster at `place`.
    pub(crate) async fn make(&self, place: usize, path: &str, body: &str) -> (StatusCode, Value) {
        self.send(place, Method::POST, path, body).await
    }

    async fn send(
        &self,
        place: usize,
        method: Method,
        path: &str,
        body: &str,
    ) -> (StatusCode, Value) {
        let file = serde_json::from_value(self.kubeconfig(place)).expect("a kubeconfig");
        let options = kube::config::KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(file, &options).await;
        let client = kube::Client::try_from(config.expect("a context")).expect("a client");
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", "application/json")
            .body(kube::client::Body::from(body.as_bytes().to_vec()))
            .expect("a request");
        let response = client.send(request).await.expect("an answer");
        let status = response.status();
        let body = response.into_body().collect().await.expect("a body");
        (
            status,
            serde_json::from_slice(&body.to_bytes()).unwrap_or_default(),
        )
    }

    /// Runs another command of the same person.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        run_at(&self.home, arguments)
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it dies");
        self.child.wait().expect("it ends");
    }

    /// Presses Ctrl-C and waits; tells whether it ended in good order.
    pub(crate) fn interrupt(mut self) -> bool {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &pid]).status();
        assert!(sent.expect("kill runs").success());
        self.child.wait().expect("it ends").success()
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A home for one person.
pub(crate) fn a_home() -> Arc<tempfile::TempDir> {
    Arc::new(tempfile::tempdir().expect("a directory"))
}

/// Runs a command of the person who lives there.
pub(crate) fn run_at(home: &tempfile::TempDir, arguments: &[&str]) -> Said {
    let mut command = evenkeel(arguments);
    at_home(&mut command, home.path());
    Said::of(command.stdin(Stdio::null()).output().expect("it runs"))
}

/// Sends one request and returns what came back.
pub(crate) async fn request(method: Method, url: String, body: &str) -> (StatusCode, Value) {
    request_as(method, url, "", body).await
}

/// Sends one request with a key.
pub(crate) async fn request_as(
    method: Method,
    url: String,
    key: &str,
    body: &str,
) -> (StatusCode, Value) {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let request = Request::builder()
        .method(method)
        .uri(url)
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {key}"))
        .body(Full::new(Bytes::from(body.to_owned())))
        .expect("a request");
    let response = client.request(request).await.expect("an answer");
    let status = response.status();
    let body = response.into_body().collect().await.expect("a body");
    (
        status,
        serde_json::from_slice(&body.to_bytes()).unwrap_or_default(),
    )
}

/// Asks for a page that is text.
pub(crate) async fn plain(url: String) -> (u16, String) {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let response = client
        .get(url.parse().expect("a URL"))
        .await
        .expect("an answer");
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.expect("a body");
    let text = String::from_utf8(body.to_bytes().to_vec());
    (status, text.expect("text"))
}
