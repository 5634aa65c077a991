//! A broker of a test's own, with tenants, agents and stacks that read as a sentence.

use std::sync::Arc;
use std::time::Duration;

use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_api::{
    AgentUpdate, DeploymentObject, NewAgent, NewDeployment, NewEvent, NewGenerator, NewStack, Stack,
};
use evenkeel_broker::{Broker, Config, Parts};
use evenkeel_client::{Client, Poll, Submit, TargetState};
use evenkeel_model::{AgentId, AgentStatus, DeploymentId, EventStatus, GeneratorId, StackId};
use evenkeel_store::Database;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// One ConfigMap, different for each `text`.
pub(crate) fn manifest(text: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: it\ndata:\n  text: {text:?}\n")
}

/// Settings for tests: nobody is slowed down, and webhooks may come home.
pub(crate) fn config() -> Config {
    let mut config = Config::default();
    config.limits.requests_per_second = 0;
    config.limits.refusals_per_second = 0;
    config.webhooks.allow_private = true;
    config.server.drain_seconds = 5;
    config
}

/// A broker and its administrator.
pub(crate) struct World {
    pub(crate) broker: Broker,
    pub(crate) database: Database,
    pub(crate) stop: CancellationToken,
    pub(crate) address: String,
    pub(crate) admin: Client,
}

pub(crate) async fn open(url: &str) -> Database {
    Database::open(url, Arc::new(SystemClock), Arc::new(SystemRandom))
        .await
        .unwrap()
}

pub(crate) async fn start(database: &Database, config: Config) -> (Broker, CancellationToken) {
    let parts = Parts {
        config,
        store: Arc::new(database.clone()),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let stop = CancellationToken::new();
    (
        Broker::start(parts, listener, stop.clone()).await.unwrap(),
        stop,
    )
}

impl World {
    /// A broker on a database in memory.
    pub(crate) async fn new() -> Self {
        Self::with(config()).await
    }

    pub(crate) async fn with(config: Config) -> Self {
        Self::on(open("sqlite::memory:").await, config).await
    }

    /// The first broker on a database.
    pub(crate) async fn on(database: Database, config: Config) -> Self {
        let (broker, stop) = start(&database, config).await;
        let key = broker
            .first_key()
            .expect("the first start mints a key")
            .key
            .clone();
        let address = format!("http://{}", broker.address());
        let admin = Client::new(&address, &key).unwrap();
        Self {
            broker,
            database,
            stop,
            address,
            admin,
        }
    }

    pub(crate) async fn tenant(&self, name: &str) -> Tenant {
        let new = NewGenerator {
            name: name.parse().unwrap(),
            description: None,
        };
        let created = self.admin.generator_create(&new).await.unwrap();
        Tenant {
            id: created.generator.id,
            key: created.pak.clone(),
            client: self.admin.with_key(&created.pak),
        }
    }

    /// An active agent that serves these tenants.
    pub(crate) async fn agent(&self, name: &str, serves: &[&Tenant]) -> TestAgent {
        let new = NewAgent {
            name: name.parse().unwrap(),
            cluster_name: format!("{name}-cluster").parse().unwrap(),
            generator_ids: Some(serves.iter().map(|tenant| tenant.id).collect()),
        };
        let created = self.admin.agent_create(&new).await.unwrap();
        let agent = TestAgent {
            id: created.agent.id,
            key: created.initial_pak.clone(),
            client: self.admin.with_key(&created.initial_pak),
        };
        self.set_status(&agent, AgentStatus::Active).await;
        agent
    }

    pub(crate) async fn set_status(&self, agent: &TestAgent, status: AgentStatus) {
        let update = AgentUpdate {
            status: Some(status),
            ..AgentUpdate::default()
        };
        self.admin.agent_update(agent.id, &update).await.unwrap();
    }
}

/// The smallest fleet: one tenant, with one stack, targeted at one agent.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) shop: Tenant,
    pub(crate) agent: TestAgent,
    pub(crate) stack: Stack,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        Self::of(World::new().await).await
    }

    /// The same on a broker that is there already.
    pub(crate) async fn of(world: World) -> Self {
        let shop = world.tenant("shop").await;
        let agent = world.agent("edge", &[&shop]).await;
        let stack = shop.stack("web").await;
        shop.client.target_create(agent.id, stack.id).await.unwrap();
        Self {
            world,
            shop,
            agent,
            stack,
        }
    }

    /// A new revision of the stack.
    pub(crate) async fn submit(&self, text: &str) -> DeploymentObject {
        self.shop.submit(self.stack.id, text).await
    }

    /// Returns when the agent waits for changes, as the fleet overview shows.
    pub(crate) async fn until_waiting(&self) {
        while !self.world.admin.fleet().await.unwrap()[0].ws_connected {
            tokio::task::yield_now().await;
        }
    }
}

/// A generator and its key.
pub(crate) struct Tenant {
    pub(crate) id: GeneratorId,
    pub(crate) key: String,
    pub(crate) client: Client,
}

impl Tenant {
    pub(crate) async fn stack(&self, name: &str) -> Stack {
        let new = NewStack {
            name: name.parse().unwrap(),
            description: None,
            generator_id: self.id,
        };
        self.client.stack_create(&new).await.unwrap()
    }

    pub(crate) async fn submit(&self, stack: StackId, text: &str) -> DeploymentObject {
        let new = NewDeployment::of(manifest(text));
        self.client
            .deployment_create(stack, &new, &Submit::default())
            .await
            .unwrap()
    }
}

/// An agent and its key.
pub(crate) struct TestAgent {
    pub(crate) id: AgentId,
    pub(crate) key: String,
    pub(crate) client: Client,
}

impl TestAgent {
    /// What it is to hold, asked without knowing anything.
    pub(crate) async fn target_state(&self) -> TargetState {
        let answer = self
            .client
            .target_state(self.id, &Poll::default())
            .await
            .unwrap();
        answer.expect("who knows nothing is told everything")
    }

    /// The sequence ids that it is served.
    pub(crate) async fn sequences(&self) -> Vec<i64> {
        let state = self.target_state().await;
        state
            .objects
            .iter()
            .map(|object| object.sequence_id.0)
            .collect()
    }

    /// Polls with what it knows.
    pub(crate) async fn poll(&self, known: &str, wait: Option<Duration>) -> Option<TargetState> {
        let poll = Poll {
            known: Some(known.to_owned()),
            wait,
            without_bodies: false,
        };
        self.client.target_state(self.id, &poll).await.unwrap()
    }

    pub(crate) async fn reports(&self, object: DeploymentId, status: EventStatus) {
        let event = NewEvent {
            message: (status == EventStatus::Failure).then(|| "no room".to_owned()),
            ..NewEvent::of(object, status)
        };
        self.client.event_record(self.id, &event).await.unwrap();
    }
}
