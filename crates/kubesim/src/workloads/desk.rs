//! What a controller works with: reading the store, and writing under its name.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Agenda;
use crate::cluster::Cluster;
use crate::meta;
use crate::request::{DeleteOptions, Preconditions, Propagation};
use crate::status::ApiError;
use crate::store::{Key, Object, ResourceId};
use crate::verbs::{Change, Writing};

/// The name under which most controllers write.
pub(super) const MANAGER: &str = "kube-controller-manager";

/// A kind of object that controllers know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Noun {
    pub(super) group: &'static str,
    pub(super) plural: &'static str,
    pub(super) kind: &'static str,
}

macro_rules! nouns {
    ($($name:ident $group:literal $plural:literal $kind:literal)*) => {
        $(pub(super) const $name: Noun = Noun { group: $group, plural: $plural, kind: $kind };)*
    };
}

nouns! {
    PODS "" "pods" "Pod"
    NODES "" "nodes" "Node"
    SERVICES "" "services" "Service"
    ENDPOINTS "" "endpoints" "Endpoints"
    EVENTS "" "events" "Event"
    CLAIMS "" "persistentvolumeclaims" "PersistentVolumeClaim"
    VOLUMES "" "persistentvolumes" "PersistentVolume"
    REPLICATION_CONTROLLERS "" "replicationcontrollers" "ReplicationController"
    DEPLOYMENTS "apps" "deployments" "Deployment"
    REPLICA_SETS "apps" "replicasets" "ReplicaSet"
    STATEFUL_SETS "apps" "statefulsets" "StatefulSet"
    DAEMON_SETS "apps" "daemonsets" "DaemonSet"
    REVISIONS "apps" "controllerrevisions" "ControllerRevision"
    JOBS "batch" "jobs" "Job"
    CRON_JOBS "batch" "cronjobs" "CronJob"
    SLICES "discovery.k8s.io" "endpointslices" "EndpointSlice"
    CLASSES "storage.k8s.io" "storageclasses" "StorageClass"
    QUOTAS "" "resourcequotas" "ResourceQuota"
    BUDGETS "policy" "poddisruptionbudgets" "PodDisruptionBudget"
}

impl Noun {
    pub(super) fn id(self) -> ResourceId {
        ResourceId::new(self.group, self.plural)
    }

    pub(super) fn api_version(self) -> String {
        crate::registry::api_version(self.group, "v1")
    }
}

/// One controller's place of work.
pub(super) struct Desk<'a> {
    pub(super) cluster: &'a Cluster,
    manager: &'static str,
}

impl<'a> Desk<'a> {
    pub(super) fn of(cluster: &'a Cluster, manager: &'static str) -> Self {
        Self { cluster, manager }
    }

    pub(super) fn agenda(&self) -> Option<&'a Agenda> {
        self.cluster.agenda()
    }

    pub(super) fn now(&self) -> Timestamp {
        self.cluster.ambient().clock.now()
    }

    /// The present moment as objects write it.
    pub(super) fn timestamp(&self) -> String {
        self.cluster.timestamp()
    }

    pub(super) fn get(&self, noun: Noun, key: &Key) -> Option<Object> {
        self.cluster.store().get(&noun.id(), key)
    }

    /// The objects of a namespace, or of the whole cluster.
    pub(super) fn list(&self, noun: Noun, namespace: Option<&str>) -> Vec<Object> {
        let snapshot = self.cluster.store().snapshot(&noun.id());
        snapshot
            .in_namespace(namespace)
            .map(|(_, object)| object.clone())
            .collect()
    }

    pub(super) fn create(&self, noun: Noun, mut object: Value) -> Result<Object, ApiError> {
        object["apiVersion"] = noun.api_version().into();
        object["kind"] = noun.kind.into();
        self.write(noun, "", |writing| {
            writing.create(object).map(|written| written.object)
        })
    }

    /// Changes an object, if it is still there.
    pub(super) fn update(
        &self,
        noun: Noun,
        key: &Key,
        edit: impl FnMut(&mut Value),
    ) -> Result<(), ApiError> {
        self.change(noun, "", key, edit)
    }

    /// Changes the status of an object, if it is still there.
    pub(super) fn update_status(
        &self,
        noun: Noun,
        key: &Key,
        edit: impl FnMut(&mut Value),
    ) -> Result<(), ApiError> {
        self.change(noun, "status", key, edit)
    }

    /// Deletes exactly this object.
    pub(super) fn delete(&self, noun: Noun, object: &Value) -> Result<(), ApiError> {
        self.delete_with(noun, object, None)
    }

    /// Deletes exactly this object without any grace, as a kubelet does when all has ended.
    pub(super) fn delete_now(&self, noun: Noun, object: &Value) -> Result<(), ApiError> {
        self.delete_with(noun, object, Some(0))
    }

    fn delete_with(
        &self,
        noun: Noun,
        object: &Value,
        grace_seconds: Option<i64>,
    ) -> Result<(), ApiError> {
        let uid = Some(meta::uid(object).to_owned());
        let options = DeleteOptions {
            propagation: Some(Propagation::Background),
            preconditions: Preconditions {
                uid,
                resource_version: None,
            },
            grace_seconds,
            ..DeleteOptions::default()
        };
        let deleted = self.write(noun, "", |writing| {
            writing.delete(&meta::key(object), &options).map(drop)
        });
        absent_is_fine(deleted)
    }

    fn change(
        &self,
        noun: Noun,
        subresource: &str,
        key: &Key,
        mut edit: impl FnMut(&mut Value),
    ) -> Result<(), ApiError> {
        let idle = |live: &Object| {
            let mut object = (**live).clone();
            edit(&mut object);
            object == **live
        };
        if self.get(noun, key).as_ref().is_none_or(idle) {
            return Ok(());
        }
        let changed = self.write(noun, subresource, |writing| {
            let change = |live: Option<&Value>| {
                let live = live.ok_or_else(|| ApiError::not_found(&noun.id(), key.name()))?;
                let mut object = live.clone();
                edit(&mut object);
                Ok(Change::Replaced(object))
            };
            writing.update(key, change).map(drop)
        });
        absent_is_fine(changed)
    }

    fn write<T>(
        &self,
        noun: Noun,
        subresource: &str,
        act: impl FnOnce(&Writing<'_>) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let resource = self.cluster.registry().find_stored(&noun.id());
        let resource = resource.ok_or_else(ApiError::no_such_resource)?;
        act(&Writing {
            cluster: self.cluster,
            resource: &resource,
            subresource,
            manager: self.manager,
            dry_run: false,
            actor: self.cluster.controller(),
        })
    }

    /// Tells people what has happened to an object.
    pub(super) fn event(&self, noun: Noun, about: &Value, reason: &str, message: &str) {
        self.report("Normal", noun, about, reason, message);
    }

    /// Tells people what has gone wrong with an object.
    pub(super) fn warn(&self, noun: Noun, about: &Value, reason: &str, message: &str) {
        self.report("Warning", noun, about, reason, message);
    }

    fn report(&self, sort: &str, noun: Noun, about: &Value, reason: &str, message: &str) {
        let namespace = match meta::namespace(about) {
            "" => "default",
            namespace => namespace,
        };
        let mark = self.cluster.ambient().random.uuid().simple().to_string();
        let now = self.timestamp();
        let event = json!({
            "metadata": {
                "name": format!("{}.{}", meta::name(about), &mark[..16]),
                "namespace": namespace,
            },
            "involvedObject": {
                "apiVersion": noun.api_version(),
                "kind": noun.kind,
                "name": meta::name(about),
                "namespace": about["metadata"]["namespace"],
                "uid": meta::uid(about),
                "resourceVersion": meta::text(about, "resourceVersion"),
            },
            "type": sort,
            "reason": reason,
            "message": message,
            "source": {"component": self.manager},
            "reportingComponent": self.manager,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        });
        // Nobody depends on being told.
        let _ = self.create(EVENTS, event);
    }
}

/// What is not there any more needs no changing and no deleting.
fn absent_is_fine(result: Result<(), ApiError>) -> Result<(), ApiError> {
    match result {
        Err(error) if error.code == 404 => Ok(()),
        other => other,
    }
}
