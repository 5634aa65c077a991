//! A view on a port: HTTP/1.1 and HTTP/2, plain or with TLS.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::subject;
use super::tls::{Identity, TlsError};
use crate::access::User;
use crate::body::Body;
use crate::faults::{Lost, View};

/// How long answers that are under way may take to end when the server stops.
const GRACE: Duration = Duration::from_secs(5);

/// A view on a port, until [`Server::stop`]. Dropping it stops it at once.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    secure: bool,
    stop: CancellationToken,
    running: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves `view` on `listener`.
    pub fn start(listener: TcpListener, view: View) -> io::Result<Self> {
        Self::run(listener, view, None)
    }

    /// Serves `view` on `listener` with TLS, as `identity`.
    pub fn start_tls(
        listener: TcpListener,
        view: View,
        identity: &Identity,
    ) -> Result<Self, TlsError> {
        let acceptor = TlsAcceptor::from(Arc::new(identity.server_config()?));
        Self::run(listener, view, Some(acceptor)).map_err(TlsError::Listen)
    }

    fn run(listener: TcpListener, view: View, tls: Option<TlsAcceptor>) -> io::Result<Self> {
        let (address, secure) = (listener.local_addr()?, tls.is_some());
        let stop = CancellationToken::new();
        let running = Some(tokio::spawn(accept(listener, view, tls, stop.clone())));
        Ok(Self {
            address,
            secure,
            stop,
            running,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address as clients write it.
    pub fn url(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Takes no more connections, ends watches in good order, lets other answers finish.
    pub async fn stop(mut self) {
        self.stop.cancel();
        if let Some(running) = self.running.take() {
            // It only fails when it was cancelled or panicked; either way it has stopped.
            let _ = running.await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(running) = self.running.take() {
            running.abort();
        }
    }
}

async fn accept(
    listener: TcpListener,
    view: View,
    tls: Option<TlsAcceptor>,
    stop: CancellationToken,
) {
    let graceful = GracefulShutdown::new();
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of file handles, most likely: some will come free.
                    tracing::warn!(%error, "accept a connection");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        connections.spawn(connection(
            stream,
            view.clone(),
            tls.clone(),
            graceful.watcher(),
            stop.clone(),
        ));
    }
    drop(listener);
    let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
}

async fn connection(
    stream: TcpStream,
    view: View,
    tls: Option<TlsAcceptor>,
    watcher: Watcher,
    stop: CancellationToken,
) {
    // Watches are many small writes that somebody waits for.
    let _ = stream.set_nodelay(true);
    let ended = match tls {
        None => serve(stream, view, None, watcher, stop).await,
        Some(tls) => match tls.accept(stream).await {
            Ok(stream) => {
                let certificates = stream.get_ref().1.peer_certificates();
                let certificate = certificates.and_then(|chain| chain.first());
                let user = certificate.and_then(|certificate| subject::user(certificate));
                serve(stream, view, user, watcher, stop).await
            }
            Err(error) => Err(error.into()),
        },
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    view: View,
    user: Option<User>,
    watcher: Watcher,
    stop: CancellationToken,
) -> Result<(), tower::BoxError> {
    let until_stop = move |body: Body| body.until(stop.clone().cancelled_owned().boxed());
    let service = service_fn(move |mut request: Request<Incoming>| {
        if let Some(user) = &user {
            request.extensions_mut().insert(user.clone());
        }
        let answer = view.clone().oneshot(request);
        let until_stop = until_stop.clone();
        async move { Ok::<_, Lost>(answer.await?.map(until_stop)) }
    });
    let builder = auto::Builder::new(TokioExecutor::new());
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    watcher.watch(connection.into_owned()).await
}
