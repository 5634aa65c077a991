//! A cluster with Databases in it and the operator at work.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use evenkeel_ambient::{SeededRandom, SystemClock};
use evenkeel_controller::{Ended, Manager, Rights, Watch};
use evenkeel_database_operator::credentials::Exchange;
use evenkeel_database_operator::passwords::{PasswordError, Passwords};
use evenkeel_database_operator::{Database, controller};
use evenkeel_kubesim::faults::View;
use evenkeel_testkit::Cluster;
use futures::FutureExt;
use futures::future::BoxFuture;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{Namespace, PersistentVolume, PersistentVolumeClaim, Secret};
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client, Resource};
use prometheus_client::registry::Registry;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::definition::install;

/// A server that takes every password that it is told, and remembers the last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Server(Arc<Mutex<Option<String>>>);

impl Server {
    pub(crate) fn password(&self) -> Option<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Passwords for Server {
    async fn exchange(&self, _: &Database, exchange: &Exchange) -> Result<(), PasswordError> {
        let mut known = self.0.lock().unwrap();
        let works = known
            .as_ref()
            .is_none_or(|p| *p == exchange.old || *p == exchange.next);
        if !works {
            return Err(PasswordError::NeitherWorks);
        }
        *known = Some(exchange.next.clone());
        Ok(())
    }
}

/// A namespace of a cluster, and a server behind every Database in it.
pub(crate) struct Bed {
    pub(crate) cluster: Cluster,
    pub(crate) namespace: String,
    pub(crate) server: Server,
    admin: Client,
}

/// Runs a test on a new simulated cluster and on the real one, in a namespace of its own.
pub(crate) async fn on_each(namespace: &str, test: impl AsyncFn(Bed)) {
    test(Bed::on(&Cluster::simulated_alive(), namespace).await).await;
    if let Some(real) = Cluster::shared_real_alive_or_skip().await {
        test(Bed::on(&real, namespace).await).await;
    }
}

/// The operator at work; it stops with the value.
pub(crate) struct Operating {
    stop: CancellationToken,
    task: Option<JoinHandle<Ended>>,
}

impl Operating {
    /// Stops in good order.
    pub(crate) async fn stop(mut self) {
        self.stop.cancel();
        if let Some(task) = self.task.take() {
            let _ended = task.await.unwrap();
        }
    }
}

impl Drop for Operating {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl Bed {
    /// Two storage classes, one of which lets volumes grow, and volumes where nobody makes any.
    pub(crate) async fn on(cluster: &Cluster, namespace: &str) -> Self {
        let admin = cluster.client().await;
        install(&admin).await;
        let bed = Self {
            cluster: cluster.clone(),
            namespace: namespace.to_owned(),
            server: Server::default(),
            admin,
        };
        bed.put_global::<Namespace>(namespace, json!({})).await;
        for (class, grows) in [("growing", true), ("rigid", false)] {
            bed.put_global::<StorageClass>(class, storage_class(class, grows))
                .await;
        }
        if let Cluster::Real(_) = cluster {
            for number in 0..2 {
                let name = format!("{namespace}-{number}");
                bed.put_global::<PersistentVolume>(&name, volume(namespace, number))
                    .await;
            }
        }
        bed
    }

    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.admin.clone(), &self.namespace)
    }

    async fn put_global<K>(&self, name: &str, mut object: Value)
    where
        K: Resource<Scope = ClusterResourceScope, DynamicType = ()>
            + Serialize
            + DeserializeOwned
            + Clone
            + Debug,
    {
        object["apiVersion"] = json!(K::api_version(&()));
        object["kind"] = json!(K::kind(&()));
        object["metadata"] = json!({"name": name});
        let how = PatchParams::apply("test").force();
        Api::<K>::all(self.admin.clone())
            .patch(name, &how, &Patch::Apply(&object))
            .await
            .unwrap();
    }

    /// The operator, seeing the cluster through a connection of its own.
    pub(crate) fn operate(&self) -> Operating {
        match &self.cluster {
            Cluster::Simulated(simulated) => {
                self.operate_through(&simulated.cluster().view("operator"))
            }
            Cluster::Real(_) => self.operate_with(self.admin.clone()),
        }
    }

    /// The same through this connection.
    pub(crate) fn operate_through(&self, view: &View) -> Operating {
        self.operate_with(Client::new(view.clone(), "default"))
    }

    /// The rights that the operator asks for.
    pub(crate) fn rights(&self, client: Client) -> Rights {
        self.manager(client).rights()
    }

    fn operate_with(&self, client: Client) -> Operating {
        let stop = CancellationToken::new();
        Operating {
            task: Some(tokio::spawn(self.manager(client).run(stop.clone()))),
            stop,
        }
    }

    /// The operator as a process that never stops by itself.
    pub(crate) fn process_through(&self, view: &View) -> BoxFuture<'static, ()> {
        let manager = self.manager(Client::new(view.clone(), "default"));
        async move {
            let _ended = manager.run(CancellationToken::new()).await;
        }
        .boxed()
    }

    fn manager(&self, client: Client) -> Manager {
        let (clock, dice) = (Arc::new(SystemClock), Arc::new(SeededRandom::new(7)));
        let mut registry = Registry::default();
        let manager = Manager::new(client, clock, dice, &mut registry);
        // Tests share the real cluster: each operator minds the Databases of its own test.
        let own = Watch::all().labels(format!("test={}", self.namespace));
        manager.with(controller(self.server.clone()).only(own))
    }

    /// The simulator, where the cluster is one.
    pub(crate) fn simulated(&self) -> &evenkeel_kubesim::Cluster {
        match &self.cluster {
            Cluster::Simulated(simulated) => simulated.cluster(),
            Cluster::Real(_) => panic!("a real cluster has no such faults"),
        }
    }

    /// Declares a Database as a person would, with `kubectl apply`.
    pub(crate) async fn declare(&self, spec: Value) -> Database {
        let mut whole = json!({
            "version": "17.2", "storage": {"size": "1Gi", "class": "growing"},
        });
        for (field, value) in spec.as_object().unwrap() {
            whole[field] = value.clone();
        }
        let database = json!({
            "apiVersion": "evenkeel.io/v1", "kind": "Database",
            "metadata": {"name": "orders", "labels": {"test": self.namespace}}, "spec": whole,
        });
        let how = PatchParams::apply("person").force();
        self.api()
            .patch("orders", &how, &Patch::Apply(&database))
            .await
            .unwrap()
    }

    pub(crate) async fn database(&self) -> Option<Database> {
        self.api().get_opt("orders").await.unwrap()
    }

    pub(crate) async fn annotate(&self, key: &str, value: &str) {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {key: value}}}));
        let how = PatchParams::default();
        self.api::<Database>()
            .patch("orders", &how, &patch)
            .await
            .unwrap();
    }

    /// What a condition says: its status and its reason.
    pub(crate) async fn says(&self, kind: &str) -> Option<(String, String)> {
        let status = self.database().await?.status?;
        let condition = status.conditions.into_iter().find(|c| c.kind == kind)?;
        Some((
            format!("{:?}", condition.status),
            condition.reason.to_string(),
        ))
    }

    /// Waits until a condition says so.
    pub(crate) async fn until_it_says(&self, kind: &str, status: &str, reason: &str) {
        let wanted = Some((status.to_owned(), reason.to_owned()));
        let what = format!("{kind} is {status} because of {reason}");
        self.until(&what, async || self.says(kind).await == wanted)
            .await;
    }

    pub(crate) async fn until_ready(&self) {
        self.until_it_says("Ready", "True", "AllServersReady").await;
    }

    /// Waits until something holds; a minute at most.
    pub(crate) async fn until(&self, what: &str, check: impl AsyncFn() -> bool) {
        for _ in 0..1200 {
            if check().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let database = self.database().await;
        let database = database.map(|mut database| {
            database.metadata.managed_fields = None;
            json!({"metadata": database.metadata, "status": database.status})
        });
        panic!(
            "on the {} cluster, it never came true that {what}; {database:#?}",
            self.cluster.name()
        );
    }

    pub(crate) async fn servers(&self) -> Option<StatefulSet> {
        self.api().get_opt("orders").await.unwrap()
    }

    pub(crate) async fn secret(&self) -> Option<Secret> {
        self.api().get_opt("orders-credentials").await.unwrap()
    }

    pub(crate) async fn claims(&self) -> Vec<PersistentVolumeClaim> {
        self.api().list(&Default::default()).await.unwrap().items
    }

    /// One key of the Secret.
    pub(crate) async fn credential(&self, key: &str) -> Option<String> {
        let data = self.secret().await?.data?;
        String::from_utf8(data.get(key)?.0.clone()).ok()
    }

    pub(crate) async fn create<K>(&self, object: Value)
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Serialize
            + DeserializeOwned
            + Clone
            + Debug,
    {
        let object: K = serde_json::from_value(object).unwrap();
        self.api::<K>()
            .create(&PostParams::default(), &object)
            .await
            .unwrap();
    }
}

fn storage_class(class: &str, grows: bool) -> Value {
    json!({"provisioner": format!("test/{class}"), "allowVolumeExpansion": grows})
}

/// A volume for the n-th server, where no provisioner makes one.
fn volume(namespace: &str, number: usize) -> Value {
    json!({"spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
        "storageClassName": "growing", "hostPath": {"path": "/nowhere"},
        "claimRef": {"namespace": namespace, "name": format!("data-orders-{number}")},
    }})
}
