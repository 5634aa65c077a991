//! A stream whose beginning can be read once more.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

use super::hold::Slot;

/// The most that is kept of what a caller sends before it has been answered.
const AHEAD: usize = 4096;

/// A stream, and bytes that are read before those that are still to come.
pub(super) struct Replay<S> {
    stream: S,
    again: BytesMut,
    slot: Arc<Slot>,
}

impl<S> Replay<S> {
    pub(super) fn new(stream: S, slot: Arc<Slot>) -> Self {
        Self {
            stream,
            again: BytesMut::new(),
            slot,
        }
    }

    pub(super) fn slot(&self) -> &Arc<Slot> {
        &self.slot
    }

    /// Puts bytes back: `first` will be read before everything else, `then` after it.
    pub(super) fn put_back(&mut self, first: &[u8], then: &Bytes) {
        let mut again = BytesMut::with_capacity(first.len() + then.len() + self.again.len());
        again.extend_from_slice(first);
        again.extend_from_slice(then);
        again.extend_from_slice(&self.again);
        self.again = again;
    }
}

impl<S: AsyncRead + Unpin> Replay<S> {
    /// Whether the stream begins with `expected`; reads no more than it needs to know.
    pub(super) async fn begins_with(&mut self, expected: &[u8]) -> io::Result<bool> {
        let mut seen = BytesMut::with_capacity(expected.len());
        while seen.len() < expected.len() && expected.starts_with(&seen) {
            let missing = expected.len() - seen.len();
            let mut rest = (&mut self.stream).take(missing as u64);
            if rest.read_buf(&mut seen).await? == 0 {
                break;
            }
        }
        let same = seen == expected;
        self.again = seen;
        Ok(same)
    }

    /// Returns when the caller has gone. What it sends meanwhile is kept for later.
    pub(super) async fn gone(&mut self) {
        let mut byte = [0; 1];
        while self.again.len() < AHEAD {
            match self.stream.read(&mut byte).await {
                Ok(1) => self.again.extend_from_slice(&byte),
                Ok(_) | Err(_) => return,
            }
        }
        std::future::pending::<()>().await;
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Replay<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.again.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let length = self.again.len().min(buffer.remaining());
        buffer.put_slice(&self.again[..length]);
        self.again.advance(length);
        if self.again.is_empty() {
            self.again = BytesMut::new();
        }
        Poll::Ready(Ok(()))
    }
}

/// Everything written is noted as under way until it is flushed.
impl<S: AsyncWrite + Unpin> AsyncWrite for Replay<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.slot.set_sending(true);
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.slot.set_sending(false);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.slot.set_sending(true);
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
