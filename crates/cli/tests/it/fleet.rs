//! A broker with agents that say what a test tells them to, and the command run against it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use evenkeel_api::{HealthReport, NewEvent, ObjectHealth, ReportedHealth};
use evenkeel_client::{Client, Poll};
use evenkeel_kubesim::adapters::Identity;
use evenkeel_model::{
    AgentId, DeploymentId, DriftMode, DriftRecord, EventStatus, HealthStatus, ObjectKey,
};
use jiff::Timestamp;

use crate::running::evenkeel;

/// Two objects that most tests deliver.
pub(crate) const SHOP: &str = "\
apiVersion: v1
kind: Namespace
metadata:
  name: shop
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: greeting
  namespace: shop
data:
  text: hello
";

/// What the command said and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().expect("it ended by itself"),
            out: String::from_utf8(output.stdout).expect("text"),
            err: String::from_utf8(output.stderr).expect("text"),
        }
    }

    /// What it said, if all went well.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.out
    }

    /// What it complained of, with this exit code.
    #[track_caller]
    pub(crate) fn failed(self, code: i32) -> String {
        assert_eq!(self.code, code, "{self:?}");
        self.err
    }

    /// What it said as JSON.
    #[track_caller]
    pub(crate) fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.ok()).expect("JSON")
    }
}

/// A running broker, and a home for whoever talks to it. Both go with the test.
pub(crate) struct Fleet {
    broker: Child,
    /// Held open: a broker that cannot speak stops.
    _said: BufReader<ChildStdout>,
    pub(crate) home: tempfile::TempDir,
    pub(crate) url: String,
    pub(crate) key: String,
}

impl Fleet {
    /// Starts a broker and logs in.
    pub(crate) fn start() -> Self {
        let fleet = Self::start_unknown();
        let key = format!("@{}", fleet.path("admin-key").display());
        fleet
            .run(&["login", &fleet.url, "--key", &key, "--name", "test"])
            .ok();
        fleet
    }

    /// Starts a broker that nobody has heard of yet.
    pub(crate) fn start_unknown() -> Self {
        Self::start_in(tempfile::tempdir().expect("a directory"), &[])
    }

    /// The same behind a certificate; `ca.pem` in the home is who signed it.
    pub(crate) fn start_secure() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let names = ["127.0.0.1", "localhost"];
        let identity = Identity::generate(&names).expect("an identity");
        let path = |name: &str| home.path().join(name).display().to_string();
        let [authority, certificate, key] = ["ca.pem", "tls.crt", "tls.key"].map(path);
        fs::write(authority, identity.authority).expect("a file");
        fs::write(&certificate, identity.certificate).expect("a file");
        fs::write(&key, identity.key).expect("a file");
        let config = path("broker.yaml");
        let tls = format!("{{certificate: {certificate}, key: {key}}}");
        fs::write(&config, format!("server: {{tls: {tls}}}\n")).expect("a file");
        Self::start_in(home, &["--config", &config])
    }

    fn start_in(home: tempfile::TempDir, more: &[&str]) -> Self {
        let database = format!("sqlite://{}", home.path().join("fleet.db").display());
        let arguments = ["broker", "--listen", "127.0.0.1:0", "--database", &database];
        let mut broker = evenkeel(&[&arguments, more].concat())
            .spawn()
            .expect("the broker starts");
        let mut line = String::new();
        let mut said = BufReader::new(broker.stdout.take().expect("a pipe"));
        said.read_line(&mut line).expect("the broker speaks");
        let url = line
            .split_whitespace()
            .last()
            .expect("an address")
            .to_owned();
        let key = fs::read_to_string(home.path().join("admin-key")).expect("a key");
        Self {
            broker,
            _said: said,
            home,
            url,
            key: key.trim().to_owned(),
        }
    }

    /// A file in the home.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Writes a file into the home and tells where it is.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(&path, text).expect("a file");
        path.to_str().expect("a plain path").to_owned()
    }

    /// The command, not yet started, with this home and nothing else of the machine's.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = evenkeel(arguments);
        at_home(&mut command, self.home.path());
        command
    }

    /// Runs the command.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        let output = self.command(arguments).stdin(Stdio::null()).output();
        Said::of(output.expect("it runs"))
    }

    /// Runs the command with something on standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Said {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(input.as_bytes()).expect("it reads");
        drop(stdin);
        Said::of(child.wait_with_output().expect("it ends"))
    }

    /// Delivers the two objects of the shop to agents with the label `region=eu`.
    pub(crate) fn apply_shop(&self) {
        let file = self.write("shop.yaml", SHOP);
        self.run(&["apply", "-f", &file, "--stack", "shop", "--to", "region=eu"])
            .ok();
    }

    /// Makes an active agent with the label `region=eu`, which acts for the test.
    pub(crate) fn agent(&self, name: &str) -> Agent {
        let made = self.run(&[
            "agent",
            "create",
            name,
            "--label",
            "region=eu",
            "--activate",
            "-o",
            "json",
        ]);
        let made = made.json();
        let key = made["key"].as_str().expect("a key").to_owned();
        let id = made["id"].as_str().expect("an id").parse().expect("an id");
        let client = Client::new(&self.url, &key).expect("a client");
        Agent { id, client }
    }
}

/// Gives a command a home of its own, so that no test reads or changes the developer's.
pub(crate) fn at_home(command: &mut Command, home: &Path) {
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("EVENKEEL_") {
            command.env_remove(variable);
        }
    }
    command
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home.join("config"));
    command.env("XDG_DATA_HOME", home.join("data"));
}

impl Drop for Fleet {
    fn drop(&mut self) {
        let _ = self.broker.kill();
        let _ = self.broker.wait();
    }
}

/// An agent that reports what a test tells it to.
pub(crate) struct Agent {
    pub(crate) id: AgentId,
    pub(crate) client: Client,
}

impl Agent {
    /// What it is told to hold.
    async fn wanted(&self) -> Vec<DeploymentId> {
        let state = self.client.target_state(self.id, &Poll::default()).await;
        let objects = state.expect("an answer").expect("a state").objects;
        objects.iter().map(|object| object.id).collect()
    }

    async fn report(&self, status: EventStatus, message: Option<&str>) {
        for object in self.wanted().await {
            let event = NewEvent {
                message: message.map(str::to_owned),
                ..NewEvent::of(object, status)
            };
            self.client
                .event_record(self.id, &event)
                .await
                .expect("it is heard");
        }
    }

    /// Says that it did everything.
    pub(crate) async fn applies(&self) {
        self.report(EventStatus::Success, None).await;
    }

    /// Says that it could not.
    pub(crate) async fn fails(&self, why: &str) {
        self.report(EventStatus::Failure, Some(why)).await;
    }

    /// Says how the greeting is doing, with whatever else `more` says.
    pub(crate) async fn health(
        &self,
        status: HealthStatus,
        reason: Option<&str>,
        more: impl Fn(ReportedHealth) -> ReportedHealth,
    ) {
        let now = Timestamp::UNIX_EPOCH;
        let object = ObjectHealth {
            object: greeting(),
            status,
            reason: reason.map(str::to_owned),
            since: None,
        };
        for id in self.wanted().await {
            let report = ReportedHealth {
                objects: vec![object.clone()],
                ..ReportedHealth::of(id, status, now)
            };
            let report = HealthReport {
                deployment_objects: vec![more(report)],
            };
            self.client
                .health_report(self.id, &report)
                .await
                .expect("it is heard");
        }
    }

    /// Says that somebody changed the greeting.
    pub(crate) async fn drift(&self, repaired: bool) {
        let record = DriftRecord {
            object: greeting(),
            fields: vec!["data.text".to_owned()],
            manager: Some("kubectl-edit".to_owned()),
            at: Timestamp::UNIX_EPOCH,
            mode: DriftMode::Enforce,
            repaired,
        };
        let more = |report: ReportedHealth| ReportedHealth {
            drift_records: vec![record.clone()],
            ..report
        };
        self.health(HealthStatus::Healthy, None, more).await;
    }
}

/// The ConfigMap of the shop.
pub(crate) fn greeting() -> ObjectKey {
    ObjectKey {
        group: String::new(),
        kind: "ConfigMap".to_owned(),
        namespace: Some("shop".to_owned()),
        name: "greeting".to_owned(),
    }
}
