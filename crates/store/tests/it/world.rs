//! A store to ask, with the words that fixtures are made of.

use std::sync::Arc;

use evenkeel_ambient::{ManualClock, SystemRandom};
use evenkeel_model::*;
use evenkeel_store::*;
use evenkeel_testkit::Postgres;
use jiff::Timestamp;
use tempfile::TempDir;

/// A store on one of the databases, and the clock it lives by.
pub(crate) struct World {
    pub(crate) store: Database,
    pub(crate) clock: ManualClock,
    pub(crate) url: String,
    pub(crate) by: Actor,
    _directory: Option<TempDir>,
}

impl World {
    pub(crate) async fn in_memory() -> Option<Self> {
        Some(Self::at("sqlite::memory:".to_owned(), None).await)
    }

    pub(crate) async fn on_disk() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/fleet.db", directory.path().display());
        Some(Self::at(url, Some(directory)).await)
    }

    /// `None`, loudly, where there is no PostgreSQL.
    pub(crate) async fn on_postgres() -> Option<Self> {
        Some(Self::at(postgres_url().await?, None).await)
    }

    async fn at(url: String, directory: Option<TempDir>) -> Self {
        let clock = ManualClock::at(Timestamp::from_second(1_800_000_000).unwrap());
        let store = open(&url, &clock).await;
        let by = Actor::of(ActorKind::Admin, None);
        Self {
            store,
            clock,
            url,
            by,
            _directory: directory,
        }
    }

    /// A second broker on the same database.
    pub(crate) async fn another(&self) -> Database {
        open(&self.url, &self.clock).await
    }

    pub(crate) async fn generator(&self, text: &str) -> GeneratorId {
        let new = NewGenerator {
            name: name(text),
            description: None,
            is_system: false,
        };
        self.store
            .generator_create(&self.by, new, None)
            .await
            .unwrap()
            .id
    }

    pub(crate) async fn agent(&self, text: &str, generators: &[GeneratorId]) -> AgentId {
        let new = NewAgent {
            name: name(text),
            cluster_name: name("cluster"),
            generators: generators.to_vec(),
        };
        self.store
            .agent_create(&self.by, new, None)
            .await
            .unwrap()
            .id
    }

    pub(crate) async fn stack(&self, generator_id: GeneratorId, text: &str) -> StackId {
        let new = NewStack {
            name: name(text),
            description: None,
            generator_id,
        };
        self.store.stack_create(&self.by, new).await.unwrap().id
    }

    pub(crate) async fn submit(&self, stack: StackId, text: &str) -> ObjectRef {
        let new = NewRevision::of(stack, text);
        self.store
            .deployment_submit(&self.by, new)
            .await
            .unwrap()
            .object
    }

    pub(crate) async fn target(&self, agent: AgentId, stack: StackId) {
        self.store
            .target_create(&self.by, agent, stack)
            .await
            .unwrap();
    }

    pub(crate) async fn report(&self, agent: AgentId, object: &ObjectRef, status: EventStatus) {
        self.store
            .event_record(event(agent, object, status))
            .await
            .unwrap();
    }

    /// What the agent is served: for each stack what to do, and with which object.
    pub(crate) async fn served(&self, agent: AgentId) -> Vec<(StackId, Order, Option<ObjectRef>)> {
        let assignments = self.store.assignments_of_agent(agent).await.unwrap();
        assignments
            .into_iter()
            .map(|a| (a.stack_id, a.order, a.wanted))
            .collect()
    }

    pub(crate) async fn assignment(&self, agent: AgentId, stack: StackId) -> Assignment {
        self.store
            .assignment_get(agent, stack)
            .await
            .unwrap()
            .unwrap()
    }

    /// A generator with a stack of one revision, and an agent that it is targeted at.
    pub(crate) async fn small_fleet(&self) -> (GeneratorId, AgentId, StackId, ObjectRef) {
        let generator = self.generator("ci").await;
        let agent = self.agent("east", &[generator]).await;
        let stack = self.stack(generator, "shop").await;
        let object = self.submit(stack, "kind: One").await;
        self.target(agent, stack).await;
        (generator, agent, stack, object)
    }
}

pub(crate) async fn postgres_url() -> Option<String> {
    let database = match Postgres::shared().await {
        Ok(server) => server.database().await,
        Err(error) => Err(error),
    };
    database
        .inspect_err(|error| evenkeel_testkit::skip(error))
        .ok()
}

pub(crate) async fn open(url: &str, clock: &ManualClock) -> Database {
    Database::open(url, Arc::new(clock.clone()), Arc::new(SystemRandom))
        .await
        .unwrap()
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn label(text: &str) -> Label {
    Label::new(text).unwrap()
}

pub(crate) fn event(agent: AgentId, object: &ObjectRef, status: EventStatus) -> NewEvent {
    NewEvent {
        message: (status == EventStatus::Failure).then(|| "it broke".to_owned()),
        ..NewEvent::of(agent, object.id, status)
    }
}

/// Declares each case three times: in memory, on disk and on PostgreSQL.
macro_rules! on_every_database {
    ($($case:ident),+ $(,)?) => {
        on_every_database!(@one in_memory, $($case),+);
        on_every_database!(@one on_disk, $($case),+);
        on_every_database!(@one on_postgres, $($case),+);
    };
    (@one $database:ident, $($case:ident),+) => {
        mod $database {
            $(#[tokio::test]
            async fn $case() {
                if let Some(world) = crate::world::World::$database().await {
                    super::$case(world).await;
                }
            })+
        }
    };
}

pub(crate) use on_every_database;
