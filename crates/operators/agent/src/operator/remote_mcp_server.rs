//! The controller of remote MCP servers: asks them which tools they offer, again and again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use evenkeel_controller::{
    Context, Controller, Metadata, Outcome, Ran, ReasonWord, Reconciler, Status, Verb, Verdict,
    Watch,
};
use evenkeel_reconcile::Delays;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};

use super::error::OperatorError;
use super::verdicts::ACCEPTED;
use super::{gather, is_paused, is_watched, references, secrets};
use crate::api::RemoteMCPServer;
use crate::api::status::McpTool;
use crate::mcp::{self, Endpoint};
use crate::translate::{Resources, Server, TranslateError, tls, values};

/// How long a server may take when nobody says.
const TIMEOUT: Duration = Duration::from_secs(30);
/// One that is asked for longer keeps its own queue waiting, but not for ever.
const LONGEST_TIMEOUT: f64 = 300.0;

/// Asks servers which tools they offer.
#[derive(Debug)]
pub struct Servers {
    watched: Option<BTreeSet<String>>,
}

/// What it is for, what wakes it, what it writes.
pub fn controller(watched: Option<BTreeSet<String>>, refresh: Duration) -> Controller<Servers> {
    Controller::new("evenkeel-remote-mcp-server", Servers { watched })
        .follows(Watch::<Metadata<Secret>>::all())
        .follows(Watch::<Metadata<ConfigMap>>::all())
        .settings(|settings| settings.delays = Delays::resync_every(refresh))
        .writes::<Secret>(&[Verb::Get])
        .writes::<ConfigMap>(&[Verb::Get])
        .writes_part::<RemoteMCPServer>("status", &[Verb::Update])
}

/// What was learnt of a server.
struct Learnt {
    secret_hash: Result<Option<String>, TranslateError>,
    tools: Result<Vec<McpTool>, OperatorError>,
}

impl Reconciler for Servers {
    type Kind = RemoteMCPServer;
    type Error = OperatorError;

    async fn reconcile(&self, server: Arc<RemoteMCPServer>, cx: Context) -> Ran<OperatorError> {
        if is_paused(&*server) || !is_watched(self.watched.as_ref(), &*server) {
            return Ok(Outcome::Done);
        }
        let resources = gather::all_of(&references::of_server(&server), &cx).await?;
        let learnt = Learnt {
            secret_hash: secrets::of_server(&server, &resources),
            tools: discover(&server, &resources).await,
        };
        let verdict = verdict(&learnt);
        let written = cx.set_status(&*server, [verdict], |status| {
            if let Ok(tools) = &learnt.tools {
                status.discovered_tools = Some(tools.clone());
            }
            if let Ok(hash) = &learnt.secret_hash {
                status.secret_hash.clone_from(hash);
            }
        });
        written.await?;
        Ok(match learnt.tools {
            Ok(_) => Outcome::Done,
            Err(OperatorError::Translate(error)) => Outcome::wait(error.to_string()),
            Err(error) => Outcome::failed(error),
        })
    }
}

/// The tools that were known stay when a server cannot be asked.
fn verdict(learnt: &Learnt) -> Verdict {
    let (status, reason, message) = match &learnt.tools {
        Ok(_) => (
            Status::True,
            ReasonWord::of("Reconciled"),
            "Remote MCP server configuration accepted".to_owned(),
        ),
        Err(error) => (
            Status::False,
            ReasonWord::of("ReconcileFailed"),
            evenkeel_ambient::chain(error),
        ),
    };
    Verdict {
        kind: ACCEPTED.into(),
        status,
        reason,
        message,
    }
}

async fn discover(
    server: &RemoteMCPServer,
    resources: &Resources,
) -> Result<Vec<McpTool>, OperatorError> {
    let described = Server::remote(server)?;
    let endpoint = endpoint(&described, resources)?;
    Ok(mcp::tools(&endpoint).await?)
}

fn endpoint(server: &Server, resources: &Resources) -> Result<Endpoint, TranslateError> {
    let headers = values::headers(server.headers.as_deref(), &server.namespace, resources)?;
    let tls = server.tls.clone().unwrap_or_default();
    let authorities = tls::authorities(&tls);
    let authorities = authorities
        .map(|(name, key)| values::secret_value(&server.namespace, name, key, resources))
        .transpose()?;
    let seconds = server.timeout.filter(|seconds| *seconds > 0.0);
    Ok(Endpoint {
        url: server.url.clone(),
        protocol: server.protocol,
        headers,
        timeout: seconds.map_or(TIMEOUT, |seconds| {
            Duration::from_secs_f64(seconds.min(LONGEST_TIMEOUT))
        }),
        authorities,
        only_these_authorities: tls.disable_system_cas.unwrap_or_default(),
        skip_verification: tls.disable_verify.unwrap_or_default(),
    })
}
