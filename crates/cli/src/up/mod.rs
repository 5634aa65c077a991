//! `evenkeel up`: all that there is, on this machine.

mod cluster;
mod screen;

use std::path::PathBuf;

use anyhow::{Context, bail};
use tokio::signal::unix::{SignalKind, signal};

use crate::args::UpOptions;
use crate::data_dir::DataDir;
use crate::environment;
use cluster::RunningCluster;

/// Starts everything, says what runs where, and stays until it is told to stop.
pub(crate) async fn run(options: UpOptions) -> anyhow::Result<()> {
    let home = Home::of(&options)?;
    let data = DataDir::open(home.path())?;
    let clusters = start_clusters(&options.clusters, &data).await?;
    screen::show(&options, &data, &clusters)?;
    wait_for_signal().await?;
    screen::say_goodbye(&options, &data)?;
    for cluster in clusters {
        cluster.stop().await;
    }
    Ok(())
}

/// Where state lives: a directory of the user's, or one that goes with the process.
#[derive(Debug)]
enum Home {
    Kept(PathBuf),
    Temporary(tempfile::TempDir),
}

impl Home {
    fn of(options: &UpOptions) -> anyhow::Result<Self> {
        if options.ephemeral {
            let dir = tempfile::tempdir().context("cannot make a temporary directory")?;
            return Ok(Self::Temporary(dir));
        }
        let default = || environment::data_home().map(|home| home.join("evenkeel"));
        match options.data_dir.clone().or_else(default) {
            Some(path) => Ok(Self::Kept(path)),
            None => bail!("neither XDG_DATA_HOME nor HOME is set: say --data-dir or --ephemeral"),
        }
    }

    fn path(&self) -> &std::path::Path {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(dir) => dir.path(),
        }
    }
}

async fn start_clusters(names: &[String], data: &DataDir) -> anyhow::Result<Vec<RunningCluster>> {
    let mut clusters = Vec::with_capacity(names.len());
    for name in names {
        if clusters
            .iter()
            .any(|other: &RunningCluster| other.name == *name)
        {
            bail!("cluster {name} is named twice");
        }
        let cluster = RunningCluster::start(name, data)
            .await
            .with_context(|| format!("cannot start cluster {name}"))?;
        clusters.push(cluster);
    }
    Ok(clusters)
}

/// Returns when somebody presses Ctrl-C or ends the process in good order.
async fn wait_for_signal() -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed,
        _ = terminate.recv() => Ok(()),
    }
}
