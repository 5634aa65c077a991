//! The ReplicaSets of a deployment: the one of its template, and the older ones.

use serde_json::{Map, Value, json};

use super::{max_surge, progress, wanted};
use crate::meta;
use crate::status::ApiError;
use crate::store::Object;
use crate::workloads::desk::{DEPLOYMENTS, Desk, REPLICA_SETS};
use crate::workloads::{hash, pod};

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
pub(super) const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
pub(super) const MAXIMUM: &str = "deployment.kubernetes.io/max-replicas";
const HASH: &str = "pod-template-hash";

/// Annotations of a deployment that are none of its sets' business.
const OWN: &[&str] = &[
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    DESIRED,
    MAXIMUM,
    "deprecated.deployment.rollback.to",
];

/// The ReplicaSets of a deployment.
pub(super) struct Sets<'a> {
    pub(super) desk: &'a Desk<'a>,
    pub(super) new: Option<Object>,
    /// Oldest first.
    pub(super) old: Vec<Object>,
}

impl<'a> Sets<'a> {
    /// Finds the set of the deployment's template among its sets.
    pub(super) fn sort(desk: &'a Desk<'a>, deployment: &Value, owned: &[Object]) -> Self {
        let mut owned = owned.to_vec();
        owned.sort_by_cached_key(|set| {
            (
                meta::text(set, "creationTimestamp").to_owned(),
                meta::name(set).to_owned(),
            )
        });
        let template = &deployment["spec"]["template"];
        let new = owned.iter().position(|set| is_of_template(set, template));
        let new = new.map(|at| owned.remove(at));
        Self {
            desk,
            new,
            old: owned,
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Object> {
        self.old.iter().chain(&self.new)
    }

    /// Brings the annotations of the new set up to date, if there is one.
    pub(super) fn sync_new(&mut self, deployment: &Value) -> Result<(), ApiError> {
        let Some(new) = &self.new else {
            return Ok(());
        };
        let revision = self.next_revision();
        let key = meta::key(new);
        self.desk.update(REPLICA_SETS, &key, |set| {
            annotate(set, deployment, revision, true);
            set["spec"]["minReadySeconds"] = deployment["spec"]["minReadySeconds"]
                .as_i64()
                .unwrap_or(0)
                .into();
        })?;
        self.new = self.desk.get(REPLICA_SETS, &key);
        let revision = self
            .new
            .as_ref()
            .and_then(|set| meta::annotation(set, REVISION));
        let revision = revision.unwrap_or_default().to_owned();
        progress::note_found(self.desk, deployment, &revision, key.name())
    }

    /// Makes sure that there is a set of the deployment's template.
    pub(super) fn ensure_new(&mut self, deployment: &Value) -> Result<(), ApiError> {
        if self.new.is_some() {
            return self.sync_new(deployment);
        }
        let revision = self.next_revision();
        let mut set = self.draft(deployment);
        annotate(&mut set, deployment, revision, false);
        let size = set["spec"]["replicas"].as_i64().unwrap_or(0);
        let name = meta::name(&set).to_owned();
        let created = self.desk.create(REPLICA_SETS, set).inspect_err(|error| {
            progress::note_failed_creation(self.desk, deployment, &name, error);
        })?;
        if size > 0 {
            let message = format!("Scaled up replica set {name} from 0 to {size}");
            self.desk
                .event(DEPLOYMENTS, deployment, "ScalingReplicaSet", &message);
        }
        self.new = Some(created);
        progress::note_created(self.desk, deployment, &revision.to_string(), &name)
    }

    fn next_revision(&self) -> i64 {
        self.old.iter().map(|set| revision(set)).max().unwrap_or(0) + 1
    }

    /// A set of the deployment's template that is not there yet.
    fn draft(&self, deployment: &Value) -> Value {
        let spec = &deployment["spec"];
        let hash = hash::of_template(
            &spec["template"],
            deployment["status"]["collisionCount"].as_i64(),
        );
        let mut template = spec["template"].clone();
        template["metadata"]["labels"][HASH] = hash.as_str().into();
        let mut selector = spec["selector"].clone();
        selector["matchLabels"][HASH] = hash.as_str().into();
        json!({
            "metadata": {
                "name": format!("{}-{hash}", meta::name(deployment)),
                "namespace": meta::namespace(deployment),
                "ownerReferences": [pod::controller_reference(DEPLOYMENTS, deployment)],
                "labels": template["metadata"]["labels"],
            },
            "spec": {
                "replicas": self.room(deployment, 0),
                "minReadySeconds": spec["minReadySeconds"].as_i64().unwrap_or(0),
                "selector": selector,
                "template": template,
            },
        })
    }

    /// How large the new set, which has `size`, may be by now.
    pub(super) fn room(&self, deployment: &Value, size: i64) -> i64 {
        let wanted = wanted(deployment);
        if deployment["spec"]["strategy"]["type"] == "Recreate" {
            return wanted;
        }
        let others: i64 = self.old.iter().map(|set| replicas(set)).sum();
        let free = wanted + max_surge(deployment) - others - size;
        size + free.min(wanted - size).max(0)
    }

    /// Gives a set another size; whether it had another.
    pub(super) fn resize(
        &mut self,
        deployment: &Value,
        set: &Value,
        size: i64,
        always: bool,
    ) -> Result<bool, ApiError> {
        let before = replicas(set);
        if before == size && !always {
            return Ok(false);
        }
        let key = meta::key(set);
        self.desk.update(REPLICA_SETS, &key, |set| {
            set["spec"]["replicas"] = size.into();
            note_sizes(set, deployment);
        })?;
        self.replace(self.desk.get(REPLICA_SETS, &key));
        if before != size {
            let way = if before < size { "up" } else { "down" };
            let name = key.name();
            let message = format!("Scaled {way} replica set {name} from {before} to {size}");
            self.desk
                .event(DEPLOYMENTS, deployment, "ScalingReplicaSet", &message);
        }
        Ok(before != size)
    }

    fn replace(&mut self, set: Option<Object>) {
        let Some(set) = set else { return };
        for known in self.old.iter_mut().chain(&mut self.new) {
            if meta::uid(known) == meta::uid(&set) {
                *known = set.clone();
            }
        }
    }
}

pub(super) fn replicas(set: &Value) -> i64 {
    set["spec"]["replicas"].as_i64().unwrap_or(0)
}

pub(super) fn revision(set: &Value) -> i64 {
    let text = meta::annotation(set, REVISION).unwrap_or_default();
    text.parse().unwrap_or(0)
}

fn is_of_template(set: &Value, template: &Value) -> bool {
    let mut own = set["spec"]["template"].clone();
    if let Some(labels) = own["metadata"]["labels"].as_object_mut() {
        labels.remove(HASH);
    }
    own == *template
}

/// Gives a set the annotations that it has from its deployment.
fn annotate(set: &mut Value, deployment: &Value, revision: i64, exists: bool) {
    let known = self::revision(set);
    let inherited = deployment["metadata"]["annotations"].as_object();
    for (name, value) in inherited.into_iter().flatten() {
        if !OWN.contains(&name.as_str()) {
            set["metadata"]["annotations"][name] = value.clone();
        }
    }
    if known < revision {
        if known > 0 {
            remember(set, known);
        }
        meta::annotate(set, REVISION, &revision.to_string());
    }
    if !exists {
        note_sizes(set, deployment);
    }
}

/// A set that is taken up again remembers the revisions that it was before.
fn remember(set: &mut Value, revision: i64) {
    let before = meta::annotation(set, HISTORY).unwrap_or_default();
    let history = match before {
        "" => revision.to_string(),
        before => format!("{before},{revision}"),
    };
    meta::annotate(set, HISTORY, &history);
}

fn note_sizes(set: &mut Value, deployment: &Value) {
    let wanted = wanted(deployment);
    if !set["metadata"]["annotations"].is_object() {
        set["metadata"]["annotations"] = Map::new().into();
    }
    meta::annotate(set, DESIRED, &wanted.to_string());
    meta::annotate(set, MAXIMUM, &(wanted + max_surge(deployment)).to_string());
}
