//! Real connections to a view.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Version};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{Identity, Server};
use crate::faults::{Fault, View, Which};
use crate::toy::{Toy, create, get};

async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

async fn served() -> (View, Server) {
    let (view, _) = Toy::two_views();
    (view.clone(), Server::start(listener().await, view).unwrap())
}

/// A connection that speaks HTTP/1.1.
async fn http1(server: &Server) -> http1::SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

fn sent(request: Request<Bytes>, server: &Server) -> Request<Full<Bytes>> {
    let (mut head, body) = request.into_parts();
    head.headers
        .insert("host", server.address().to_string().parse().unwrap());
    Request::from_parts(head, Full::new(body))
}

async fn text(answer: Response<Incoming>) -> String {
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn http1_serves_many_requests_on_one_connection() {
    let (_, server) = served().await;
    let mut client = http1(&server).await;
    for name in ["a", "b"] {
        let answer = client
            .send_request(sent(create(name), &server))
            .await
            .unwrap();
        assert_eq!(answer.status(), 200);
        text(answer).await;
    }
    let answer = client.send_request(sent(get(""), &server)).await.unwrap();
    assert_eq!(text(answer).await, r#"["a","b"]"#);
    server.stop().await;
}

#[tokio::test]
async fn http2_works_without_tls_for_clients_that_insist() {
    let (_, server) = served().await;
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let (mut client, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let mut request = get("").map(Full::new);
    *request.uri_mut() = format!("{}{}", server.url(), request.uri())
        .parse()
        .unwrap();
    let answer = client.send_request(request).await.unwrap();
    assert_eq!(answer.version(), Version::HTTP_2);
    assert_eq!(text(answer).await, "[]");
}

async fn tls(
    server: &Server,
    authority: &str,
    protocol: &str,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let stream = TcpStream::connect(server.address()).await?;
    let name = ServerName::try_from("127.0.0.1").unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

#[tokio::test]
async fn tls_is_trusted_by_who_has_the_authority_and_by_nobody_else() {
    let identity = Identity::generate(&["localhost", "127.0.0.1"]).unwrap();
    let (view, _) = Toy::two_views();
    let server = Server::start_tls(listener().await, view, &identity).unwrap();
    assert!(server.url().starts_with("https://127.0.0.1:"));

    let stream = tls(&server, &identity.authority, "h2").await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let stream = tls(&server, &identity.authority, "http/1.1").await.unwrap();
    let (mut client, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let answer = client.send_request(sent(get(""), &server)).await.unwrap();
    assert_eq!(text(answer).await, "[]");

    let stranger = Identity::generate(&["127.0.0.1"]).unwrap();
    assert!(tls(&server, &stranger.authority, "h2").await.is_err());
}

#[tokio::test]
async fn a_watch_streams_and_ends_in_good_order_when_the_server_stops() {
    let (view, server) = served().await;
    let mut client = http1(&server).await;
    let mut watch = client
        .send_request(sent(get("?watch=1"), &server))
        .await
        .unwrap()
        .into_body();
    view.handle(create("a")).await.unwrap();
    let line = watch.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(line.starts_with(br#"{"type":"ADDED""#));
    let address = server.address();
    tokio::time::timeout(Duration::from_secs(4), server.stop())
        .await
        .expect("no wait for watches");
    assert!(
        watch.frame().await.is_none(),
        "the end of the stream, not a broken connection"
    );
    assert!(
        TcpStream::connect(address).await.is_err(),
        "nobody listens any more"
    );
}

#[tokio::test]
async fn a_lost_answer_is_a_broken_connection() {
    let (view, server) = served().await;
    view.fault_times(Which::writes(), Fault::LoseReply, 1);
    let mut client = http1(&server).await;
    assert!(
        client
            .send_request(sent(create("a"), &server))
            .await
            .is_err()
    );
    let answer = http1(&server)
        .await
        .send_request(sent(get(""), &server))
        .await
        .unwrap();
    assert_eq!(text(answer).await, r#"["a"]"#);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let (_, server) = served().await;
    let mut request = create("a");
    *request.body_mut() = vec![b' '; 3 * 1024 * 1024 + 1].into();
    let answer = http1(&server)
        .await
        .send_request(sent(request, &server))
        .await
        .unwrap();
    assert_eq!(answer.status(), 413);
    assert!(
        text(answer)
            .await
            .contains("Request entity too large: limit is 3145728")
    );
}

#[tokio::test]
async fn bytes_that_are_no_request_do_no_harm() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (_, server) = served().await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream
        .write_all(b"\x16\x03\x01\xff\x00rubbish\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let listed = http1(&server)
        .await
        .send_request(sent(get(""), &server))
        .await
        .unwrap();
    assert_eq!(listed.status(), 200);
}
