//! A client that speaks plain HTTP to a cluster in the same process.

use bytes::Bytes;
use evenkeel_kubesim::Cluster;
use http::{Request, header};
use http_body_util::BodyExt;
use serde_json::Value;

/// An answer, read to its end.
#[derive(Debug)]
pub struct Answer {
    pub code: u16,
    pub text: String,
    pub warnings: Vec<String>,
}

impl Answer {
    /// The answer as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|why| panic!("{why}: {}", self.text))
    }

    /// The answer as JSON, which must come with this code.
    pub fn expect(&self, code: u16) -> Value {
        assert_eq!(self.code, code, "{}", self.text);
        self.json()
    }
}

/// One request.
#[derive(Debug, Default, Clone)]
pub struct Ask {
    pub method: &'static str,
    pub path: String,
    pub content_type: &'static str,
    pub accept: String,
    pub body: String,
}

impl Ask {
    pub async fn of(self, cluster: &Cluster) -> Answer {
        let request = Request::builder()
            .method(self.method)
            .uri(&self.path)
            .header(header::CONTENT_TYPE, self.content_type)
            .header(header::ACCEPT, self.accept)
            .body(Bytes::from(self.body))
            .expect("a request");
        let response = cluster.handle(request);
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
        Answer {
            code,
            text: String::from_utf8(bytes.to_vec()).expect("UTF-8"),
            warnings,
        }
    }
}

pub async fn get(cluster: &Cluster, path: &str) -> Answer {
    ask(cluster, "GET", path, "", "").await
}

pub async fn post(cluster: &Cluster, path: &str, body: &Value) -> Answer {
    ask(cluster, "POST", path, "application/json", &body.to_string()).await
}

pub async fn put(cluster: &Cluster, path: &str, body: &Value) -> Answer {
    ask(cluster, "PUT", path, "application/json", &body.to_string()).await
}

pub async fn delete(cluster: &Cluster, path: &str, options: &Value) -> Answer {
    let body = if options.is_null() {
        String::new()
    } else {
        options.to_string()
    };
    ask(cluster, "DELETE", path, "application/json", &body).await
}

/// A merge patch.
pub async fn merge(cluster: &Cluster, path: &str, body: &Value) -> Answer {
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
pub async fn apply(cluster: &Cluster, path: &str, body: &Value) -> Answer {
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
