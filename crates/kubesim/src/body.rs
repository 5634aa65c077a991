//! Bodies of answers: bytes that are there, or a stream of them.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{FutureExt, Stream, StreamExt};
use http_body::{Frame, SizeHint};

/// The connection broke in the middle of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the connection was reset")]
pub struct Reset;

/// The body of an answer.
pub struct Body(Inner);

enum Inner {
    Whole(Option<Bytes>),
    Stream(BoxStream<'static, Result<Bytes, Reset>>),
}

impl Body {
    /// A body that comes piece by piece.
    pub fn stream(pieces: impl Stream<Item = Result<Bytes, Reset>> + Send + 'static) -> Self {
        Self(Inner::Stream(pieces.boxed()))
    }

    /// The same body, but a stream ends in good order when `end` comes.
    pub(crate) fn until(self, end: impl Future<Output = ()> + Send + 'static) -> Self {
        match self.0 {
            Inner::Whole(_) => self,
            Inner::Stream(pieces) => Self::stream(pieces.take_until(end.boxed())),
        }
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(bytes: T) -> Self {
        Self(Inner::Whole(
            Some(bytes.into()).filter(|bytes| !bytes.is_empty()),
        ))
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Whole(bytes) => f.debug_tuple("Body").field(bytes).finish(),
            Inner::Stream(_) => f.write_str("Body(..)"),
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Reset;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Reset>>> {
        match &mut self.0 {
            Inner::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Inner::Stream(pieces) => pieces
                .poll_next_unpin(context)
                .map(|piece| piece.map(|piece| piece.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, Inner::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64)
            }
            Inner::Stream(_) => SizeHint::default(),
        }
    }
}
