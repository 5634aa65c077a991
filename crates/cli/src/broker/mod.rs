//! `evenkeel broker`: the control plane as a service of its own.

mod running;
mod settings;

use std::io::{self, Write};

use anyhow::Context;
use evenkeel_broker::FirstKey;
use tokio::net::TcpListener;

use crate::args::BrokerOptions;
use crate::signals;
pub(crate) use running::RunningBroker;

/// Runs a broker until it is told to stop, or prints its settings.
pub(crate) async fn run(options: BrokerOptions) -> anyhow::Result<()> {
    let config = settings::of(&options)?;
    if options.print_config {
        write!(io::stdout(), "{}", config.shown())?;
        return Ok(());
    }
    let listen = config.server.listen;
    let listener = TcpListener::bind(listen).await.with_context(|| {
        format!("cannot listen on {listen}; choose another address with --listen")
    })?;
    let broker = RunningBroker::start(config, listener).await?;
    announce(&broker)?;
    signals::told_to_stop().await?;
    broker.stop().await;
    Ok(())
}

fn announce(broker: &RunningBroker) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "The broker listens on {}", broker.url())?;
    if let Some(key) = broker.first_key() {
        show_key(&mut out, key)?;
    }
    out.flush()
}

/// The one time that the key can be seen.
fn show_key(out: &mut impl Write, first: &FirstKey) -> io::Result<()> {
    writeln!(
        out,
        "\nThis is its first start. The administrator's key, shown only now:"
    )?;
    writeln!(out, "  {}", first.key)?;
    match &first.file {
        Some(file) => writeln!(out, "It is also in {}, for its owner only.", file.display()),
        None => writeln!(out, "Keep it: it is written down nowhere."),
    }
}
