//! `evenkeel up`: all that there is, on this machine.
//!
//! ```text
//! home ─▶ broker ─▶ clusters ─▶ agents ─▶ sample ─▶ context ─▶ progress until converged ─▶ operators ─▶ screen
//! ```
//!
//! Everything that runs is a [`part`]: it is started with what it needs of those before it, says
//! what there is to know of it, and is stopped in reverse order. A new part is one file and one
//! line in [`start`].

mod agents;
mod broker;
mod cluster;
mod context;
mod home;
mod operators;
pub(crate) mod options;
mod part;
mod port;
mod progress;
mod sample;
mod samples;
mod screen;

use evenkeel_client::Client;
use tokio::time::Instant;

use crate::data_dir::DataDir;
use crate::output::{Format, Out};
use crate::remote::Session;
use crate::signals;
use home::Home;
use options::UpOptions;
use part::Parts;
use progress::Progress;

/// Starts everything, says what runs where, and stays until it is told to stop.
pub(crate) async fn run(options: UpOptions) -> anyhow::Result<()> {
    let begun = Instant::now();
    let home = Home::of(&options)?;
    let data = DataDir::open(home.path())?;
    let mut parts = Parts::default();
    let ended = tokio::select! {
        stopped = signals::told_to_stop() => stopped.map_err(Into::into),
        failed = start_and_stay(&options, &data, &mut parts, begun) => failed,
    };
    if ended.is_ok() {
        screen::say_goodbye(&options, &data)?;
    }
    parts.stop().await;
    ended
}

/// Starts everything; comes back only if that fails.
async fn start_and_stay(
    options: &UpOptions,
    data: &DataDir,
    parts: &mut Parts,
    begun: Instant,
) -> anyhow::Result<()> {
    start(options, data, parts, begun).await?;
    std::future::pending().await
}

/// Starts one part after the other, each on those before it.
async fn start(
    options: &UpOptions,
    data: &DataDir,
    parts: &mut Parts,
    begun: Instant,
) -> anyhow::Result<()> {
    let broker = broker::start(options, data).await?;
    let client = Client::new(&broker.url(), broker.key())?;
    let session = Session::new(client, broker.url(), Out::new(Format::Table));
    parts.add(broker);
    let clusters = cluster::start(options, data).await?;
    let places = clusters.places();
    parts.add(clusters);
    parts.add(agents::start(&session, data, &places).await?);
    let sample = sample::deliver(options, &session, data).await?;
    parts.add(context::enter(options, &session, data));
    let progress = Progress::new(options, begun).follow(&session).await?;
    if let Some(operators) = operators::start(&places, data).await? {
        parts.add(operators);
    }
    Ok(screen::show(options, parts, &progress, sample)?)
}
