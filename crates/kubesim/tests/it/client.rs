//! A client that speaks plain HTTP to a cluster in the same process.

use bytes::Bytes;
use evenkeel_kubesim::{Body, Cluster};
use http::{Request, Response, header};
use http_body_util::BodyExt;
use serde_json::Value;

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) text: String,
    pub(crate) warnings: Vec<String>,
}

impl Answer {
    /// Reads an answer to its end.
    pub(crate) async fn read(response: Response<Body>) -> Self {
        let code = response.status().as_u16();
        let warnings = response.headers().get_all(header::WARNING).iter();
        let warnings = warnings
            .map(|value| value.to_str().expect("text").to_owned())
            .collect();
        let bytes = response
            .into_body()
            .collect()
            .await
            .expect("a body")
            .to_bytes();
        let text = String::from_utf8(bytes.to_vec()).expect("UTF-8");
        Self {
            code,
            text,
            warnings,
        }
    }

    /// The answer as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|why| panic!("{why}: {}", self.text))
    }

    /// The answer as JSON, which must come with this code.
    pub(crate) fn expect(&self, code: u16) -> Value {
        assert_eq!(self.code, code, "{}", self.text);
        self.json()
    }
}

/// One request.
#[derive(Debug, Default, Clone)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) content_type: &'static str,
    pub(crate) accept: String,
    pub(crate) body: String,
}

impl Ask {
    pub(crate) async fn of(self, cluster: &Cluster) -> Answer {
        let request = Request::builder()
            .method(self.method)
            .uri(&self.path)
            .header(header::CONTENT_TYPE, self.content_type)
            .header(header::ACCEPT, self.accept)
            .body(Bytes::from(self.body))
            .expect("a request");
        Answer::read(cluster.handle(request)).await
    }
}

pub(crate) async fn get(cluster: &Cluster, path: &str) -> Answer {
    ask(cluster, "GET", path, "", "").await
}

pub(crate) async fn post(cluster: &Cluster, path: &str, body: &Value) -> Answer {
    ask(cluster, "POST", path, "application/json", &body.to_string()).await
}

pub(crate) async fn put(cluster: &Cluster, path: &str, body: &Value) -> Answer {
    ask(cluster, "PUT", path, "application/json", &body.to_string()).await
}

pub(crate) async fn delete(cluster: &Cluster, path: &str, options: &Value) -> Answer {
    let body = if options.is_null() {
        String::new()
    } else {
        options.to_string()
    };
    ask(cluster, "DELETE", path, "application/json", &body).await
}

/// A merge patch.
pub(crate) async fn merge(cluster: &Cluster, path: &str, body: &Value) -> Answer {
    ask(
        cluster,
        "PATCH",
        path,
        "application/merge-patch+json",
        &body.to_string(),
    )
    .await
}

/// A server-side apply.
pub(crate) async fn apply(cluster: &Cluster, path: &str, body: &Value) -> Answer {
    ask(
        cluster,
        "PATCH",
        path,
        "application/apply-patch+yaml",
        &body.to_string(),
    )
    .await
}

async fn ask(
    cluster: &Cluster,
    method: &'static str,
    path: &str,
    content_type: &'static str,
    body: &str,
) -> Answer {
    Ask {
        method,
        path: path.to_owned(),
        content_type,
        accept: "application/json".to_owned(),
        body: body.to_owned(),
    }
    .of(cluster)
    .await
}
