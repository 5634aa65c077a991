//! TLS: the same broker behind a certificate.

use evenkeel_broker::config::Tls;
use evenkeel_client::{Client, Poll};

use crate::world::{config, open, start};

#[tokio::test]
async fn a_broker_with_a_certificate_speaks_tls_and_nothing_else() {
    let room = tempfile::tempdir().unwrap();
    let identity = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (certificate, key) = (room.path().join("tls.crt"), room.path().join("tls.key"));
    std::fs::write(&certificate, identity.cert.pem()).unwrap();
    std::fs::write(&key, identity.signing_key.serialize_pem()).unwrap();
    let mut config = config();
    config.server.tls = Some(Tls { certificate, key });
    let database = open("sqlite::memory:").await;
    let (broker, _stop) = start(&database, config).await;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let root = reqwest::Certificate::from_pem(identity.cert.pem().as_bytes()).unwrap();
    let http = reqwest::Client::builder()
        .tls_certs_only([root])
        .build()
        .unwrap();
    let port = broker.address().port();
    let first = broker.first_key().unwrap().key.clone();
    let client = Client::with(http, &format!("https://localhost:{port}"), &first).unwrap();
    assert!(client.auth_pak().await.unwrap().admin);
    let json = serde_json::json!({ "name": "edge", "cluster_name": "edge" });
    let new = serde_json::from_value(json).unwrap();
    let agent = client.agent_create(&new).await.unwrap();
    let bearer = client.with_key(&agent.initial_pak);
    let state = bearer.target_state(agent.agent.id, &Poll::default()).await;
    let held = Poll {
        known: Some(state.unwrap().unwrap().version),
        wait: Some(std::time::Duration::from_millis(20)),
        ..Poll::default()
    };
    let unchanged = bearer.target_state(agent.agent.id, &held).await;
    assert_eq!(unchanged.unwrap(), None, "a poll waits behind TLS too");
    let plain = Client::new(&format!("http://127.0.0.1:{port}"), &first).unwrap();
    assert!(plain.auth_pak().await.is_err());
}
