//! What can be said about the Shape operator.

use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use evenkeel_controller::Manager;
use evenkeel_reconcile::Tenancy;
use evenkeel_shape_operator::{Marking, OrphanMode, Settings, Transport, add_to, over_http};
use jiff::SignedDuration;
use prometheus_client::registry::Registry;

use super::running::Run;

/// How Shapes become shapes in a cloud.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Shapes")]
pub(crate) struct ShapeOptions {
    /// The address of the shapes cloud; without it Shapes are left alone.
    #[arg(
        long = "shapes-cloud",
        value_name = "URL",
        env = "EVENKEEL_SHAPES_CLOUD"
    )]
    pub(crate) cloud: Option<String>,

    /// How the operator knows its own shapes.
    #[arg(long = "shapes-owned-by", value_enum, default_value_t = OwnedBy::Labels)]
    owned_by: OwnedBy,

    /// The name in its labels, or with a dash the prefix of its names; no two clusters that share a
    /// cloud may have the same.
    #[arg(long = "shapes-owner", value_name = "NAME", default_value = "k8s")]
    owner: String,

    /// Nobody else uses the cloud: remove what nobody declared.
    #[arg(long = "shapes-exclusive")]
    exclusive: bool,

    /// What becomes of shapes of ours that nobody declares any more.
    #[arg(long = "shapes-orphans", value_enum, default_value_t = Orphans::Collect)]
    orphans: Orphans,

    /// How often the whole cloud is listed.
    #[arg(long = "shapes-survey", value_name = "SECONDS", default_value_t = 60)]
    survey: u32,

    /// How long the cloud may take to show what it made.
    #[arg(long = "shapes-window", value_name = "SECONDS", default_value_t = 30)]
    window: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OwnedBy {
    /// By labels on each shape.
    Labels,
    /// By the beginning of its name.
    Prefix,
    /// By ShapeRefs in the cluster.
    Checkpoint,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Orphans {
    /// They are removed, after a grace and a few at a time.
    Collect,
    /// They are named in the log.
    DryRun,
    /// Nobody looks.
    Off,
}

impl ShapeOptions {
    /// For the cloud at `url`, which is close by and quick.
    pub(crate) fn at(url: &str) -> Self {
        Self {
            cloud: Some(url.to_owned()),
            owned_by: OwnedBy::Labels,
            owner: "k8s".to_owned(),
            exclusive: false,
            orphans: Orphans::Collect,
            survey: 5,
            window: 2,
        }
    }

    /// What the options say.
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let marking = match self.owned_by {
            OwnedBy::Labels => Marking::labels(&self.owner)?,
            OwnedBy::Prefix => Marking::prefix(&format!("{}-", self.owner))?,
            OwnedBy::Checkpoint => Marking::Checkpoint,
        };
        let mut settings = Settings::new(marking);
        settings.survey = Duration::from_secs(self.survey.max(1).into());
        settings.window = SignedDuration::from_secs(self.window.into());
        if self.exclusive {
            settings.tenancy = Tenancy::Exclusive;
        }
        settings.orphans.mode = match self.orphans {
            Orphans::Collect => OrphanMode::Collect,
            Orphans::DryRun => OrphanMode::DryRun,
            Orphans::Off => OrphanMode::Off,
        };
        Ok(settings)
    }

    /// The way to the cloud, if there is one.
    pub(crate) fn transport(&self) -> anyhow::Result<Option<Transport>> {
        let way = self.cloud.as_deref().map(over_http).transpose();
        way.context("cannot make a client for the shapes cloud")
    }
}

/// Adds the Shape operator, if there is a cloud.
pub(super) fn add(manager: Manager, run: &Run, _: &mut Registry) -> anyhow::Result<Manager> {
    let settings = run.shape.settings()?;
    Ok(match run.shape.transport()? {
        Some(transport) => add_to(manager, transport, settings),
        None => manager,
    })
}
