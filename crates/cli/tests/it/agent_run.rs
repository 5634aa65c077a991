//! `evenkeel agent run`, as a process of its own between a broker and a cluster.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command};

use evenkeel_testfleet::{Fleet, maps, until};
use evenkeel_testkit::Cluster;
use serde_json::Value;

use crate::fleet::Fleet as Broker;
use crate::running::{evenkeel, plain};

/// An agent that runs; ends with the test.
struct Running {
    child: Child,
    vitals: String,
    _stdout: BufReader<ChildStdout>,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut child = evenkeel(arguments).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (mut told, mut vitals) = (String::new(), String::new());
        stdout.read_line(&mut told).unwrap();
        assert!(told.starts_with("The agent asks http"), "{told}");
        stdout.read_line(&mut vitals).unwrap();
        let vitals = vitals.trim().trim_start_matches("Health and metrics: ");
        let vitals = vitals.trim_end_matches("/readyz").to_owned();
        Self {
            child,
            vitals,
            _stdout: stdout,
        }
    }

    /// Ends it as Kubernetes does; tells whether it ended in good order.
    fn terminate(mut self) -> bool {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .unwrap()
                .success()
        );
        self.child.wait().unwrap().success()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_works_shows_how_it_is_doing_and_ends_in_good_order() {
    let (fleet, cluster) = (Fleet::start().await, Cluster::simulated());
    let (east, shop) = (
        fleet.quiet_site("process", &cluster).await,
        fleet.stack("shop").await,
    );
    let kubeconfig = cluster.kubeconfig().await;
    let agent = Running::start(&[
        "agent",
        "run",
        "--broker",
        &fleet.url(),
        "--key",
        east.key(),
        "--kubeconfig",
        kubeconfig.to_str().unwrap(),
        "--vitals",
        "127.0.0.1:0",
        "--set",
        "agent.polling_interval=0.3",
    ]);
    east.serves(&shop).await;
    let one = shop.submit(&maps("process", 2)).await;
    east.reaches(&one).await;
    let ask = async |path: &str| plain(format!("{}{path}", agent.vitals)).await;
    assert_eq!(ask("/healthz").await, (200, "ok\n".to_owned()));
    until("it to be ready", async || {
        (ask("/readyz").await.0 == 200).then_some(())
    })
    .await;
    let (_, metrics) = ask("/metrics").await;
    for line in [
        r#"evenkeel_agent_polls_total{result="news"}"#,
        r#"evenkeel_agent_objects_total{word="created"} 3"#,
        r#"evenkeel_agent_kubernetes_requests_total{verb="apply",code="201"}"#,
        "evenkeel_agent_stacks 1",
        "evenkeel_agent_active 1",
        "evenkeel_agent_leading 1",
        r#"evenkeel_agent_queue{lane="running"}"#,
        "evenkeel_agent_drift_findings_total 0",
    ] {
        assert!(metrics.contains(line), "{line} is missing in\n{metrics}");
    }
    fleet.stop_broker().await;
    until("it to say that the broker is away", async || {
        let (code, text) = ask("/readyz").await;
        (code == 503 && text.contains("[-] broker: ")).then_some(())
    })
    .await;
    assert!(agent.terminate());
    let leases = east.objects("coordination.k8s.io/v1", "Lease", "evenkeel-system");
    let holder = leases.at("evenkeel-agent", "/spec/holderIdentity").await;
    assert!(
        holder.is_none_or(|holder| holder == ""),
        "the lease is given back"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_behind_a_private_authority_is_found() {
    let (broker, cluster) = (Broker::start_secure(), Cluster::simulated());
    let key = format!("@{}", broker.path("admin-key").display());
    let authority = broker.path("ca.pem").display().to_string();
    let ask = |arguments: &[&str]| {
        let how = [
            "--broker",
            &broker.url,
            "--ca-file",
            &authority,
            "-o",
            "json",
        ];
        broker
            .run(&[arguments, &how, &["--key", &key]].concat())
            .json()
    };
    let made = ask(&["agent", "create", "edge"]);
    let kubeconfig = cluster.kubeconfig().await;
    let _agent = Running::start(&[
        "agent",
        "run",
        "--broker",
        &broker.url,
        "--ca-file",
        &authority,
        "--key",
        made["key"].as_str().unwrap(),
        "--kubeconfig",
        kubeconfig.to_str().unwrap(),
        "--vitals",
        "127.0.0.1:0",
    ]);
    until("a sign of life", async || {
        let agents = ask(&["get", "agents"]);
        agents[0]["seen"].is_string().then_some(())
    })
    .await;
}

/// The lines of the log as a program reads them: what ran, why, and how long it took.
#[tokio::test(flavor = "multi_thread")]
async fn runs_are_told_as_spans_to_whoever_reads_json() {
    let (fleet, cluster) = (Fleet::start().await, Cluster::simulated());
    let (east, shop) = (
        fleet.quiet_site("spans", &cluster).await,
        fleet.stack("shop").await,
    );
    let kubeconfig = cluster.kubeconfig().await;
    let mut agent = Running::start(&[
        "agent",
        "run",
        "--broker",
        &fleet.url(),
        "--key",
        east.key(),
        "--kubeconfig",
        kubeconfig.to_str().unwrap(),
        "--vitals",
        "127.0.0.1:0",
        "--log",
        "info",
        "--log-format",
        "json",
    ]);
    east.serves(&shop).await;
    let one = shop.submit(&maps("spans", 1)).await;
    east.reaches(&one).await;
    let log = BufReader::new(agent.child.stderr.take().unwrap());
    assert!(agent.terminate());
    let lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let run = lines
        .filter(|line| line["fields"]["message"] == "close")
        .find(|line| line["span"]["key"] == shop.id.to_string())
        .expect("the end of a run");
    assert_eq!(run["span"]["name"], "run", "{run}");
    assert!(run["fields"]["time.busy"].is_string(), "{run}");
}

#[test]
fn what_is_missing_is_said() {
    let said = |arguments: &[&str]| {
        let output = evenkeel(arguments)
            .env_remove("EVENKEEL_BROKER")
            .env_remove("EVENKEEL_KEY")
            .env_remove("KUBERNETES_SERVICE_HOST")
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let error = said(&["agent", "run"]);
    assert!(error.contains("say --broker URL"), "{error}");
    let error = said(&["agent", "run", "--broker", "http://b"]);
    assert!(error.contains("say --key @FILE"), "{error}");
    let error = said(&["agent", "run", "--broker", "http://b", "--key", "k"]);
    assert!(error.contains("say --kubeconfig FILE"), "{error}");
}
