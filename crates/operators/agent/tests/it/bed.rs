//! A cluster that serves agents, and the operator at work in it.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use evenkeel_agent_operator::api::{Agent, crds};
use evenkeel_agent_operator::operator::{Options, with_controllers};
use evenkeel_agent_operator::translate::HASH_ANNOTATION;
use evenkeel_ambient::{SeededRandom, SystemClock};
use evenkeel_controller::{Condition, Ended, Manager, Status};
use evenkeel_kubesim::faults::View;
use evenkeel_kubesim::{Ambient, Cluster, Workloads};
use evenkeel_testkit::RealCluster;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Secret};
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const NAMESPACE: &str = "team";

/// Made once: they are long.
static DEFINITIONS: LazyLock<Vec<CustomResourceDefinition>> = LazyLock::new(crds::all);

/// A cluster with definitions and namespaces, seen by a person.
pub(crate) struct Bed {
    pub(crate) client: Client,
    /// How the operator sees it, where that can be made to fail.
    pub(crate) view: Option<View>,
    operator: Client,
    pub(crate) namespace: String,
    /// The cluster itself, where it is simulated.
    pub(crate) simulated: Option<Cluster>,
    _real: Option<Arc<RealCluster>>,
}

/// The operator at work; ends with the test.
pub(crate) struct Working {
    stop: CancellationToken,
    task: JoinHandle<Ended>,
}

impl Working {
    pub(crate) async fn end(self) {
        self.stop.cancel();
        let _ = self.task.await;
    }
}

impl Bed {
    /// A simulated cluster whose pods are ready after a while.
    pub(crate) async fn simulated(ready_after: Duration) -> Self {
        let workloads = Workloads::default().ready_after(ready_after);
        let cluster = Cluster::builder()
            .ambient(Ambient::seeded(1))
            .workloads(workloads)
            .build();
        let view = cluster.view("operator");
        let bed = Self {
            client: Client::new(cluster.view("admin"), "default"),
            operator: Client::new(view.clone(), "default"),
            view: Some(view),
            namespace: NAMESPACE.to_owned(),
            simulated: Some(cluster),
            _real: None,
        };
        bed.prepare().await;
        bed
    }

    /// A real control plane in which the test has a namespace of its own.
    pub(crate) async fn real(cluster: Arc<RealCluster>, namespace: &str) -> Self {
        let client = cluster.client().await.expect("a client");
        let bed = Self {
            operator: client.clone(),
            client,
            view: None,
            namespace: namespace.to_owned(),
            simulated: None,
            _real: Some(cluster),
        };
        bed.prepare().await;
        bed
    }

    pub(crate) async fn quick() -> Self {
        Self::simulated(Duration::from_secs(1)).await
    }

    async fn prepare(&self) {
        let definitions: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        let apply = PatchParams::apply("person").force();
        for definition in DEFINITIONS.iter() {
            let name = definition.name_any();
            let made = match self.simulated {
                // Much quicker, where nobody else can have made it.
                Some(_) => definitions.create(&PostParams::default(), definition).await,
                None => {
                    let patch = Patch::Apply(definition);
                    definitions.patch(&name, &apply, &patch).await
                }
            };
            made.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        self.until("the definitions are served", async || {
            let served = definitions
                .list(&ListParams::default())
                .await
                .expect("a list");
            served.iter().all(|each| {
                let conditions = each
                    .status
                    .iter()
                    .flat_map(|status| status.conditions.iter());
                let mut conditions = conditions.flatten();
                conditions.any(|it| it.type_ == "Established" && it.status == "True")
            })
        })
        .await;
        let (name, labels) = (&self.namespace, json!({"team": "a"}));
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "labels": labels}});
        self.apply_one(&namespace).await;
    }

    pub(crate) fn operator(&self) -> Working {
        self.operator_with(Options::default())
    }

    pub(crate) fn operator_with(&self, options: Options) -> Working {
        let manager = with_controllers(self.manager(), options);
        let stop = CancellationToken::new();
        Working {
            task: tokio::spawn(manager.run(stop.clone())),
            stop,
        }
    }

    pub(crate) fn manager(&self) -> Manager {
        let dice = Arc::new(SeededRandom::new(7));
        let mut registry = prometheus_client::registry::Registry::default();
        Manager::new(
            self.operator.clone(),
            Arc::new(SystemClock),
            dice,
            &mut registry,
        )
    }

    /// Applies documents as a person would. `NS` stands for the test's namespace.
    pub(crate) async fn apply(&self, documents: &str) {
        for document in documents
            .split("---\n")
            .filter(|text| !text.trim().is_empty())
        {
            let text = document.replace("NS", &self.namespace);
            let object: Value = serde_saphyr::from_str(&text).expect("YAML");
            self.apply_one(&object).await;
        }
    }

    pub(crate) async fn apply_one(&self, object: &Value) {
        if let Err(error) = self.try_apply(object).await {
            panic!("{} {}: {error}", object["kind"], object["metadata"]["name"]);
        }
    }

    pub(crate) async fn try_apply(&self, object: &Value) -> kube::Result<DynamicObject> {
        let api = self.dynamic(object);
        let name = object["metadata"]["name"].as_str().expect("a name");
        let apply = PatchParams::apply("person").force();
        api.patch(name, &apply, &Patch::Apply(object)).await
    }

    fn dynamic(&self, object: &Value) -> Api<DynamicObject> {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &kind));
        match object["metadata"]["namespace"].as_str() {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &resource),
            None if kind == "Namespace" => Api::all_with(self.client.clone(), &resource),
            None => Api::namespaced_with(self.client.clone(), &self.namespace, &resource),
        }
    }

    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub(crate) async fn delete<K>(&self, name: &str)
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned,
    {
        let deleted = self.api::<K>().delete(name, &DeleteParams::default()).await;
        deleted.unwrap_or_else(|error| panic!("delete {name}: {error}"));
    }

    /// Changes one thing about an object of the test's namespace.
    pub(crate) async fn merge<K>(&self, name: &str, change: Value)
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned,
    {
        let patch = Patch::Merge(&change);
        let patched = self
            .api::<K>()
            .patch(name, &PatchParams::default(), &patch)
            .await;
        patched.unwrap_or_else(|error| panic!("change {name}: {error}"));
    }

    /// Waits for what must come, and says what did not.
    pub(crate) async fn until(&self, what: &str, holds: impl AsyncFn() -> bool) {
        for _ in 0..1_200 {
            if holds().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("waited in vain until {what}");
    }

    /// Waits long enough for anything that is going to happen.
    pub(crate) async fn settle(&self) {
        tokio::time::sleep(Duration::from_secs(3)).await;
    }

    pub(crate) async fn condition(&self, agent: &str, kind: &str) -> Option<Condition> {
        let agent = self.api::<Agent>().get(agent).await.expect("an agent");
        let conditions = agent
            .status
            .map(|status| status.conditions)
            .unwrap_or_default();
        conditions
            .into_iter()
            .find(|condition| condition.kind == kind)
    }

    pub(crate) async fn is(&self, agent: &str, kind: &str, status: Status) -> bool {
        let condition = self.condition(agent, kind).await;
        let generation = self.api::<Agent>().get(agent).await.expect("an agent");
        let generation = generation.metadata.generation.unwrap_or_default();
        condition.is_some_and(|it| it.status == status && it.is_current(generation))
    }

    pub(crate) async fn until_ready(&self, agent: &str) {
        let what = format!("{agent} is ready");
        self.until(&what, async || self.is(agent, "Ready", Status::True).await)
            .await;
    }

    pub(crate) async fn deployment(&self, name: &str) -> Option<Deployment> {
        self.api().get_opt(name).await.expect("an answer")
    }

    /// The hash that the pods of an agent are started with.
    pub(crate) async fn hash(&self, agent: &str) -> String {
        let deployment = self.deployment(agent).await.expect("a deployment");
        let template = deployment
            .spec
            .expect("a spec")
            .template
            .metadata
            .expect("metadata");
        template.annotations.expect("annotations")[HASH_ANNOTATION].clone()
    }

    /// A file that the pods of an agent read.
    pub(crate) async fn file(&self, agent: &str, file: &str) -> String {
        let secret: Secret = self.api().get(agent).await.expect("the secret");
        let data = secret.data.expect("data");
        String::from_utf8_lossy(&data[file].0).into_owned()
    }

    pub(crate) async fn pods(&self, agent: &str) -> Vec<Pod> {
        let of_agent = ListParams::default().labels(&format!("kagent={agent}"));
        self.api().list(&of_agent).await.expect("pods").items
    }

    /// What people were told, by reason.
    pub(crate) async fn events(&self) -> BTreeMap<String, Vec<String>> {
        let events: Api<Event> = self.api();
        let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for event in events.list(&ListParams::default()).await.expect("events") {
            let reason = event.reason.unwrap_or_default();
            told.entry(reason)
                .or_default()
                .push(event.note.unwrap_or_default());
        }
        told
    }
}

/// A Secret with a key, a model that uses it, and an agent that uses the model.
pub(crate) const SUPPORT_BOT: &str = "\
apiVersion: v1
kind: Secret
metadata: {name: openai, namespace: NS}
stringData: {api-key: sk-1, unused: x}
---
apiVersion: kagent.dev/v1alpha2
kind: ModelConfig
metadata: {name: gpt, namespace: NS}
spec: {provider: OpenAI, model: gpt-3.5, apiKeySecret: openai, apiKeySecretKey: api-key}
---
apiVersion: kagent.dev/v1alpha2
kind: Agent
metadata: {name: support-bot, namespace: NS}
spec:
  type: Declarative
  description: Helps people
  declarative:
    systemMessage: You help.
    modelConfig: gpt
    deployment: {replicas: 3}
";
