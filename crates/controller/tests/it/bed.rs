//! A cluster with probes in it, and a controller that remembers its runs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use evenkeel_ambient::{ManualClock, SeededRandom};
use evenkeel_controller::{
    Condition, Conditions, Context, Controller, Ended, Error, Key, Manager, Metadata, Outcome, Ran,
    Reconciler, Watch, conditions_schema,
};
use evenkeel_kubesim::faults::View;
use evenkeel_kubesim::{Ambient, Cluster, Pace};
use evenkeel_vitals::Checks;
use futures::future::BoxFuture;
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ObjectMeta, Patch, PatchParams, PostParams};
use kube::{Api, Client, CustomResource, CustomResourceExt, Resource};
use prometheus_client::registry::Registry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

#[derive(CustomResource, Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[kube(group = "test.evenkeel.io", version = "v1", kind = "Probe", namespaced)]
#[kube(status = "ProbeStatus")]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProbeSpec {
    pub(crate) value: i64,
    /// A ConfigMap that it refers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refers_to: Option<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ProbeStatus {
    #[serde(default)]
    #[schemars(schema_with = "conditions_schema")]
    pub(crate) conditions: Vec<Condition>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seen: Option<i64>,
}

impl Conditions for ProbeStatus {
    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.conditions
    }
}

/// One run, as it was seen.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) name: String,
    pub(crate) value: i64,
    pub(crate) at: Instant,
}

type Work = Arc<dyn Fn(Arc<Probe>, Context) -> BoxFuture<'static, Ran<Error>> + Send + Sync>;

/// Remembers its runs and does what the test says.
#[derive(Clone)]
pub(crate) struct Prober {
    runs: Arc<Mutex<Vec<Run>>>,
    gone: Arc<Mutex<Vec<Key>>>,
    work: Work,
}

impl Prober {
    pub(crate) fn doing<F>(work: impl Fn(Arc<Probe>, Context) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Ran<Error>> + Send + 'static,
    {
        Self {
            runs: Arc::default(),
            gone: Arc::default(),
            work: Arc::new(move |probe, cx| Box::pin(work(probe, cx))),
        }
    }

    pub(crate) fn idle() -> Self {
        Self::doing(|_, _| async { Ok(Outcome::Done) })
    }

    pub(crate) fn runs(&self) -> Vec<Run> {
        self.runs.lock().expect("not poisoned").clone()
    }

    pub(crate) fn runs_of(&self, name: &str) -> usize {
        self.runs().iter().filter(|run| run.name == name).count()
    }

    pub(crate) fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for run in self.runs() {
            *counts.entry(run.name).or_default() += 1;
        }
        counts
    }

    pub(crate) fn gone(&self) -> Vec<Key> {
        self.gone.lock().expect("not poisoned").clone()
    }

    pub(crate) fn controller(&self) -> Controller<Self> {
        Controller::new("prober", self.clone())
    }

    /// The same that owns and watches ConfigMaps by their metadata.
    pub(crate) fn with_children(&self) -> Controller<Self> {
        self.controller()
            .owns(Watch::<Metadata<ConfigMap>>::all())
            .watches(Watch::<Metadata<ConfigMap>>::all(), |probe: &Probe| {
                let refers_to = probe.spec.refers_to.iter();
                refers_to.map(|name| Key::of(probe).beside(name)).collect()
            })
    }
}

impl Reconciler for Prober {
    type Kind = Probe;
    type Error = Error;

    async fn reconcile(&self, probe: Arc<Probe>, cx: Context) -> Ran<Error> {
        let run = Run {
            name: cx.key().name.clone(),
            value: probe.spec.value,
            at: Instant::now(),
        };
        self.runs.lock().expect("not poisoned").push(run);
        (self.work)(probe, cx).await
    }

    fn gone(&self, key: &Key) {
        self.gone.lock().expect("not poisoned").push(key.clone());
    }
}

/// A simulated cluster that serves probes, seen by the controller through a view of its own.
pub(crate) struct Bed {
    pub(crate) cluster: Cluster,
    pub(crate) view: View,
    pub(crate) clock: ManualClock,
    pub(crate) checks: Checks,
    managers: AtomicUsize,
}

/// A manager at work.
pub(crate) struct Working {
    pub(crate) stop: CancellationToken,
    pub(crate) task: JoinHandle<Ended>,
}

impl Bed {
    pub(crate) async fn new() -> Self {
        let bed = Self::without_probes();
        bed.serve_probes().await;
        bed
    }

    pub(crate) fn without_probes() -> Self {
        let cluster = Cluster::with(Ambient::seeded(1), Pace::default());
        let clock = ManualClock::default();
        clock.advance(SignedDuration::from_hours(24 * 365));
        Self {
            view: cluster.view("prober"),
            cluster,
            clock,
            checks: Checks::default(),
            managers: AtomicUsize::new(0),
        }
    }

    pub(crate) async fn serve_probes(&self) {
        let crds: Api<CustomResourceDefinition> = Api::all(self.admin());
        crds.create(&PostParams::default(), &Probe::crd())
            .await
            .expect("a definition");
    }

    pub(crate) fn admin(&self) -> Client {
        Client::new(self.cluster.view("admin"), "default")
    }

    pub(crate) fn probes(&self) -> Api<Probe> {
        Api::namespaced(self.admin(), "default")
    }

    pub(crate) fn maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.admin(), "default")
    }

    /// Makes or changes a probe.
    pub(crate) async fn probe(&self, name: &str, value: i64) -> Probe {
        let spec = ProbeSpec {
            value,
            refers_to: None,
        };
        self.declare(name, spec).await
    }

    pub(crate) async fn declare(&self, name: &str, spec: ProbeSpec) -> Probe {
        let apply = PatchParams::apply("person").force();
        let probe = Probe::new(name, spec);
        let applied = self
            .probes()
            .patch(name, &apply, &Patch::Apply(&probe))
            .await;
        applied.expect("a probe")
    }

    /// Makes a ConfigMap that `owner` controls.
    pub(crate) async fn child(&self, name: &str, owner: &Probe) -> ConfigMap {
        let owner = owner
            .controller_owner_ref(&())
            .expect("an owner with a uid");
        let metadata = ObjectMeta {
            name: Some(name.to_owned()),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        };
        self.map(metadata).await
    }

    pub(crate) async fn map(&self, metadata: ObjectMeta) -> ConfigMap {
        let map = ConfigMap {
            metadata,
            ..ConfigMap::default()
        };
        self.maps()
            .create(&PostParams::default(), &map)
            .await
            .expect("a map")
    }

    /// A manager that sees the cluster through the bed's view.
    pub(crate) fn manager(&self) -> Manager {
        self.manager_through(&self.view)
    }

    pub(crate) fn manager_through(&self, view: &View) -> Manager {
        self.manager_counting(view, &mut Registry::default())
    }

    /// A manager whose numbers can be read.
    pub(crate) fn manager_counting(&self, view: &View, registry: &mut Registry) -> Manager {
        let nth = self.managers.fetch_add(1, Ordering::SeqCst);
        let client = Client::new(view.clone(), "default");
        let dice = Arc::new(SeededRandom::new(nth as u64));
        let manager = Manager::new(client, Arc::new(self.clock.clone()), dice, registry);
        manager.checked_in(&self.checks)
    }

    pub(crate) fn runs(&self, controller: Controller<Prober>) -> Working {
        work(self.manager().with(controller))
    }
}

pub(crate) fn work(manager: Manager) -> Working {
    let stop = CancellationToken::new();
    Working {
        task: tokio::spawn(manager.run(stop.clone())),
        stop,
    }
}

pub(crate) async fn seconds(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

pub(crate) async fn a_moment() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}
