//! Connections: accepting them, with TLS or without, and letting them finish.
//!
//! Read [`connection`] (one connection), then [`hold`] (how thousands can wait) and [`replay`].

mod connection;
mod hold;
mod replay;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::config::Tls;
use crate::run::StartError;
use connection::Connection;

pub(crate) use hold::{Holdable, Resumed, Wait};

/// How long a caller may take to agree on TLS.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long to wait when no more connections can be taken.
const BREATH: Duration = Duration::from_millis(50);

/// The TLS identity that the settings name.
pub(crate) fn acceptor(tls: &Tls) -> Result<TlsAcceptor, StartError> {
    let unreadable = |source| StartError::Tls(Box::new(source));
    let chain = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(unreadable)?;
    let key = PrivateKeyDer::from_pem_file(&tls.key).map_err(unreadable)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|source| StartError::Tls(Box::new(source)))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// What connections have in common.
pub(crate) struct Server {
    pub(crate) router: Router,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) stopping: CancellationToken,
    pub(crate) drain: Duration,
}

impl Server {
    /// Answers until it is told to stop, then lets requests in progress finish. Dropped, it cuts
    /// every connection.
    pub(crate) async fn serve(self, listener: TcpListener) {
        let this = Arc::new(self);
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                () = this.stopping.cancelled() => break,
                Some(_) = connections.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => {
                        connections.spawn(Arc::clone(&this).connection(stream, peer));
                    }
                    Err(error) => {
                        tracing::warn!(%error, "could not accept a connection");
                        tokio::time::sleep(BREATH).await;
                    }
                },
            }
        }
        drop(listener);
        let all_done = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(this.drain, all_done).await.is_err() {
            tracing::warn!("some requests did not finish in time");
        }
    }

    async fn connection(self: Arc<Self>, stream: TcpStream, peer: SocketAddr) {
        // Answers are small and wanted at once.
        let _ = stream.set_nodelay(true);
        let connection = Connection {
            router: self.router.clone(),
            peer,
            stopping: self.stopping.clone(),
        };
        match &self.tls {
            None => connection.serve(stream).await,
            // In a box, so that connections without TLS do not pay for its room.
            Some(acceptor) => Box::pin(secure(connection, acceptor, stream)).await,
        }
    }
}

async fn secure(connection: Connection, acceptor: &TlsAcceptor, stream: TcpStream) {
    let peer = connection.peer;
    match tokio::time::timeout(PATIENCE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => connection.serve(stream).await,
        Ok(Err(error)) => tracing::debug!(%error, %peer, "no TLS with a caller"),
        Err(_) => tracing::debug!(%peer, "a caller took too long to agree on TLS"),
    }
}
