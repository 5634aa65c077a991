//! A broker, its database, and its only tenant.

use std::net::SocketAddr;
use std::sync::Arc;

use evenkeel_agent::Settings;
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_api::{AgentUpdate, NewAgent, NewGenerator, NewStack};
use evenkeel_broker::{Broker, Config, Parts};
use evenkeel_client::Client;
use evenkeel_model::{AgentStatus, GeneratorId};
use evenkeel_store::Database;
use evenkeel_testkit::Cluster;
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::site::{Key, Site};
use crate::stack::Stack;
use crate::wait::until;

/// A broker with one tenant, whose stacks and agents these are.
#[derive(Debug)]
pub struct Fleet {
    /// The administrator.
    pub admin: Client,
    tenant: Client,
    tenant_id: GeneratorId,
    database: Mutex<Database>,
    address: SocketAddr,
    broker: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    broker: Broker,
    stop: CancellationToken,
}

impl Fleet {
    /// A fleet whose broker keeps everything in memory.
    pub async fn start() -> Self {
        Self::on("sqlite::memory:").await
    }

    /// A fleet whose broker keeps everything in this database.
    pub async fn on(url: &str) -> Self {
        let database = open(url).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let running = start(&database, listener).await;
        let key = running.broker.first_key().unwrap().key.clone();
        let admin = Client::new(&format!("http://{address}"), &key).unwrap();
        let new = NewGenerator {
            name: "tenant".parse().unwrap(),
            description: None,
        };
        let tenant = admin.generator_create(&new).await.unwrap();
        Self {
            tenant: admin.with_key(&tenant.pak),
            tenant_id: tenant.generator.id,
            admin,
            database: Mutex::new(database),
            address,
            broker: Mutex::new(Some(running)),
        }
    }

    /// A new stack of the tenant.
    pub async fn stack(&self, name: &str) -> Stack {
        let new = NewStack {
            name: name.parse().unwrap(),
            description: None,
            generator_id: self.tenant_id,
        };
        let stack = self.tenant.stack_create(&new).await.unwrap();
        Stack::new(self.tenant.clone(), stack.id)
    }

    /// A cluster with an active agent that runs in it.
    pub async fn site(&self, name: &str, cluster: &Cluster) -> Site {
        let site = self.quiet_site(name, cluster).await;
        site.start().await;
        site
    }

    /// A cluster with an active agent that does not run yet.
    pub async fn quiet_site(&self, name: &str, cluster: &Cluster) -> Site {
        let new = NewAgent {
            name: name.parse().unwrap(),
            cluster_name: name.parse().unwrap(),
            generator_ids: Some(vec![self.tenant_id]),
        };
        let created = self.admin.agent_create(&new).await.unwrap();
        let key = Key {
            id: created.agent.id,
            client: self.admin.with_key(&created.initial_pak),
            text: created.initial_pak.clone(),
            admin: self.admin.clone(),
        };
        key.set_status(AgentStatus::Active).await;
        Site::new(key, cluster.clone(), settings(name)).await
    }

    /// Stops the broker, which answers what is under way.
    pub async fn stop_broker(&self) {
        let Running { broker, stop } = self.broker.lock().await.take().unwrap();
        stop.cancel();
        broker.stopped().await;
    }

    /// Ends the broker where it stands.
    pub async fn kill_broker(&self) {
        self.broker.lock().await.take().unwrap().broker.kill();
    }

    /// Starts the broker again, at the same address.
    pub async fn start_broker(&self) {
        let listener = until("the broker's port to be free", async || {
            TcpListener::bind(self.address).await.ok()
        });
        let running = start(&*self.database.lock().await, listener.await).await;
        *self.broker.lock().await = Some(running);
    }

    /// Starts the broker again, at the same address, on another database: an older copy of its
    /// own, for instance.
    pub async fn start_broker_on(&self, url: &str) {
        *self.database.lock().await = open(url).await;
        self.start_broker().await;
    }

    /// Where the broker listens.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

async fn open(url: &str) -> Database {
    let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    Database::open(url, clock, random).await.unwrap()
}

async fn start(database: &Database, listener: TcpListener) -> Running {
    let mut config = Config::default();
    config.limits.requests_per_second = 0;
    config.limits.refusals_per_second = 0;
    config.server.drain_seconds = 1;
    let parts = Parts {
        config,
        store: Arc::new(database.clone()),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
    };
    let stop = CancellationToken::new();
    let broker = Broker::start(parts, listener, stop.clone()).await.unwrap();
    Running { broker, stop }
}

/// Settings for tests: everything soon, and things of its own for each agent.
fn settings(name: &str) -> Settings {
    let soon = std::time::Duration::from_millis(300);
    let mut settings = Settings {
        name: name.to_owned(),
        namespace: format!("agent-{name}"),
        polling_interval: soon,
        health_interval: soon,
        grace: soon * 10,
        ..Settings::default()
    };
    settings.retry.first = soon / 10;
    settings.retry.longest = soon;
    settings.retry.total = soon * 2;
    settings
}

/// Changes whether an agent is to work.
pub(crate) fn status(status: AgentStatus) -> AgentUpdate {
    AgentUpdate {
        status: Some(status),
        ..AgentUpdate::default()
    }
}
