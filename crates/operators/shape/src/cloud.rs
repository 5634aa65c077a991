//! The cloud's API as the operator uses it.

use std::time::Duration;

use bytes::Bytes;
use evenkeel_shapes_cloud::{Change, NewShape, Page, Problem, Query, Shape};
use http::header::{CONTENT_TYPE, IF_MATCH, RETRY_AFTER};
use http::{Method, Request, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, ServiceExt};

use crate::error::CloudError;

/// How calls get to the cloud and answers back; sends each once.
pub type Transport = BoxCloneSyncService<Request<Bytes>, Response<Bytes>, BoxError>;

/// How long one call may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often a call that was turned away is sent again.
const TURNED_AWAY: usize = 4;

/// The cloud's API.
#[derive(Debug, Clone)]
pub struct Cloud {
    transport: Transport,
}

/// The transport to the cloud at `address`, over HTTP.
pub fn over_http(address: &str) -> Result<Transport, reqwest::Error> {
    // Fails only when the process chose one before, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().timeout(PATIENCE).build()?;
    let address = address.trim_end_matches('/').to_owned();
    let send = tower::service_fn(move |call: Request<Bytes>| {
        let (client, address) = (client.clone(), address.clone());
        async move {
            let (head, body) = call.into_parts();
            let wanted = client.request(head.method, format!("{address}{}", head.uri));
            let answer = wanted.headers(head.headers).body(body).send().await?;
            let mut told = Response::new(Bytes::new());
            *told.status_mut() = answer.status();
            *told.headers_mut() = answer.headers().clone();
            *told.body_mut() = answer.bytes().await?;
            Ok::<_, BoxError>(told)
        }
    });
    Ok(BoxCloneSyncService::new(send))
}

impl Cloud {
    /// The cloud at the end of `transport`.
    pub fn new(transport: Transport) -> Self {
        Self { transport }
    }

    /// Makes a shape.
    pub(crate) async fn create(&self, new: &NewShape) -> Result<Shape, CloudError> {
        let call = call(Method::POST, "/v1/shapes", None, new);
        self.ask(format!("make {}", new.name), call).await
    }

    /// One shape, if it exists and can be seen.
    pub(crate) async fn get(&self, id: &str) -> Result<Option<Shape>, CloudError> {
        let call = call(Method::GET, &path(id), None, &());
        match self.ask(format!("look at {id}"), call).await {
            Ok(shape) => Ok(Some(shape)),
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// One page of shapes.
    pub(crate) async fn page(&self, query: &Query) -> Result<Page, CloudError> {
        let call = call(
            Method::GET,
            &format!("/v1/shapes?{}", query_text(query)),
            None,
            &(),
        );
        self.ask("list shapes".to_owned(), call).await
    }

    /// All shapes that `query` includes.
    pub(crate) async fn find(&self, mut query: Query) -> Result<Vec<Shape>, CloudError> {
        let mut found = Vec::new();
        loop {
            let page = self.page(&query).await?;
            found.extend(page.items);
            query.after = page.next;
            if query.after.is_none() {
                return Ok(found);
            }
        }
    }

    /// Changes a shape, if it is as it was seen.
    pub(crate) async fn update(&self, seen: &Shape, change: &Change) -> Result<Shape, CloudError> {
        let call = call(Method::PATCH, &path(&seen.id), Some(seen.version), change);
        self.ask(format!("change {}", seen.id), call).await
    }

    /// Removes a shape, if it is as it was seen. One that is gone already is as good.
    pub(crate) async fn delete(&self, seen: &Shape) -> Result<(), CloudError> {
        let call = call(Method::DELETE, &path(&seen.id), Some(seen.version), &());
        match self.answer(format!("remove {}", seen.id), call).await {
            Ok(_) => Ok(()),
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        attempt: String,
        call: Request<Bytes>,
    ) -> Result<T, CloudError> {
        let body = self.answer(attempt.clone(), call).await?;
        serde_json::from_slice(&body).map_err(|error| CloudError::NoAnswer {
            attempt,
            why: error.into(),
        })
    }

    /// A call that was turned away because there are too many was not done, so it is safe to wait
    /// and ask again.
    async fn answer(&self, attempt: String, call: Request<Bytes>) -> Result<Bytes, CloudError> {
        for _ in 0..TURNED_AWAY {
            match self.answer_once(attempt.clone(), call.clone()).await {
                Err(CloudError::Refused {
                    status: StatusCode::TOO_MANY_REQUESTS,
                    retry_after: Some(pause),
                    ..
                }) if pause <= PATIENCE => tokio::time::sleep(pause).await,
                answer => return answer,
            }
        }
        self.answer_once(attempt, call).await
    }

    async fn answer_once(
        &self,
        attempt: String,
        call: Request<Bytes>,
    ) -> Result<Bytes, CloudError> {
        let sent = self.transport.clone().oneshot(call);
        let sent = tokio::time::timeout(PATIENCE, sent).await;
        match sent.unwrap_or_else(|late| Err(late.into())) {
            Ok(answer) if answer.status().is_success() => Ok(answer.into_body()),
            Ok(answer) => Err(refused(attempt, &answer)),
            Err(why) => Err(CloudError::NoAnswer { attempt, why }),
        }
    }
}

fn refused(attempt: String, answer: &Response<Bytes>) -> CloudError {
    let unreadable = || Problem {
        code: "Unreadable".to_owned(),
        message: "the cloud gave no reason".to_owned(),
    };
    let seconds = answer.headers().get(RETRY_AFTER);
    let seconds = seconds.and_then(|seconds| seconds.to_str().ok()?.parse().ok());
    CloudError::Refused {
        attempt,
        status: answer.status(),
        problem: serde_json::from_slice(answer.body()).unwrap_or_else(|_| unreadable()),
        retry_after: seconds.map(Duration::from_secs),
    }
}

fn path(id: &str) -> String {
    let id: String = form_urlencoded::byte_serialize(id.as_bytes()).collect();
    format!("/v1/shapes/{id}")
}

fn query_text(query: &Query) -> String {
    let fields = serde_json::to_value(query).unwrap_or_default();
    let mut text = form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields.as_object().into_iter().flatten() {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        text.append_pair(name, &value);
    }
    text.finish()
}

fn call<T: Serialize>(method: Method, uri: &str, version: Option<u64>, body: &T) -> Request<Bytes> {
    let body = match method {
        Method::GET | Method::DELETE => Bytes::new(),
        _ => serde_json::to_vec(body).unwrap_or_default().into(),
    };
    let mut call = Request::new(body);
    *call.method_mut() = method;
    *call.uri_mut() = uri.parse().unwrap_or_default();
    let headers = call.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        http::HeaderValue::from_static("application/json"),
    );
    if let Some(version) = version {
        headers.insert(IF_MATCH, version.into());
    }
    call
}
