//! One simulated cluster: the store, the resources it serves, its clock and dice, and the
//! controllers that keep house.

use std::path::Path;
use std::sync::{Arc, LazyLock, Weak};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Method, Request, Response};

use crate::access::{self, Rights, User};
use crate::admission::{Court, Summons};
use crate::ambient::Ambient;
use crate::body::Body;
use crate::builder::ClusterBuilder;
use crate::discovery;
use crate::faults::{Backend, Sight, View};
use crate::lifecycle::Housekeeping;
use crate::openapi;
use crate::registry::Registry;
use crate::reply::Reply;
use crate::request::{Accept, ApiRequest, Encoding, Form, Route};
use crate::status::ApiError;
use crate::store::{FileError, Store};
use crate::verbs;
use crate::workloads::{self, Agenda};

/// One simulated cluster. Clones share it.
#[derive(Debug, Clone)]
pub struct Cluster(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Store,
    registry: Registry,
    ambient: Ambient,
    housekeeping: Housekeeping,
    sight: Sight,
    agenda: Option<Agenda>,
    rights: Option<Rights>,
    court: Court,
}

/// A cluster that somebody else may have or not.
#[derive(Debug)]
pub(crate) struct WeakCluster(Weak<Inner>);

impl WeakCluster {
    pub(crate) fn upgrade(&self) -> Option<Cluster> {
        self.0.upgrade().map(Cluster)
    }
}

/// When the controllers of a cluster (garbage collection, namespaces, custom resource
/// definitions) do their work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pace {
    /// Right after every write, before its answer: what a test sees is always settled.
    #[default]
    AfterEveryWrite,
    /// Only when [`Cluster::step`] or [`Cluster::settle`] is called.
    WhenStepped,
}

impl Cluster {
    /// Describes a cluster with more than the API itself.
    pub fn builder() -> ClusterBuilder {
        ClusterBuilder::default()
    }

    /// An empty cluster in memory, with the machine's clock and dice.
    pub fn new() -> Self {
        Self::with(Ambient::system(), Pace::default())
    }

    /// An empty cluster in memory with this clock, these dice and this pace.
    pub fn with(ambient: Ambient, pace: Pace) -> Self {
        Self::builder().ambient(ambient).pace(pace).build()
    }

    /// The cluster that the file at `path` keeps; an empty one when there is no file yet.
    pub fn open(path: &Path, ambient: Ambient) -> Result<Self, FileError> {
        Self::builder().ambient(ambient).open(path)
    }

    /// The cluster whose objects are in `store`.
    pub fn over(store: Store, ambient: Ambient, pace: Pace) -> Self {
        Self::builder().ambient(ambient).pace(pace).over(store)
    }

    /// Makes what a builder describes.
    pub(crate) fn make(plan: ClusterBuilder, store: Store) -> Self {
        let cluster = Self(Arc::new(Inner {
            sight: Sight::clear(store.clone()),
            store,
            registry: Registry::default(),
            ambient: plan.ambient,
            housekeeping: Housekeeping::new(plan.pace),
            agenda: plan.workloads.map(Agenda::new),
            rights: plan.rights,
            court: Court::default(),
        }));
        cluster.found();
        if cluster.rights().is_some() {
            access::found(&cluster);
        }
        workloads::found(&cluster);
        cluster.settle_at_its_pace();
        cluster
    }

    /// Answers a request.
    pub fn handle(&self, request: Request<Bytes>) -> Response<Body> {
        self.handle_through(&self.0.sight, request)
    }

    /// Answers a request of a client that sees the cluster through `sight`.
    pub fn handle_through(&self, sight: &Sight, request: Request<Bytes>) -> Response<Body> {
        let request = ApiRequest::new(request);
        let head = request.method == Method::HEAD;
        let plain = Accept {
            form: Form::Object,
            encoding: Encoding::Json,
        };
        let accept = match request.accept() {
            Ok(accept) => accept,
            Err(error) => return Reply::from(error).into_response(plain),
        };
        let answer = access::admit(self, &request)
            .and_then(|user| self.answer(sight, &request, &user, accept));
        self.settle_at_its_pace();
        let awaited = answer
            .as_ref()
            .err()
            .and_then(|error| self.court().summons(error));
        let mut response = match answer {
            Ok(reply) => reply.into_response(accept),
            Err(error) => Reply::from(error).into_response(Accept {
                form: Form::Object,
                ..accept
            }),
        };
        if let Some(summons) = awaited {
            response.extensions_mut().insert(summons);
        }
        match head {
            true => response.map(|_| Body::from("")),
            false => response,
        }
    }

    /// Answers a request; one that webhooks have a say in is tried again with their verdicts.
    async fn handle_patiently(&self, sight: &Sight, request: Request<Bytes>) -> Response<Body> {
        let mut heard = Vec::new();
        loop {
            let response = self.handle_through(sight, request.clone());
            let summons = response.extensions().get::<Summons>().cloned();
            match summons.filter(|summons| !heard.contains(&summons.mark)) {
                Some(summons) => {
                    self.court().hear(&summons).await;
                    heard.push(summons.mark);
                }
                None => {
                    self.court().forget(&heard);
                    return response;
                }
            }
        }
    }

    /// A connection for one client, which errors call `user` and which may do everything. What
    /// goes wrong on it is nobody else's trouble.
    pub fn view(&self, user: &str) -> View {
        View::new(Arc::new(self.clone()), user)
    }

    /// A connection for one client with the rights of `user`.
    pub fn view_as(&self, user: User) -> View {
        View::of_user(Arc::new(self.clone()), user)
    }

    /// A connection for many clients, each of which says who it is: what a
    /// [`Server`](crate::adapters::Server) of a cluster with rights serves.
    pub fn entrance(&self) -> View {
        View::of_anybody(Arc::new(self.clone()))
    }

    /// The objects.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// The clock and the dice.
    pub fn ambient(&self) -> &Ambient {
        &self.0.ambient
    }

    /// What the controllers of workloads have to do, if there are any.
    pub(crate) fn agenda(&self) -> Option<&Agenda> {
        self.0.agenda.as_ref()
    }

    /// Whom the cluster's own controllers write as.
    pub(crate) fn controller(&self) -> &User {
        static CONTROLLER: LazyLock<User> =
            LazyLock::new(|| User::admin("system:kube-controller-manager"));
        &CONTROLLER
    }

    /// Where writes wait for the verdicts of webhooks.
    pub(crate) fn court(&self) -> &Court {
        &self.0.court
    }

    /// Who may come in, if that is asked.
    pub(crate) fn rights(&self) -> Option<&Rights> {
        self.0.rights.as_ref()
    }

    pub(crate) fn downgrade(&self) -> WeakCluster {
        WeakCluster(Arc::downgrade(&self.0))
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// The present moment as objects write it.
    pub(crate) fn timestamp(&self) -> String {
        self.ambient()
            .clock
            .now()
            .strftime("%Y-%m-%dT%H:%M:%SZ")
            .to_string()
    }

    pub(crate) fn housekeeping(&self) -> &Housekeeping {
        &self.0.housekeeping
    }

    fn answer(
        &self,
        sight: &Sight,
        request: &ApiRequest,
        user: &User,
        accept: Accept,
    ) -> Result<Reply, ApiError> {
        let registry = self.registry();
        let aggregated = accept.form == Form::AggregatedDiscovery;
        let found = match &request.route {
            Route::Index => Some(discovery::index(registry)),
            Route::Version => Some(discovery::version()),
            Route::Health => return Ok(Reply::text(200, "ok")),
            Route::CoreVersions if aggregated => Some(discovery::aggregated_core(registry)),
            Route::CoreVersions => Some(discovery::core_versions()),
            Route::Groups if aggregated => Some(discovery::aggregated_groups(registry)),
            Route::Groups => Some(discovery::groups(registry)),
            Route::Group(group) => discovery::group(registry, group),
            Route::Resources { group, version } => {
                let found = discovery::resources(registry, group, version);
                if found.is_none() && Registry::is_built_in(group) {
                    return Err(ApiError::no_such_resource());
                }
                found
            }
            Route::Resource(path) => {
                return verbs::answer(self, sight, request, user, path, accept);
            }
            Route::OpenApi => return Ok(Reply::listing(&openapi::index(self))),
            Route::OpenApiDocument { group, version } => {
                let document = openapi::document(self, group, version);
                return Ok(document.map_or_else(Reply::page_not_found, Reply::json));
            }
            Route::Unknown => None,
        };
        Ok(found.map_or_else(Reply::page_not_found, |found| Reply::ok(&found)))
    }
}

impl Default for Cluster {
    fn default() -> Self {
        Self::new()
    }
}

impl Backend for Cluster {
    fn store(&self) -> &Store {
        self.store()
    }

    fn handle(&self, sight: &Sight, request: Request<Bytes>) -> Response<Body> {
        self.handle_through(sight, request)
    }

    fn patient<'a>(
        &'a self,
        sight: &'a Sight,
        request: Request<Bytes>,
    ) -> BoxFuture<'a, Response<Body>> {
        self.handle_patiently(sight, request).boxed()
    }
}
