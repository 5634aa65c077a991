//! The history of templates that stateful and daemon sets keep, as ControllerRevisions.

use serde_json::{Map, Value, json};

use super::desk::{Desk, Noun, REVISIONS};
use super::{controlled, hash, pod};
use crate::meta;
use crate::selectors::LabelSelector;
use crate::status::ApiError;
use crate::store::Object;

/// The label by which pods, and the revisions of daemon sets, name a template.
pub(super) const LABEL: &str = "controller-revision-hash";
/// The label by which other revisions name theirs.
const HASH: &str = "controller.kubernetes.io/hash";

/// The revisions of one set, oldest first; the last one is of its present template.
pub(super) struct History {
    pub(super) revisions: Vec<Object>,
}

impl History {
    /// Reads the history, and adds to it when the template is new.
    pub(super) fn of(desk: &Desk<'_>, noun: Noun, owner: &Value) -> Result<Self, ApiError> {
        let selector = LabelSelector::of(&owner["spec"]["selector"]);
        let mut revisions = controlled::claim(desk, REVISIONS, noun, owner, &selector)?;
        revisions.sort_by_key(|revision| number(revision));
        let data = data(&owner["spec"]["template"]);
        let last = revisions.last().map_or(0, |revision| number(revision));
        let known = revisions
            .iter()
            .position(|revision| revision["data"] == data);
        match known {
            Some(at) => {
                let again = revisions.remove(at);
                revisions.push(renumber(desk, again, last)?);
            }
            None => revisions.push(add(desk, noun, owner, &data, last + 1)?),
        }
        Ok(Self { revisions })
    }

    /// The revision of the present template.
    pub(super) fn latest(&self) -> &str {
        self.revisions
            .last()
            .map_or("", |revision| meta::name(revision))
    }

    /// The template that a revision keeps.
    pub(super) fn template(&self, name: &str) -> Option<Value> {
        let mut revisions = self.revisions.iter();
        let revision = revisions.find(|revision| meta::name(revision) == name)?;
        let mut template = revision["data"]["spec"]["template"].clone();
        if let Some(fields) = template.as_object_mut() {
            fields.remove("$patch");
        }
        Some(template)
    }

    /// Deletes the oldest revisions that nobody uses and that are beyond `limit`.
    pub(super) fn trim(
        &self,
        desk: &Desk<'_>,
        limit: i64,
        is_used: impl Fn(&Value) -> bool,
    ) -> Result<(), ApiError> {
        let unused: Vec<&Object> = self.revisions.iter().filter(|one| !is_used(one)).collect();
        let limit = usize::try_from(limit).unwrap_or(0);
        for revision in &unused[..unused.len().saturating_sub(limit)] {
            desk.delete(REVISIONS, revision)?;
        }
        Ok(())
    }
}

fn number(revision: &Value) -> i64 {
    revision["revision"].as_i64().unwrap_or(0)
}

/// A template that is taken up again gets the highest number.
fn renumber(desk: &Desk<'_>, revision: Object, last: i64) -> Result<Object, ApiError> {
    if number(&revision) == last {
        return Ok(revision);
    }
    let key = meta::key(&revision);
    desk.update(REVISIONS, &key, |revision| {
        revision["revision"] = (last + 1).into();
    })?;
    Ok(desk.get(REVISIONS, &key).unwrap_or(revision))
}

fn add(
    desk: &Desk<'_>,
    noun: Noun,
    owner: &Value,
    data: &Value,
    number: i64,
) -> Result<Object, ApiError> {
    let collisions = owner["status"]["collisionCount"].as_i64();
    let template = &owner["spec"]["template"];
    let (hash, label) = match noun.kind {
        "DaemonSet" => (hash::of_template(template, collisions), LABEL),
        _ => {
            let collisions = Some(collisions.unwrap_or(0));
            (hash::of_revision(&data.to_string(), collisions), HASH)
        }
    };
    let mut metadata = json!({});
    if let Some(annotations) = owner["metadata"].get("annotations") {
        metadata["annotations"] = annotations.clone();
    }
    metadata["name"] = format!("{}-{hash}", meta::name(owner)).into();
    metadata["namespace"] = meta::namespace(owner).into();
    metadata["labels"] = template["metadata"]["labels"].clone();
    metadata["labels"][label] = hash.into();
    metadata["ownerReferences"] = json!([pod::controller_reference(noun, owner)]);
    let revision = json!({"metadata": metadata, "data": data, "revision": number});
    desk.create(REVISIONS, revision)
}

/// The patch that leads back to a template, with its keys in order.
fn data(template: &Value) -> Value {
    let mut template = sorted(template);
    template["$patch"] = "replace".into();
    json!({"spec": {"template": sorted(&template)}})
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries = entries.into_iter();
            let map: Map<String, Value> = entries
                .map(|(key, value)| (key.clone(), sorted(value)))
                .collect();
            Value::Object(map)
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}
