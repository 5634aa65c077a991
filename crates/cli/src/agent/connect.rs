//! The way into the cluster.

use anyhow::{Context, bail};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::settings::KubernetesSection;

/// A cluster that can be reached, and how it is called.
pub(crate) struct Way {
    pub(crate) client: Client,
    pub(crate) name: String,
}

/// The cluster that is named, or the one that this process runs in. No context is ever guessed.
pub(crate) async fn connect(said: &KubernetesSection) -> anyhow::Result<Way> {
    let mut config = match &said.kubeconfig {
        Some(_) => named(said).await?,
        None if said.context.is_some() => bail!("a context without a file: say --kubeconfig FILE"),
        None => Config::incluster().context(
            "this does not run in a cluster; say --kubeconfig FILE, and --kube-context NAME if it has several",
        )?,
    };
    // The agent knows better what may be sent twice.
    config.default_retry = false;
    let name = config.cluster_url.to_string();
    let client =
        Client::try_from(config).context("the cluster's address or keys cannot be used")?;
    Ok(Way { client, name })
}

async fn named(said: &KubernetesSection) -> anyhow::Result<Config> {
    let path = said.kubeconfig.clone().unwrap_or_default();
    let file = Kubeconfig::read_from(&path)
        .with_context(|| format!("cannot read the kubeconfig {}", path.display()))?;
    let options = KubeConfigOptions {
        context: said.context.clone(),
        ..KubeConfigOptions::default()
    };
    Config::from_custom_kubeconfig(file, &options)
        .await
        .with_context(|| format!("cannot use the kubeconfig {}", path.display()))
}
