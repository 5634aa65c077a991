//! A cluster, a cloud, and the operator between them.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use evenkeel_ambient::{SeededRandom, SharedClock, SystemClock};
use evenkeel_controller::{Condition, Ended, Manager};
use evenkeel_kubesim::faults::View;
use evenkeel_kubesim::{Ambient, Cluster, Pace};
use evenkeel_shape_operator::{
    DeletionPolicy, Form, Marking, Settings, Shape, ShapeRef, ShapeSpec, Transport, add_to,
    definitions, over_http,
};
use evenkeel_shapes_cloud::{Cloud, NewShape, Shape as CloudShape, router, serve};
use evenkeel_testkit::VirtualClock;
use evenkeel_testkit::faults::Gate;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::BodyExt;
use jiff::SignedDuration;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use prometheus_client::registry::Registry;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower::{BoxError, ServiceExt};

/// How the operator reaches the cloud.
#[derive(Clone)]
enum Way {
    /// In the process, through a gate that can fail; for paused time.
    Gate(Gate),
    /// Over HTTP.
    Http(String),
}

/// A cluster, a cloud, and the operator between them.
#[derive(Clone)]
pub(crate) struct Bed {
    pub(crate) cluster: Cluster,
    pub(crate) view: View,
    pub(crate) cloud: Arc<Cloud>,
    pub(crate) settings: Settings,
    pub(crate) clock: SharedClock,
    way: Way,
}

/// The operator at work. Dropping it kills it.
pub(crate) struct Working(JoinHandle<Ended>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(crate) fn by_labels() -> Marking {
    Marking::labels("k8s").expect("a marking")
}

pub(crate) fn by_prefix() -> Marking {
    Marking::prefix("k8s-").expect("a marking")
}

impl Bed {
    /// In paused time and in this process.
    pub(crate) async fn new(marking: Marking) -> Self {
        let clock: SharedClock = Arc::new(VirtualClock::default());
        let bed = Self::with(marking, clock, Way::Gate(Gate::default()));
        bed.serve_definitions().await;
        bed
    }

    /// In real time, with the cloud on a port. Everything is quick.
    pub(crate) async fn over_http(marking: Marking) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let mut bed = Self::with(marking, Arc::new(SystemClock), Way::Http(address));
        bed.settings.survey = Duration::from_millis(150);
        bed.settings.window = SignedDuration::from_millis(300);
        bed.settings.orphans.grace = SignedDuration::from_millis(200);
        let serving = serve(listener, bed.cloud.clone(), CancellationToken::new());
        tokio::spawn(async move { serving.await.expect("the cloud serves") });
        bed.serve_definitions().await;
        bed
    }

    fn with(marking: Marking, clock: SharedClock, way: Way) -> Self {
        let cluster = Cluster::with(Ambient::seeded(1), Pace::default());
        let dice = Arc::new(SeededRandom::new(1));
        Self {
            view: cluster.view("operator"),
            cluster,
            cloud: Arc::new(Cloud::new(clock.clone(), dice)),
            settings: Settings::new(marking),
            clock,
            way,
        }
    }

    async fn serve_definitions(&self) {
        let crds: Api<CustomResourceDefinition> = Api::all(self.person());
        for definition in definitions() {
            crds.create(&PostParams::default(), &definition)
                .await
                .expect("a definition");
        }
    }

    pub(crate) fn gate(&self) -> &Gate {
        match &self.way {
            Way::Gate(gate) => gate,
            Way::Http(_) => panic!("there is no gate on the way"),
        }
    }

    pub(crate) fn transport(&self) -> Transport {
        match &self.way {
            Way::Http(address) => over_http(address).expect("a client"),
            Way::Gate(gate) => {
                let router = router(self.cloud.clone());
                gate.before(tower::service_fn(move |call| {
                    in_process(router.clone(), call)
                }))
            }
        }
    }

    pub(crate) fn manager(&self) -> Manager {
        self.manager_counting(&mut Registry::default())
    }

    /// A manager whose numbers can be read.
    pub(crate) fn manager_counting(&self, registry: &mut Registry) -> Manager {
        let client = Client::new(self.view.clone(), "default");
        let dice = Arc::new(SeededRandom::new(7));
        let manager = Manager::new(client, self.clock.clone(), dice, registry);
        add_to(manager, self.transport(), self.settings.clone())
    }

    /// Starts the operator.
    pub(crate) fn works(&self) -> Working {
        Working(tokio::spawn(self.manager().run(CancellationToken::new())))
    }

    /// The operator as a process that ends when it is dropped.
    pub(crate) fn process(&self) -> BoxFuture<'static, ()> {
        let running = self.manager().run(CancellationToken::new());
        Box::pin(async move {
            let _ = running.await;
        })
    }

    /// A person's own connection to the cluster.
    pub(crate) fn person(&self) -> Client {
        Client::new(self.cluster.view("person"), "default")
    }

    pub(crate) fn shapes(&self) -> Api<Shape> {
        Api::default_namespaced(self.person())
    }

    pub(crate) fn refs(&self) -> Api<ShapeRef> {
        Api::default_namespaced(self.person())
    }

    /// Declares a shape, or changes its declaration.
    pub(crate) async fn declare(&self, name: &str, spec: ShapeSpec) -> Shape {
        let apply = PatchParams::apply("person").force();
        let shape = Shape::new(name, spec);
        self.shapes()
            .patch(name, &apply, &Patch::Apply(&shape))
            .await
            .expect("a Shape")
    }

    /// Changes one field of a declaration.
    pub(crate) async fn amend(&self, name: &str, spec: serde_json::Value) {
        let patch = Patch::Merge(json!({ "spec": spec }));
        self.shapes()
            .patch(name, &PatchParams::default(), &patch)
            .await
            .expect("a Shape");
    }

    pub(crate) async fn delete(&self, name: &str) {
        self.shapes()
            .delete(name, &DeleteParams::default())
            .await
            .expect("a Shape to delete");
    }

    /// Takes all finalizers off, as people do who lost patience.
    pub(crate) async fn unhold(&self, name: &str) {
        let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        self.shapes()
            .patch(name, &PatchParams::default(), &patch)
            .await
            .expect("a Shape");
    }

    /// The conditions of a Shape by type, as `Ready=True Available`.
    pub(crate) async fn condition(&self, name: &str, kind: &str) -> String {
        let shape = self.shapes().get(name).await.expect("a Shape");
        let conditions = shape
            .status
            .map(|status| status.conditions)
            .unwrap_or_default();
        let found = conditions.iter().find(|condition| condition.kind == kind);
        found.map_or_else(|| "none".to_owned(), said)
    }

    /// What is in the cloud, as `Square red` and so on, in the order in which it was made.
    pub(crate) fn in_cloud(&self) -> Vec<String> {
        let shapes = self.cloud.shapes();
        shapes
            .iter()
            .map(|shape| format!("{} {}", shape.form, shape.colour))
            .collect()
    }

    /// Makes a shape by hand.
    pub(crate) fn by_hand(&self, name: &str, form: &str, colour: &str) -> CloudShape {
        let new = NewShape {
            name: name.to_owned(),
            form: form.to_owned(),
            colour: colour.to_owned(),
            ..NewShape::default()
        };
        self.cloud.create(new).expect("a shape")
    }
}

fn said(condition: &Condition) -> String {
    format!("{:?} {}", condition.status, condition.reason)
}

async fn in_process(router: Router, call: Request<Bytes>) -> Result<Response<Bytes>, BoxError> {
    let answer = router.oneshot(call.map(Body::from)).await?;
    let (head, body) = answer.into_parts();
    Ok(Response::from_parts(head, body.collect().await?.to_bytes()))
}

pub(crate) fn square(colour: &str) -> ShapeSpec {
    ShapeSpec {
        form: Form::Square,
        colour: colour.to_owned(),
        deletion_policy: DeletionPolicy::Delete,
        paused: false,
        adopt: None,
    }
}

pub(crate) async fn seconds(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// Waits, in real time, until it holds.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..600 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("never: {what}");
}
