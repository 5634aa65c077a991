//! Asking a webhook over HTTP.

use std::io;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{Request, Uri, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tower::BoxError;

use super::court::{Summons, Verdict};

/// Asks, and reads the answer; the trouble is worded as a real server words it.
pub(super) async fn perform(summons: &Summons) -> Verdict {
    let seconds = summons.timeout.as_secs();
    let url = match summons
        .url
        .split_once("://")
        .map(|(_, rest)| rest.contains('/'))
    {
        Some(true) => format!("{}?timeout={seconds}s", summons.url),
        _ => format!("{}/?timeout={seconds}s", summons.url),
    };
    let asked = tokio::time::timeout(summons.timeout, ask(summons, &url)).await;
    let answer = match asked {
        Ok(Ok(answer)) => answer,
        Ok(Err(trouble)) => {
            return Err(format!("failed to call webhook: Post {url:?}: {trouble}"));
        }
        Err(_) => {
            return Err(format!(
                "failed to call webhook: Post {url:?}: context deadline exceeded"
            ));
        }
    };
    match answer.get("response") {
        Some(response) if response["uid"] == summons.review["request"]["uid"] => {
            Ok(response.clone())
        }
        Some(_) => Err("expected response.uid to be that of the request".into()),
        None => Err("the webhook's answer has no response".into()),
    }
}

async fn ask(summons: &Summons, url: &str) -> Result<Value, BoxError> {
    let uri: Uri = url.parse()?;
    let host = uri
        .host()
        .unwrap_or_default()
        .trim_matches(['[', ']'])
        .to_owned();
    let secure = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
    let stream = TcpStream::connect((host.as_str(), port)).await;
    let stream = stream.map_err(|error| dialled(&host, port, &error))?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let request = Request::post(path)
        .header(header::HOST, format!("{host}:{port}"))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(bytes::Bytes::from(summons.review.to_string())))?;
    if !secure {
        return exchange(stream, request).await;
    }
    let connector = TlsConnector::from(Arc::new(trust(summons)?));
    let stream = connector
        .connect(ServerName::try_from(host)?, stream)
        .await?;
    exchange(stream, request).await
}

fn dialled(host: &str, port: u16, error: &io::Error) -> String {
    let why = match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        _ => error.to_string(),
    };
    format!("dial tcp {host}:{port}: connect: {why}")
}

/// Trusts the authority that the configuration names, and nobody else.
fn trust(summons: &Summons) -> Result<ClientConfig, BoxError> {
    let mut roots = RootCertStore::empty();
    if let Some(bundle) = &summons.authority {
        let bundle = STANDARD.decode(bundle)?;
        for certificate in CertificateDer::pem_slice_iter(&bundle) {
            roots.add(certificate?)?;
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<bytes::Bytes>>,
) -> Result<Value, BoxError> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let response = sender.send_request(request).await?;
    let (status, body) = (
        response.status(),
        response.into_body().collect().await?.to_bytes(),
    );
    connection.abort();
    if !status.is_success() {
        return Err(format!("the server answered {status}").into());
    }
    Ok(serde_json::from_slice(&body)?)
}
