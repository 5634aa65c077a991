//! One connection: HTTP/1 or HTTP/2, and the polls that it holds.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::hold::Wait;
use super::replay::Replay;

/// How long a connection may be silent. Agents that poll every half or whole minute keep theirs.
const SILENCE: Duration = Duration::from_secs(75);
/// What a caller that speaks HTTP/2 says first.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Who is at the other end, and what answers.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) router: Router,
    pub(super) peer: SocketAddr,
    pub(super) stopping: CancellationToken,
}

/// How serving HTTP/1 ended.
enum Ended<S> {
    /// For good.
    Closed(hyper::Result<()>),
    /// With a poll that waits.
    Holding(Replay<S>, Wait),
}

impl Connection {
    /// Serves until the caller has gone or the broker stops.
    pub(super) async fn serve<S>(self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let mut stream = Replay::new(stream, Arc::default());
        let Ok(Ok(is_http2)) = timeout(SILENCE, stream.begins_with(PREFACE)).await else {
            return;
        };
        let ended = if is_http2 {
            Box::pin(self.http2(stream)).await
        } else {
            self.http1(stream).await
        };
        if let Err(error) = ended {
            tracing::debug!(%error, peer = %self.peer, "a connection broke");
        }
    }

    /// HTTP/1, with a rest whenever a poll waits.
    async fn http1<S>(&self, mut stream: Replay<S>) -> hyper::Result<()>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        loop {
            // In a box, which is gone while the connection rests.
            match Box::pin(self.http1_until_held(stream)).await {
                Ended::Closed(ended) => return ended,
                Ended::Holding(resting, wait) => match self.rest(resting, wait).await {
                    Some(woken) => stream = woken,
                    None => return Ok(()),
                },
            }
        }
    }

    async fn http1_until_held<S>(&self, stream: Replay<S>) -> Ended<S>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let slot = Arc::clone(stream.slot());
        let service = service_fn(|mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(self.peer));
            slot.mark(&mut request);
            self.router.clone().oneshot(request)
        });
        let mut connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(SILENCE)
            .serve_connection(TokioIo::new(stream), service);
        let mut stopping = pin!(self.stopping.cancelled());
        let mut told = false;
        let ended = poll_fn(|context| {
            // A connection that is told before it has read anything answers nothing.
            let mut ended = Pin::new(&mut connection).poll(context);
            if ended.is_pending() && !told && stopping.as_mut().poll(context).is_ready() {
                told = true;
                Pin::new(&mut connection).graceful_shutdown();
                ended = Pin::new(&mut connection).poll(context);
            }
            match (ended, slot.take()) {
                (Poll::Ready(ended), _) => Poll::Ready(Err(ended)),
                (Poll::Pending, Some(held)) => Poll::Ready(Ok(held)),
                (Poll::Pending, None) => Poll::Pending,
            }
        });
        match ended.await {
            Err(ended) => Ended::Closed(ended),
            Ok(held) => {
                let parts = connection.into_parts();
                let mut stream = parts.io.into_inner();
                stream.put_back(&held.head, &parts.read_buf);
                Ended::Holding(stream, held.wait)
            }
        }
    }

    /// Waits for what the poll waits for. Gives the stream back, unless the caller has gone.
    async fn rest<S>(&self, mut stream: Replay<S>, mut wait: Wait) -> Option<Replay<S>>
    where
        S: AsyncRead + Unpin,
    {
        tokio::select! {
            () = wait.over(&self.stopping) => {}
            () = stream.gone() => return None,
        }
        stream.slot().resume(wait.until);
        Some(stream)
    }

    async fn http2<S>(&self, stream: Replay<S>) -> hyper::Result<()>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (router, peer) = (self.router.clone(), self.peer);
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            router.clone().oneshot(request)
        });
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
        tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.stopping.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        }
    }
}
