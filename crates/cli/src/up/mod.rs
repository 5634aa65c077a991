//! `evenkeel up`: all that there is, on this machine.

mod cluster;
mod port;
mod screen;
mod shapes;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use evenkeel_broker::Config;

use crate::args::UpOptions;
use crate::broker::RunningBroker;
use crate::data_dir::DataDir;
use crate::{environment, signals};
use cluster::RunningCluster;
use shapes::RunningShapes;

/// Starts everything, says what runs where, and stays until it is told to stop.
pub(crate) async fn run(options: UpOptions) -> anyhow::Result<()> {
    let home = Home::of(&options)?;
    let data = DataDir::open(home.path())?;
    let broker = start_broker(&data).await?;
    let clusters = start_clusters(&options.clusters, &data).await?;
    let shapes = start_shapes(&clusters, &data).await?;
    let cloud = shapes.as_ref().map(RunningShapes::url);
    screen::show(&options, &data, &broker, &clusters, cloud)?;
    signals::told_to_stop().await?;
    screen::say_goodbye(&options, &data)?;
    if let Some(shapes) = shapes {
        shapes.stop().await;
    }
    for cluster in clusters {
        cluster.stop().await;
    }
    broker.stop().await;
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

    fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(dir) => dir.path(),
        }
    }
}

async fn start_broker(data: &DataDir) -> anyhow::Result<RunningBroker> {
    let listener = port::listen(&data.of_broker("port")).await?;
    let mut config = Config::default();
    let file = data.of_broker("evenkeel.db");
    config.database.url = Some(format!("sqlite://{}", file.display()));
    config.database.data_dir = file.parent().map(Path::to_owned);
    RunningBroker::start(config, listener).await
}

/// In the first cluster, if there is one.
async fn start_shapes(
    clusters: &[RunningCluster],
    data: &DataDir,
) -> anyhow::Result<Option<RunningShapes>> {
    let Some(first) = clusters.first() else {
        return Ok(None);
    };
    let shapes = RunningShapes::start(first, data).await;
    shapes.map(Some).context("cannot start the shapes cloud")
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
