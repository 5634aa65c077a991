//! A process shows how it is doing.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use evenkeel_kubesim as kubesim;
use evenkeel_vitals::requests::Verb;
use evenkeel_vitals::{Checks, Requests, Vitals};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{ListParams, PostParams};
use kube::{Api, Client};
use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

async fn ask(address: &str, path: &str) -> (u16, String) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let answer = reqwest::get(format!("http://{address}{path}"))
        .await
        .unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[tokio::test]
async fn readiness_names_what_is_missing_and_metrics_show_the_registry() {
    let (checks, mut registry) = (Checks::default(), Registry::with_prefix("test"));
    let polls = Counter::<u64>::default();
    registry.register("polls", "Polls", polls.clone());
    polls.inc();
    let broker = checks.named("broker");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let stop = CancellationToken::new();
    let serving = tokio::spawn(Vitals { checks, registry }.serve(listener, stop.clone()));

    assert_eq!(ask(&address, "/healthz").await, (200, "ok\n".into()));
    broker.fail("the key was refused");
    let (status, text) = ask(&address, "/readyz").await;
    assert_eq!(
        (status, text.as_str()),
        (503, "[-] broker: the key was refused\n")
    );
    broker.pass();
    assert_eq!(ask(&address, "/readyz").await.0, 200);
    let (status, text) = ask(&address, "/metrics").await;
    assert_eq!(status, 200);
    assert!(text.contains("test_polls_total 1"), "{text}");

    stop.cancel();
    serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn requests_to_kubernetes_are_counted_by_verb_and_code() {
    let (requests, mut registry) = (Requests::default(), Registry::default());
    requests.register(&mut registry);
    let client = Client::new(kubesim::Cluster::default().view("admin"), "default");
    let maps: Api<ConfigMap> = Api::default_namespaced(requests.counted(&client));
    maps.list(&ListParams::default()).await.unwrap();
    assert!(maps.get_opt("none").await.unwrap().is_none());
    let mut map = ConfigMap::default();
    map.metadata.name = Some("one".into());
    maps.create(&PostParams::default(), &map).await.unwrap();
    maps.create(&PostParams::default(), &map).await.unwrap_err();
    let counted = [
        requests.count(Verb::List, 200),
        requests.count(Verb::Get, 404),
        requests.count(Verb::Create, 201),
        requests.count(Verb::Create, 409),
        requests.count(Verb::Apply, 200),
    ];
    assert_eq!(counted, [1, 1, 1, 1, 0]);
    let mut shown = String::new();
    text::encode(&mut shown, &registry).unwrap();
    let line = r#"kubernetes_requests_total{verb="create",code="409"} 1"#;
    assert!(shown.contains(line), "{shown}");
}
