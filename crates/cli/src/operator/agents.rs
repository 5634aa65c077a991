//! What can be said about the Agent operator.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use clap::Args;
use evenkeel_agent_operator::operator::Options;
use evenkeel_agent_operator::translate::Settings;

use crate::environment;

/// What all agents have in common. What is not said is as in kagent.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Agents")]
pub(crate) struct AgentOptions {
    /// Only the agents, models and servers of these namespaces [default: all].
    #[arg(
        long = "agents-watch-namespaces",
        value_name = "NS",
        value_delimiter = ','
    )]
    watch: Vec<String>,

    /// A gateway for requests to agents and servers of the cluster.
    #[arg(long = "agents-proxy-url", value_name = "URL")]
    proxy_url: Option<String>,

    /// The service account of agents that name none [default: one for each agent].
    #[arg(long = "agents-default-service-account", value_name = "NAME")]
    service_account: Option<String>,

    /// Labels of all pods of agents.
    #[arg(long = "agents-pod-labels", value_name = "KEY=VALUE", value_delimiter = ',', value_parser = label)]
    pod_labels: Vec<(String, String)>,

    /// Where the images of runtimes come from [default: ghcr.io].
    #[arg(long = "agents-image-registry", value_name = "HOST")]
    image_registry: Option<String>,

    /// Their tag [default: dev].
    #[arg(long = "agents-image-tag", value_name = "TAG")]
    image_tag: Option<String>,

    /// When they are pulled [default: IfNotPresent].
    #[arg(long = "agents-image-pull-policy", value_name = "POLICY")]
    image_pull_policy: Option<String>,

    /// The Secret for pulling them.
    #[arg(long = "agents-image-pull-secret", value_name = "NAME")]
    image_pull_secret: Option<String>,

    /// Where agents report to [default: port 8083 of kagent-controller.kagent].
    #[arg(long = "agents-controller-url", value_name = "URL")]
    controller_url: Option<String>,

    /// Where people look at agents.
    #[arg(long = "agents-ui-url", value_name = "URL")]
    ui_url: Option<String>,

    /// How often servers are asked which tools they offer [default: 60].
    #[arg(long = "agents-refresh-tools", value_name = "SECONDS")]
    refresh: Option<u32>,

    /// How many agents restart their pods at once when these options change [default: 10].
    #[arg(long = "agents-rollouts", value_name = "COUNT")]
    rollouts: Option<NonZeroUsize>,
}

fn label(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
    let pair = pair.ok_or_else(|| "a label is KEY=VALUE".to_owned())?;
    Ok((pair.0.to_owned(), pair.1.to_owned()))
}

impl AgentOptions {
    /// What the options say, and what telemetry is told in the environment.
    pub(super) fn options(&self) -> Options {
        let plain = Options::default();
        let refresh = self.refresh.map(|seconds| seconds.max(1).into());
        Options {
            settings: self.settings(plain.settings),
            refresh: refresh.map_or(plain.refresh, Duration::from_secs),
            rollouts: self.rollouts.unwrap_or(plain.rollouts),
            numbers: plain.numbers,
        }
    }

    fn settings(&self, plain: Settings) -> Settings {
        let or = |said: &Option<String>, plain: String| said.clone().unwrap_or(plain);
        let watched = self.watch.iter().cloned().collect();
        Settings {
            image_registry: or(&self.image_registry, plain.image_registry),
            image_tag: or(&self.image_tag, plain.image_tag),
            image_pull_policy: or(&self.image_pull_policy, plain.image_pull_policy),
            image_pull_secret: self.image_pull_secret.clone(),
            default_service_account: self.service_account.clone(),
            default_pod_labels: self.pod_labels.iter().cloned().collect(),
            proxy_url: self.proxy_url.clone(),
            controller_url: or(&self.controller_url, plain.controller_url),
            ui_url: self.ui_url.clone(),
            telemetry: telemetry(environment::variables()),
            watched: Some(watched).filter(|_| !self.watch.is_empty()),
            namespaces: plain.namespaces,
        }
    }
}

/// The variables that telemetry reads; agents are handed them on.
fn telemetry(variables: impl IntoIterator<Item = (String, String)>) -> BTreeMap<String, String> {
    let all = variables.into_iter();
    all.filter(|(name, _)| name.starts_with("OTEL_")).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        agents: AgentOptions,
    }

    fn said(arguments: &[&str]) -> Options {
        let line = std::iter::once(&"operator").chain(arguments);
        Line::try_parse_from(line)
            .expect("options")
            .agents
            .options()
    }

    #[test]
    fn what_is_not_said_is_as_in_kagent() {
        let (plain, said) = (Options::default(), said(&[]));
        let settings = Settings {
            telemetry: BTreeMap::new(),
            ..said.settings
        };
        assert_eq!(settings, plain.settings);
        assert_eq!(
            (said.refresh, said.rollouts),
            (plain.refresh, plain.rollouts)
        );
    }

    #[test]
    fn what_is_said_reaches_the_operator() {
        let options = said(&[
            "--agents-watch-namespaces=a,b",
            "--agents-pod-labels=team=x,tier=y",
            "--agents-image-tag=1.2",
            "--agents-refresh-tools=5",
            "--agents-rollouts=3",
        ]);
        let settings = options.settings;
        let watched = settings.watched.expect("some");
        assert_eq!(watched.iter().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(settings.default_pod_labels["tier"], "y");
        assert_eq!(settings.image_tag, "1.2");
        assert_eq!((options.refresh.as_secs(), options.rollouts.get()), (5, 3));
        assert!(Line::try_parse_from(["operator", "--agents-pod-labels=x"]).is_err());
    }

    #[test]
    fn telemetry_is_handed_on() {
        let pair = |name: &str| (name.to_owned(), "x".to_owned());
        let told = telemetry([pair("OTEL_SERVICE_NAME"), pair("HOME")]);
        assert_eq!(told.into_keys().collect::<Vec<_>>(), ["OTEL_SERVICE_NAME"]);
    }
}
