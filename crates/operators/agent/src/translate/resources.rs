//! Everything that an agent may refer to, already fetched.

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret, Service};
use kube::ResourceExt;

use super::error::TranslateError;
use crate::api::{Agent, MCPServer, ModelConfig, RemoteMCPServer};

/// A kind of resource that agents refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Another agent.
    Agent,
    /// Another agent, in a sandbox of kagent.
    SandboxAgent,
    /// A model.
    ModelConfig,
    /// A server of tools at some address.
    RemoteMCPServer,
    /// A server of tools that kmcp runs.
    MCPServer,
    /// A server of tools behind a Service.
    Service,
    /// Keys, certificates, headers and messages.
    Secret,
    /// Messages, prompts, headers and addresses.
    ConfigMap,
    /// Whose labels decide what may be used.
    Namespace,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// One resource, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace; empty for a namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Reference {
    /// The resource of this name.
    pub fn new(kind: Kind, namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            kind,
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace.as_str() {
            "" => write!(f, "{} {}", self.kind, self.name),
            namespace => write!(f, "{} {namespace}/{}", self.kind, self.name),
        }
    }
}

type Name = (String, String);

/// Resources by namespace and name.
#[derive(Debug, Clone, Default)]
pub struct Resources {
    agents: BTreeMap<Name, Agent>,
    sandbox_agents: BTreeMap<Name, SandboxAgent>,
    models: BTreeMap<Name, ModelConfig>,
    remote_servers: BTreeMap<Name, RemoteMCPServer>,
    mcp_servers: BTreeMap<Name, MCPServer>,
    services: BTreeMap<Name, Service>,
    secrets: BTreeMap<Name, Secret>,
    config_maps: BTreeMap<Name, ConfigMap>,
    namespaces: BTreeMap<Name, Namespace>,
}

/// An agent in a sandbox of kagent: known as a tool of others, not run here.
#[derive(Debug, Clone)]
pub struct SandboxAgent(pub Agent);

/// A type of which [`Resources`] holds some.
pub trait Held: Clone + Sized + 'static {
    /// How it is referred to.
    const KIND: Kind;
    /// Where it is kept.
    fn shelf(resources: &Resources) -> &BTreeMap<Name, Self>;
    /// Where it is kept, to add more.
    fn shelf_mut(resources: &mut Resources) -> &mut BTreeMap<Name, Self>;
    /// Its namespace and name.
    fn name(&self) -> Name;
}

macro_rules! held {
    ($($type:ty: $kind:ident in $field:ident by $meta:expr;)*) => {$(
        impl Held for $type {
            const KIND: Kind = Kind::$kind;
            fn shelf(resources: &Resources) -> &BTreeMap<Name, Self> {
                &resources.$field
            }
            fn shelf_mut(resources: &mut Resources) -> &mut BTreeMap<Name, Self> {
                &mut resources.$field
            }
            fn name(&self) -> Name {
                let meta: fn(&Self) -> Name = $meta;
                meta(self)
            }
        }
    )*};
}

held! {
    Agent: Agent in agents by name_of;
    SandboxAgent: SandboxAgent in sandbox_agents by |agent| name_of(&agent.0);
    ModelConfig: ModelConfig in models by name_of;
    RemoteMCPServer: RemoteMCPServer in remote_servers by name_of;
    MCPServer: MCPServer in mcp_servers by name_of;
    Service: Service in services by name_of;
    Secret: Secret in secrets by name_of;
    ConfigMap: ConfigMap in config_maps by name_of;
    Namespace: Namespace in namespaces by name_of;
}

fn name_of(resource: &impl ResourceExt) -> Name {
    (
        resource.namespace().unwrap_or_default(),
        resource.name_any(),
    )
}

impl Resources {
    /// Adds a resource; one of the same name is replaced.
    pub fn insert<T: Held>(&mut self, resource: T) {
        T::shelf_mut(self).insert(resource.name(), resource);
    }

    /// The resource of this name, if it exists.
    pub fn find<T: Held>(&self, namespace: &str, name: &str) -> Option<&T> {
        T::shelf(self).get(&(namespace.to_owned(), name.to_owned()))
    }

    /// All of a kind.
    pub fn all<T: Held>(&self) -> impl Iterator<Item = &T> {
        T::shelf(self).values()
    }

    /// The resource of this name, which must exist.
    pub(crate) fn need<T: Held>(&self, namespace: &str, name: &str) -> Result<&T, TranslateError> {
        let found = self.find(namespace, name);
        found.ok_or_else(|| TranslateError::not_found(T::KIND, namespace, name))
    }
}
