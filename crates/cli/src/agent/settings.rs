//! The settings of an agent that runs, from a file, the environment and flags.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, bail};
use evenkeel_agent::Settings;
use evenkeel_settings::Layers;
use serde::{Deserialize, Serialize};

use super::running::Run;
use crate::environment;
use crate::remote::{Remote, given};

/// Everything that can be set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Config {
    pub(super) agent: Settings,
    pub(super) broker: BrokerSection,
    pub(super) kubernetes: KubernetesSection,
    pub(super) vitals: VitalsSection,
}

/// Which broker to ask, and with which key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct BrokerSection {
    pub(super) url: Option<String>,
    /// The key, or `@FILE`.
    pub(super) key: Option<String>,
    /// The authorities (PEM) that alone are trusted to have signed its certificate.
    pub(super) ca_file: Option<PathBuf>,
}

/// Which cluster to work in; the one that the agent runs in if nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct KubernetesSection {
    pub(crate) kubeconfig: Option<PathBuf>,
    pub(crate) context: Option<String>,
}

/// Where health and metrics are shown, if anywhere.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct VitalsSection {
    pub(super) listen: Option<SocketAddr>,
}

impl Config {
    /// The settings as YAML, fit to be shown: the key is only said to be there.
    pub(super) fn shown(&self) -> String {
        let mut shown = self.clone();
        shown.broker.key = shown.broker.key.map(|_| "(set)".to_owned());
        serde_saphyr::to_string(&shown).unwrap_or_default()
    }

    /// The broker's address and the agent's key.
    pub(super) fn broker(&self) -> anyhow::Result<(&str, String)> {
        let Some(url) = self.broker.url.as_deref() else {
            bail!("no broker is named: say --broker URL");
        };
        let Some(key) = &self.broker.key else {
            bail!("the agent has no key: say --key @FILE; `evenkeel agent create` prints one");
        };
        Ok((url, given(key)?))
    }
}

/// Lays what was said on the defaults: file, environment, `--set`, then the flags of their own.
pub(super) fn of(run: &Run, remote: &Remote) -> anyhow::Result<Config> {
    let mut layers = Layers::<Config>::default();
    if let Some(path) = &run.config {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        layers = layers.file(path, &text)?;
    }
    layers = layers.environment(environment::variables())?;
    for setting in &run.set {
        let Some((key, value)) = setting.split_once('=') else {
            bail!("--set {setting}: write it as section.key=value, such as agent.drift=warn");
        };
        layers = layers.set(key, value)?;
    }
    Ok(with_flags(layers.finish(), run, remote))
}

fn with_flags(mut config: Config, run: &Run, remote: &Remote) -> Config {
    let (broker, kubernetes) = (&mut config.broker, &mut config.kubernetes);
    broker.url = remote.broker.clone().or(broker.url.take());
    broker.key = remote.key.clone().or(broker.key.take());
    broker.ca_file = remote.ca_file.clone().or(broker.ca_file.take());
    kubernetes.kubeconfig = run.kubeconfig.clone().or(kubernetes.kubeconfig.take());
    kubernetes.context = run.kube_context.clone().or(kubernetes.context.take());
    config.vitals.listen = run.vitals.or(config.vitals.listen);
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_specifications_file_is_understood() {
        let text = "agent:\n  polling_interval: 45  # seconds\n";
        let layers = Layers::<Config>::default();
        let config = layers.file("agent.yaml".as_ref(), text).unwrap().finish();
        assert_eq!(config.agent.polling_interval.as_secs(), 45);
    }

    #[test]
    fn flags_come_before_everything_else_and_keys_are_not_shown() {
        let mut said = Config::default();
        said.broker.url = Some("http://file".into());
        said.broker.key = Some("secret".into());
        let remote = Remote {
            broker: Some("http://flag".into()),
            ..Remote::default()
        };
        let config = with_flags(said, &Run::default(), &remote);
        assert_eq!(
            config.broker().unwrap(),
            ("http://flag", "secret".to_owned())
        );
        assert!(!config.shown().contains("secret"));
    }
}
