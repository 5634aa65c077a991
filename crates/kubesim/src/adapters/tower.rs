//! A view as the service that a Kubernetes client sends its requests to.

use std::task::{Context, Poll};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tower::{BoxError, Service};

use crate::body::Body;
use crate::faults::{self, Lost, View};
use crate::status::ApiError;

/// The longest body that a server takes.
const LONGEST_BODY: usize = 3 * 1024 * 1024;

impl<B> Service<Request<B>> for View
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Lost;
    type Future = BoxFuture<'static, Result<Response<Body>, Lost>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let view = self.clone();
        async move {
            match whole(request).await? {
                Ok(request) => view.handle(request).await,
                Err(too_large) => Ok(too_large),
            }
        }
        .boxed()
    }
}

/// The request with its whole body, or the answer to one that is too large.
async fn whole<B>(request: Request<B>) -> Result<Result<Request<Bytes>, Response<Body>>, Lost>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let (head, body) = request.into_parts();
    match Limited::new(body, LONGEST_BODY).collect().await {
        Ok(body) => Ok(Ok(Request::from_parts(head, body.to_bytes()))),
        Err(error) if error.is::<LengthLimitError>() => Ok(Err(too_large())),
        Err(_) => Err(Lost),
    }
}

fn too_large() -> Response<Body> {
    let message = format!("Request entity too large: limit is {LONGEST_BODY}");
    faults::in_json(ApiError::new(413, "RequestEntityTooLarge", message).into())
}
