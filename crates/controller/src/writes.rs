//! What runs wrote and the caches have not shown yet.
//!
//! A run that reads a cache older than its own last write would do the same work again, or worse.
//! So each run's writes are noted from the answers to its requests, and the next run of the same
//! key waits until they show. Answers that cannot be compared are not waited for.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use serde::Deserialize;

use crate::key::{Key, ResourceId, Revision};

/// One write, and how to tell that it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) resource: ResourceId,
    pub(crate) object: Key,
    pub(crate) mark: Mark,
}

/// How to tell that a write shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The cache has reached this revision.
    At(Revision),
    /// The object with this id is not in the cache.
    Gone { uid: String },
}

/// The writes of each key's last run.
#[derive(Debug, Default)]
pub(crate) struct Writes(Mutex<BTreeMap<Key, Vec<Written>>>);

impl Writes {
    pub(crate) fn note(&self, run: &Key, written: Written) {
        let mut all = self.lock();
        let of_run = all.entry(run.clone()).or_default();
        of_run.retain(|known| {
            (&known.resource, &known.object) != (&written.resource, &written.object)
        });
        of_run.push(written);
    }

    pub(crate) fn of(&self, run: &Key) -> Vec<Written> {
        self.lock().get(run).cloned().unwrap_or_default()
    }

    pub(crate) fn forget(&self, run: &Key) {
        self.lock().remove(run);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Vec<Written>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that may change something, as its path names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    resource: ResourceId,
    namespace: Option<String>,
    deletes: bool,
}

impl Target {
    /// What `request` would change; `None` for reads and dry runs.
    pub(crate) fn of<B>(request: &Request<B>) -> Option<Self> {
        let query = request.uri().query().unwrap_or_default();
        if request.method() == Method::GET || query.contains("dryRun") {
            return None;
        }
        let mut parts = request.uri().path().trim_matches('/').split('/');
        let group = match parts.next()? {
            "api" => "",
            "apis" => parts.next()?,
            _ => return None,
        };
        let _version = parts.next()?;
        let (namespace, plural) = match (parts.next()?, parts.next(), parts.next()) {
            ("namespaces", Some(namespace), Some(plural)) => (Some(namespace), plural),
            (plural, _, _) => (None, plural),
        };
        Some(Self {
            resource: ResourceId {
                group: group.to_owned(),
                plural: plural.to_owned(),
            },
            namespace: namespace.map(str::to_owned),
            deletes: request.method() == Method::DELETE,
        })
    }

    /// What the answer says was written.
    pub(crate) fn written(self, answer: &Response<()>, body: &Bytes) -> Option<Written> {
        if !(StatusCode::OK..StatusCode::MULTIPLE_CHOICES).contains(&answer.status()) {
            return None;
        }
        let answer: Answer = serde_json::from_slice(body).ok()?;
        let (name, mark) = answer.mark(self.deletes)?;
        Some(Written {
            resource: self.resource,
            object: Key {
                namespace: self.namespace,
                name,
            },
            mark,
        })
    }
}

/// The answer to a write: the object as it is now, or a status that names what is gone.
#[derive(Debug, Deserialize)]
struct Answer {
    #[serde(default)]
    metadata: AnswerMeta,
    details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnswerMeta {
    name: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    deletion_timestamp: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Details {
    name: Option<String>,
    uid: Option<String>,
}

impl Answer {
    fn mark(self, deletes: bool) -> Option<(String, Mark)> {
        let meta = self.metadata;
        match (meta.name, self.details) {
            // Deleted at once: the answer is its last state.
            (Some(name), _) if deletes && meta.deletion_timestamp.is_none() => {
                Some((name, Mark::Gone { uid: meta.uid? }))
            }
            (Some(name), _) => {
                let revision = Revision::parse(meta.resource_version.as_deref()?)?;
                Some((name, Mark::At(revision)))
            }
            (None, Some(details)) if deletes => {
                Some((details.name?, Mark::Gone { uid: details.uid? }))
            }
            (None, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(method: &str, uri: &str) -> Option<Target> {
        let request = Request::builder().method(method).uri(uri).body(());
        Target::of(&request.unwrap())
    }

    fn written(method: &str, uri: &str, answer: &str) -> Option<Written> {
        let body = Bytes::copy_from_slice(answer.as_bytes());
        target(method, uri)?.written(&Response::new(()), &body)
    }

    #[test]
    fn reads_and_dry_runs_write_nothing() {
        assert_eq!(target("GET", "/api/v1/namespaces/a/configmaps/x"), None);
        assert_eq!(
            target("PATCH", "/api/v1/namespaces/a/configmaps/x?dryRun=All"),
            None
        );
        assert_eq!(target("POST", "/version"), None);
    }

    #[test]
    fn the_answer_to_a_write_tells_what_to_wait_for() {
        let answer = r#"{"metadata":{"name":"x","resourceVersion":"7"}}"#;
        let status = written("PUT", "/apis/e.io/v1/namespaces/a/shapes/x/status", answer).unwrap();
        assert_eq!(status.resource.to_string(), "shapes.e.io");
        assert_eq!(status.object, Key::namespaced("a", "x"));
        assert_eq!(status.mark, Mark::At(Revision::parse("7").unwrap()));
    }

    #[test]
    fn a_delete_is_waited_for_until_the_object_is_gone() {
        let answer = r#"{"kind":"Status","metadata":{},"details":{"name":"x","uid":"u"}}"#;
        let gone = written("DELETE", "/api/v1/namespaces/x", answer).unwrap();
        assert_eq!(gone.object, Key::cluster_wide("x"));
        assert_eq!(
            gone.mark,
            Mark::Gone {
                uid: "u".to_owned()
            }
        );
    }

    #[test]
    fn versions_that_are_no_numbers_are_not_waited_for() {
        let answer = r#"{"metadata":{"name":"x","resourceVersion":"abc"}}"#;
        assert_eq!(written("POST", "/api/v1/namespaces/a/pods", answer), None);
    }
}
