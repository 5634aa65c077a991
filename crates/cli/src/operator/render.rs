//! `operator render`: what the operators would make, without a cluster.

use std::io::{self, Write};

use clap::{Args, ValueEnum};
use evenkeel_agent_operator::offline::{AgentName, Documents};
use evenkeel_agent_operator::translate::Translation;

use super::databases::Databases;
use crate::exit::Exit;
use crate::output::yaml;
use crate::remote::failure::Trouble;
use crate::verb::source::Source;

/// Show the objects that agents and databases would become, without a cluster.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel operator render -f agents/                      every agent in the files, as manifests
  evenkeel operator render -f agents/ --name bot -o json   its card, configuration and manifests
  kubectl get agent,modelconfig,cm -o yaml | evenkeel operator render -f -
  evenkeel operator render -f database.yaml                what a Database becomes, but for its Secret

The files hold Agents and all that they refer to: as Kubernetes documents, or as one file in the form
of kagent's golden tests. Nobody can be asked which namespaces exist, so a host such as tools.kagent is
taken for one of the cluster unless the files name Namespaces. Values of Secrets appear in the output.")]
pub(crate) struct Render {
    #[command(flatten)]
    pub(super) input: Input,

    /// The form of the answer.
    #[arg(short, long, value_enum, default_value_t = Form::Yaml)]
    output: Form,
}

/// Which agents are meant, and what the operator was told about all of them.
#[derive(Debug, Args)]
pub(crate) struct Input {
    #[command(flatten)]
    pub(super) source: Source,

    /// Only the agent or database of this name.
    #[arg(long, value_name = "AGENT")]
    pub(super) name: Option<String>,

    /// The namespace of the agents, and of documents that name none.
    #[arg(short, long, value_name = "NS")]
    pub(super) namespace: Option<String>,

    /// A gateway for requests to agents and servers of the cluster.
    #[arg(long, value_name = "URL")]
    proxy_url: Option<String>,

    /// The service account of agents that name none.
    #[arg(long, value_name = "NAME")]
    default_service_account: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The objects, as documents.
    Yaml,
    /// One object {agentCard, config, manifest}, as in kagent's golden files.
    Json,
}

impl Input {
    /// The agents that are meant, translated; for a comparison with a cluster, as it would keep
    /// them and with the hashes of their Secrets.
    pub(super) fn translated(
        self,
        texts: &[(String, String)],
        for_cluster: bool,
    ) -> anyhow::Result<Vec<(AgentName, Translation)>> {
        let mut documents = match for_cluster {
            true => Documents::as_served(self.namespace),
            false => Documents::new(self.namespace),
        };
        for (file, text) in texts {
            documents.read(file, text)?;
        }
        let settings = &mut documents.settings;
        settings.proxy_url = self.proxy_url.or(settings.proxy_url.take());
        let account = settings.default_service_account.take();
        settings.default_service_account = self.default_service_account.or(account);
        if for_cluster {
            documents.hash_secrets();
        }
        let agents = documents.agents(self.name.as_deref())?;
        let translated = agents.into_iter().map(|agent| {
            let translation = documents.translate(&agent)?;
            Ok((agent, translation))
        });
        translated.collect()
    }
}

impl Render {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let texts = self.input.source.texts()?;
        let databases = Databases::among(&texts, &self.input)?;
        if databases.are_all() {
            io::stdout().write_all(databases.manifests()?.as_bytes())?;
            return Ok(Exit::Done);
        }
        let agents = self.input.translated(&texts, false)?;
        let text = match (self.output, agents.as_slice()) {
            (Form::Yaml, agents) => {
                let agents: String = agents.iter().map(|(_, agent)| manifests(agent)).collect();
                agents + &databases.manifests()?
            }
            (Form::Json, [(_, agent)]) => format!("{:#}\n", agent.golden()),
            (Form::Json, agents) => {
                let names: Vec<_> = agents.iter().map(|(name, _)| name.to_string()).collect();
                let text = format!("choose one agent with --name: {}", names.join(", "));
                return Err(Trouble::Usage(text).into());
            }
        };
        io::stdout().write_all(text.as_bytes())?;
        Ok(Exit::Done)
    }
}

fn manifests(agent: &Translation) -> String {
    let objects = agent.manifest().into_iter();
    objects
        .map(|object| format!("---\n{}", yaml(&object)))
        .collect()
}
