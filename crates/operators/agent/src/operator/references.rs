//! What an agent needs, as far as it can be told from what is known already.
//!
//! The answer grows: a model must be known before its Secret is. So it is asked again with every
//! answer, until nothing new is needed. What is needed is needed whether or not it exists, so that
//! an agent is woken by what appears.

use std::collections::BTreeSet;

use crate::api::agent::DeclarativeAgent;
use crate::api::tool::{Tool, TypedReference};
use crate::api::values::{ValueRef, ValueSource};
use crate::api::{Agent, ModelConfig, ModelConfigSpec, RemoteMCPServer};
use crate::translate::chain::agents_of;
use crate::translate::declarative::{model_name, summarizer_name};
use crate::translate::server::ServerKind;
use crate::translate::tools::namespace_of;
use crate::translate::{Kind, Reference, Resources, Settings, proxy, tls};

pub(super) type References = BTreeSet<Reference>;

/// What `agent` needs, given what is known.
pub(super) fn of_agent(agent: &Agent, known: &Resources, settings: &Settings) -> References {
    let mut needed = Needed {
        namespace: agent.metadata.namespace.as_deref().unwrap_or_default(),
        known,
        settings,
        all: References::new(),
    };
    let declared = agent.spec.declarative.as_ref();
    if let Some(declarative) = declared.filter(|_| agent.spec.r#type.as_deref() != Some("BYO")) {
        needed.declarative(declarative);
        needed.chain(agent);
    }
    needed.all
}

/// What a model needs: its Secrets, and where its address is written.
pub(super) fn of_model(spec: &ModelConfigSpec, namespace: &str) -> References {
    let secret = |name: &str| Reference::new(Kind::Secret, namespace, name);
    let key = spec
        .api_key_secret
        .as_deref()
        .filter(|name| !name.is_empty());
    let authorities = spec.tls.as_ref().and_then(tls::authorities);
    let endpoint = spec
        .foundry
        .as_ref()
        .and_then(|own| own.endpoint_from.as_ref());
    let endpoint = endpoint.map(|from| Reference::new(Kind::ConfigMap, namespace, &from.name));
    let secrets = key.into_iter().chain(authorities.map(|(name, _)| name));
    secrets.map(secret).chain(endpoint).collect()
}

/// What a remote server needs: the values of its headers, and its authorities.
pub(super) fn of_server(server: &RemoteMCPServer) -> References {
    let namespace = server.metadata.namespace.as_deref().unwrap_or_default();
    let authorities = server.spec.tls.as_ref().and_then(tls::authorities);
    let authorities = authorities.map(|(name, _)| Reference::new(Kind::Secret, namespace, name));
    let headers = of_headers(server.spec.headers_from.as_deref(), namespace);
    headers.chain(authorities).collect()
}

fn of_headers(refs: Option<&[ValueRef]>, namespace: &str) -> impl Iterator<Item = Reference> {
    let sources = refs
        .unwrap_or_default()
        .iter()
        .filter_map(|each| each.value_from.as_ref());
    sources.map(move |source| of_source(source, namespace))
}

fn of_source(source: &ValueSource, namespace: &str) -> Reference {
    let kind = match source.r#type.as_str() {
        "Secret" => Kind::Secret,
        _ => Kind::ConfigMap,
    };
    Reference::new(kind, namespace, &source.name)
}

struct Needed<'a> {
    namespace: &'a str,
    known: &'a Resources,
    settings: &'a Settings,
    all: References,
}

impl Needed<'_> {
    fn add(&mut self, kind: Kind, namespace: &str, name: &str) {
        self.all.insert(Reference::new(kind, namespace, name));
    }

    fn declarative(&mut self, declarative: &DeclarativeAgent) {
        for name in models(declarative) {
            self.model(&name);
        }
        if let Some(source) = &declarative.system_message_from {
            self.all.insert(of_source(source, self.namespace));
        }
        let template = declarative.prompt_template.as_ref();
        for source in template
            .iter()
            .flat_map(|template| template.data_sources.iter().flatten())
        {
            self.add(Kind::ConfigMap, self.namespace, &source.name);
        }
        for tool in declarative.tools.iter().flatten() {
            self.tool(tool);
        }
    }

    fn model(&mut self, name: &str) {
        self.add(Kind::ModelConfig, self.namespace, name);
        if let Some(model) = self.known.find::<ModelConfig>(self.namespace, name) {
            self.all.extend(of_model(&model.spec, self.namespace));
        }
    }

    fn tool(&mut self, tool: &Tool) {
        self.all
            .extend(of_headers(tool.headers_from.as_deref(), self.namespace));
        match (&tool.mcp_server, &tool.agent) {
            (Some(wanted), _) => self.server(&wanted.server),
            (None, Some(agent)) => self.elsewhere(agent),
            (None, None) => {}
        }
    }

    /// Who may use what from another namespace may be a question of labels.
    fn elsewhere(&mut self, reference: &TypedReference) {
        if namespace_of(reference, self.namespace) != self.namespace {
            self.add(Kind::Namespace, "", self.namespace);
        }
    }

    fn server(&mut self, reference: &TypedReference) {
        let Ok(kind) = ServerKind::of(reference) else {
            return;
        };
        self.elsewhere(reference);
        let namespace = namespace_of(reference, self.namespace);
        let kind = match kind {
            ServerKind::McpServer => Kind::MCPServer,
            ServerKind::Service => Kind::Service,
            ServerKind::RemoteMcpServer => Kind::RemoteMCPServer,
        };
        self.add(kind, namespace, &reference.name);
        let server = self
            .known
            .find::<RemoteMCPServer>(namespace, &reference.name);
        if let Some(server) = server.filter(|_| kind == Kind::RemoteMCPServer) {
            self.all.extend(of_server(server));
            if self.settings.proxy_url.is_some()
                && let Some(host) = proxy::namespace_in(&server.spec.url)
            {
                self.add(Kind::Namespace, "", &host);
            }
        }
    }

    /// The agents that an agent uses, and those that they use, as far as they are known.
    fn chain(&mut self, agent: &Agent) {
        let own = agent.metadata.namespace.as_deref().unwrap_or_default();
        for reference in agents_of(agent) {
            let kind = match reference.kind.as_deref() {
                Some("SandboxAgent") => Kind::SandboxAgent,
                _ => Kind::Agent,
            };
            let namespace = namespace_of(reference, own);
            let other = Reference::new(kind, namespace, &reference.name);
            if self.all.insert(other)
                && let Some(next) = self.known.find::<Agent>(namespace, &reference.name)
            {
                self.chain(next);
            }
        }
    }
}

/// Every model that an agent uses.
fn models(declarative: &DeclarativeAgent) -> Vec<String> {
    let own = model_name(declarative);
    let memory = declarative
        .memory
        .as_ref()
        .map(|memory| memory.model_config.as_str());
    let context = declarative.context.as_ref();
    let compaction = context.and_then(|context| context.compaction.as_ref());
    let summarizer = compaction.and_then(|compaction| compaction.summarizer.as_ref());
    let summarizer = summarizer.and_then(|it| summarizer_name(it, own));
    [Some(own), memory, summarizer]
        .into_iter()
        .flatten()
        .map(str::to_owned)
        .collect()
}
