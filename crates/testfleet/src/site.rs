//! A cluster and its agent.

use std::fmt;
use std::sync::Arc;

use evenkeel_agent::{Error, Parts, Settings};
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_api::{AgentEvent, AssignmentStatus, DeploymentObject, ListQuery};
use evenkeel_client::Client;
use evenkeel_kubesim::Verb;
use evenkeel_kubesim::faults::View;
use evenkeel_kubesim::store::ResourceId;
use evenkeel_model::{AgentId, AgentStatus, EventStatus, SequenceId};
use evenkeel_testkit::Cluster;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::fleet;
use crate::objects::Objects;
use crate::stack::Stack;
use crate::wait::until;

/// An agent's key.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) id: AgentId,
    pub(crate) text: String,
    pub(crate) client: Client,
    pub(crate) admin: Client,
}

impl Key {
    pub(crate) async fn set_status(&self, status: AgentStatus) {
        let update = fleet::status(status);
        self.admin.agent_update(self.id, &update).await.unwrap();
    }
}

/// A cluster and its agent, which can be stopped, killed and started.
pub struct Site {
    /// The cluster.
    pub cluster: Cluster,
    /// The agent's settings from its next start on.
    pub settings: Mutex<Settings>,
    key: Key,
    /// Somebody in the cluster with all rights.
    person: kube::Client,
    /// The agent's own connection, if the cluster is simulated.
    view: Option<View>,
    running: Mutex<Option<Running>>,
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Running {
    stop: CancellationToken,
    done: JoinHandle<Result<(), Error>>,
}

impl Site {
    pub(crate) async fn new(key: Key, cluster: Cluster, settings: Settings) -> Self {
        let view = match &cluster {
            Cluster::Simulated(simulated) => Some(simulated.cluster().view(&settings.name)),
            Cluster::Real(_) => None,
        };
        Self {
            person: cluster.client().await,
            settings: Mutex::new(settings),
            view,
            key,
            cluster,
            running: Mutex::default(),
        }
    }

    /// Which agent.
    pub fn id(&self) -> AgentId {
        self.key.id
    }

    /// The agent's key.
    pub fn key(&self) -> &str {
        &self.key.text
    }

    /// The broker, as the agent reaches it.
    pub fn broker(&self) -> &Client {
        &self.key.client
    }

    /// The agent's connection to a simulated cluster, for faults and counts.
    ///
    /// # Panics
    /// When the cluster is real.
    pub fn view(&self) -> &View {
        self.view.as_ref().expect("a simulated cluster")
    }

    fn client(&self) -> kube::Client {
        match &self.view {
            Some(view) => kube::Client::new(view.clone(), "default"),
            None => self.person.clone(),
        }
    }

    /// Starts the agent.
    pub async fn start(&self) {
        self.start_as(self.client()).await;
    }

    /// Starts the agent with a client of its own, for instance one with few rights.
    pub async fn start_as(&self, cluster: kube::Client) {
        let running = self.replica(cluster).await;
        *self.running.lock().await = Some(running);
    }

    async fn replica(&self, cluster: kube::Client) -> Running {
        let parts = Parts {
            settings: self.settings.lock().await.clone(),
            broker: self.key.client.clone(),
            cluster,
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            vitals: None,
        };
        let stop = CancellationToken::new();
        let done = tokio::spawn(evenkeel_agent::run(parts, stop.clone()));
        Running { stop, done }
    }

    /// Stops the agent in good order.
    pub async fn stop(&self) {
        if let Some(Running { stop, done }) = self.running.lock().await.take() {
            stop.cancel();
            done.await.unwrap().unwrap();
        }
    }

    /// Ends the agent where it stands, as if its machine had gone.
    pub async fn kill(&self) {
        if let Some(Running { done, .. }) = self.running.lock().await.take() {
            done.abort();
            let _ = done.await;
        }
    }

    /// Stops the agent and starts it again.
    pub async fn restart(&self) {
        self.stop().await;
        self.start().await;
    }

    /// Makes the agent work, or not.
    pub async fn set_status(&self, status: AgentStatus) {
        self.key.set_status(status).await;
    }

    /// Ties a stack to the agent.
    pub async fn serves(&self, stack: &Stack) {
        self.key
            .admin
            .target_create(self.key.id, stack.id)
            .await
            .unwrap();
    }

    /// Unties it.
    pub async fn serves_no_more(&self, stack: &Stack) {
        self.key
            .admin
            .target_delete(self.key.id, stack.id)
            .await
            .unwrap();
    }

    /// How far the agent is with a stack, as the broker knows it.
    pub async fn status_of(&self, stack: &Stack) -> Option<AssignmentStatus> {
        let all = self.key.admin.agent_status(self.key.id).await.unwrap();
        all.into_iter().find(|one| one.stack_id == stack.id)
    }

    /// The agent's events about one object, oldest first.
    pub async fn events_of(&self, object: &DeploymentObject) -> Vec<AgentEvent> {
        let query = ListQuery::default();
        let events = self
            .key
            .admin
            .agent_events(self.key.id, &query)
            .await
            .unwrap();
        let mut events: Vec<_> = events
            .items
            .into_iter()
            .filter(|event| event.deployment_object_id == object.id)
            .collect();
        events.reverse();
        events
    }

    /// Waits until the agent reports success with an object.
    pub async fn reaches(&self, object: &DeploymentObject) -> AgentEvent {
        self.reports(object, EventStatus::Success).await
    }

    /// Waits until the agent reports failure with an object.
    pub async fn fails_with(&self, object: &DeploymentObject) -> AgentEvent {
        self.reports(object, EventStatus::Failure).await
    }

    async fn reports(&self, object: &DeploymentObject, status: EventStatus) -> AgentEvent {
        let what = format!("{status} with revision {}", object.sequence_id);
        until(&what, async || {
            let events = self.events_of(object).await;
            events
                .into_iter()
                .rev()
                .find(|event| event.status == status)
        })
        .await
    }

    /// Waits until the broker knows that the agent holds this revision of a stack.
    pub async fn holds(&self, stack: &Stack, sequence: SequenceId) -> AssignmentStatus {
        let what = format!("revision {sequence} to be held");
        until(&what, async || {
            let status = self.status_of(stack).await;
            status.filter(|status| status.applied == Some(sequence))
        })
        .await
    }

    /// Waits until the broker knows that nothing is left of a stack.
    pub async fn confirms_removal(&self, stack: &Stack) {
        let what = "the removal of the stack to be confirmed";
        until(what, async || {
            self.status_of(stack).await.is_none().then_some(())
        })
        .await;
    }

    /// Waits until the agent says that it waits, and for what.
    pub async fn waits_with(&self, stack: &Stack) -> String {
        until("the agent to say what it waits for", async || {
            self.status_of(stack).await?.waiting
        })
        .await
    }

    /// Waits until the agent has had the time for two more cycles, by its own signs of life.
    pub async fn goes_on(&self) {
        for _ in 0..3 {
            let before = self.last_sign().await;
            until("a sign of life", async || {
                (self.last_sign().await > before).then_some(())
            })
            .await;
        }
    }

    async fn last_sign(&self) -> Option<jiff::Timestamp> {
        let agent = self.key.admin.agent_get(self.key.id).await.unwrap();
        agent.last_heartbeat
    }

    /// How often the agent wrote to a simulated cluster since the last time, its lease left out.
    pub fn writes(&self) -> u64 {
        let log = self.view().reset_log();
        let lease = ResourceId::new("coordination.k8s.io", "leases");
        let of_lease = |verb| log.count(verb, &lease);
        log.writes() - of_lease(Verb::Update) - of_lease(Verb::Create)
    }

    /// Objects of the cluster.
    pub fn objects(&self, version: &str, kind: &str, namespace: &str) -> Objects {
        Objects::new(self.person.clone(), version, kind, Some(namespace))
    }

    /// Objects of the whole cluster.
    pub fn cluster_objects(&self, version: &str, kind: &str) -> Objects {
        Objects::new(self.person.clone(), version, kind, None)
    }

    /// ConfigMaps.
    pub fn maps(&self, namespace: &str) -> Objects {
        self.objects("v1", "ConfigMap", namespace)
    }

    /// Namespaces.
    pub fn spaces(&self) -> Objects {
        self.cluster_objects("v1", "Namespace")
    }
}
