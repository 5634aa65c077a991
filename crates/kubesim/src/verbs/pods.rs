//! Giving a pod to a node, by posting below it.

use serde_json::{Value, json};

use super::Call;
use crate::meta;
use crate::reply::Reply;
use crate::request::{self, WriteOptions};
use crate::status::ApiError;
use crate::store::{CommitError, ResourceId};

impl Call<'_> {
    /// Gives a pod to a node, as a scheduler does. This is no update: no rule of pods is asked.
    pub(super) fn bind(&self, name: &str) -> Result<Reply, ApiError> {
        let options = WriteOptions::read(&self.request.query, "CreateOptions")?;
        let binding = request::decode(&self.request.content_type, &self.request.body)?.value;
        let node = binding["target"]["name"].as_str().unwrap_or_default();
        let (store, stored, key) = (self.cluster.store(), &self.resource.stored, self.key(name));
        loop {
            let live = store.get(stored, &key);
            let live = live.ok_or_else(|| ApiError::not_found(&self.resource.id, name))?;
            let bound = self.bound(&live, node)?;
            if options.dry_run {
                return Ok(done());
            }
            match store.update(stored, &key, meta::revision(&live), bound) {
                Ok(after) => {
                    self.cluster
                        .after_write(stored, &key, Some(&live), Some(&after));
                    return Ok(done());
                }
                Err(CommitError::Changed(_)) => {}
                Err(error) => return Err(self.writing("", &options).commit_error(name, error)),
            }
        }
    }

    fn bound(&self, live: &Value, node: &str) -> Result<Value, ApiError> {
        let name = meta::name(live);
        let refuse = |why: String| {
            let id = ResourceId::new("", "pods/binding");
            Err(ApiError::conflict(&id, name, &why))
        };
        if meta::is_deleting(live) {
            return refuse(format!(
                "pod {name} is being deleted, cannot be assigned to a host"
            ));
        }
        if let Some(taken) = live["spec"]["nodeName"]
            .as_str()
            .filter(|node| !node.is_empty())
        {
            return refuse(format!("pod {name} is already assigned to node {taken:?}"));
        }
        let mut pod = live.clone();
        pod["spec"]["nodeName"] = node.into();
        let mut conditions = pod["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        conditions.retain(|condition| condition["type"] != "PodScheduled");
        conditions.push(json!({
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": null,
            "lastTransitionTime": self.cluster.timestamp(),
        }));
        pod["status"]["conditions"] = conditions.into();
        Ok(pod)
    }
}

/// What a request below a pod is answered.
pub(super) fn done() -> Reply {
    let status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    });
    Reply::with_code(201, &status)
}
