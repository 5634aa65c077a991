//! Webhooks that change and refuse, also what controllers write.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use evenkeel_kubesim::adapters::Identity;
use evenkeel_kubesim::{Ambient, Cluster, Workloads};
use http::Response;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::Client;
use kube::api::{Api, ListParams, PostParams};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A webhook that labels everything, and refuses what is called `bad`.
async fn webhook() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, count.clone()));
        }
    });
    (url, asked)
}

/// The same over TLS, as `identity`.
async fn secure_webhook(identity: &Identity) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let asked = Arc::new(AtomicUsize::new(0));
    let (count, acceptor) = (asked.clone(), acceptor(identity));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // Who does not trust the certificate hangs up.
            if let Ok(stream) = acceptor.accept(stream).await {
                tokio::spawn(serve(stream, count.clone()));
            }
        }
    });
    (format!("https://localhost:{port}/hook"), asked)
}

fn acceptor(identity: &Identity) -> TlsAcceptor {
    let chain = CertificateDer::pem_slice_iter(identity.certificate.as_bytes());
    let chain = chain.collect::<Result<Vec<_>, _>>().expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key);
    TlsAcceptor::from(Arc::new(config.expect("a configuration")))
}

/// Answers what comes over one connection.
async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    count: Arc<AtomicUsize>,
) {
    let service = service_fn(move |request: http::Request<Incoming>| {
        count.fetch_add(1, Ordering::SeqCst);
        async move {
            let body = request.into_body().collect().await?.to_bytes();
            let review: Value = serde_json::from_slice(&body).expect("a review");
            let answer = Full::new(Bytes::from(answer(&review["request"]).to_string()));
            Ok::<_, hyper::Error>(Response::new(answer))
        }
    });
    let connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    drop(connection.await);
}

fn answer(request: &Value) -> Value {
    let bad = request["object"]["metadata"]["name"] == "bad";
    let labels = request["object"]["metadata"]["labels"].is_object();
    let patch = match labels {
        true => json!([{"op": "add", "path": "/metadata/labels/seen", "value": "yes"}]),
        false => json!([{"op": "add", "path": "/metadata/labels", "value": {"seen": "yes"}}]),
    };
    let mut response = json!({"uid": request["uid"], "allowed": !bad});
    if bad {
        response["status"] = json!({"message": "bad names are not welcome", "code": 403});
    } else {
        response["patchType"] = "JSONPatch".into();
        response["patch"] = STANDARD.encode(patch.to_string()).into();
    }
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
}

fn typed<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("an object")
}

/// Puts a webhook about these resources of the core group in force.
async fn register(client: &Client, url: &str, resource: &str) {
    register_trusting(client, json!({"url": url}), resource).await;
}

/// The same, reached and trusted as `at` says.
async fn register_trusting(client: &Client, at: Value, resource: &str) {
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "hook"},
        "webhooks": [{
            "name": "hook.example.com",
            "clientConfig": at,
            "rules": [{
                "apiGroups": [""], "apiVersions": ["v1"],
                "operations": ["CREATE"], "resources": [resource],
            }],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }],
    });
    let path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    let request = http::Request::post(path).header("content-type", "application/json");
    let request = request
        .body(configuration.to_string().into_bytes())
        .expect("a request");
    client.request::<Value>(request).await.expect("it is taken");
}

#[tokio::test]
async fn a_webhook_changes_and_refuses() {
    let (url, asked) = webhook().await;
    let client = Client::new(Cluster::new().view("admin"), "default");
    register(&client, &url, "configmaps").await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let map = |name: &str| typed::<ConfigMap>(json!({"metadata": {"name": name}}));
    let made = maps
        .create(&PostParams::default(), &map("good"))
        .await
        .expect("it is taken");
    assert_eq!(made.metadata.labels.expect("labels")["seen"], "yes");
    assert_eq!(asked.load(Ordering::SeqCst), 1, "asked once");
    let refused = maps
        .create(&PostParams::default(), &map("bad"))
        .await
        .expect_err("refused");
    assert!(
        refused.to_string().contains(
            "admission webhook \"hook.example.com\" denied the request: bad names are not welcome"
        ),
        "{refused}"
    );
    maps.delete("good", &Default::default())
        .await
        .expect("nobody minds");
    maps.create(&PostParams::default(), &map("good"))
        .await
        .expect("again");
    assert_eq!(asked.load(Ordering::SeqCst), 3, "every write asks anew");
}

#[tokio::test]
async fn a_webhook_has_a_say_in_what_controllers_write() {
    let (url, _) = webhook().await;
    let cluster = Cluster::builder()
        .ambient(Ambient::seeded(1))
        .workloads(Workloads::instant())
        .build();
    let client = Client::new(cluster.view("admin"), "default");
    register(&client, &url, "pods").await;
    let deployments: Api<Deployment> = Api::default_namespaced(client.clone());
    let deployment = typed(json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "nginx"}]},
            },
        },
    }));
    deployments
        .create(&PostParams::default(), &deployment)
        .await
        .expect("it is taken");
    let pods: Api<Pod> = Api::default_namespaced(client);
    let seen = ListParams::default().labels("seen=yes");
    let both = async {
        while pods.list(&seen).await.expect("a list").items.len() < 2 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), both)
        .await
        .expect("both pods are labelled");
}

#[tokio::test]
async fn a_webhook_over_tls_is_asked_if_the_bundle_vouches_for_it() {
    let identity = Identity::generate(&["localhost"]).expect("an identity");
    let (url, asked) = secure_webhook(&identity).await;
    let client = Client::new(Cluster::new().view("admin"), "default");
    let bundle = STANDARD.encode(&identity.authority);
    let at = json!({"url": url, "caBundle": bundle});
    register_trusting(&client, at, "configmaps").await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let map = typed::<ConfigMap>(json!({"metadata": {"name": "good"}}));
    let made = maps.create(&PostParams::default(), &map).await;
    let made = made.expect("it is taken");
    assert_eq!(made.metadata.labels.expect("labels")["seen"], "yes");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_webhook_that_the_bundle_does_not_vouch_for_is_not_believed() {
    let identity = Identity::generate(&["localhost"]).expect("an identity");
    let stranger = Identity::generate(&["localhost"]).expect("another");
    let (url, asked) = secure_webhook(&identity).await;
    for bundle in [json!(STANDARD.encode(&stranger.authority)), Value::Null] {
        let client = Client::new(Cluster::new().view("admin"), "default");
        let at = json!({"url": url, "caBundle": bundle});
        register_trusting(&client, at, "configmaps").await;
        let maps: Api<ConfigMap> = Api::default_namespaced(client);
        let map = typed::<ConfigMap>(json!({"metadata": {"name": "good"}}));
        let refused = maps.create(&PostParams::default(), &map).await;
        let refused = refused.expect_err("refused").to_string();
        let why = "failed calling webhook \"hook.example.com\": failed to call webhook";
        assert!(refused.contains(why), "{refused}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 0, "nothing was told to it");
}
