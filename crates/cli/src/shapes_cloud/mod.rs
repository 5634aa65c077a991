//! `evenkeel shapes-cloud`: a cloud to practise on.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_shapes_cloud::{Cloud, Vices, serve};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;
use crate::signals;

/// Run a cloud that makes shapes, with the vices of real clouds, for operators to practise on.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  evenkeel shapes-cloud                                       a cloud without vices on 127.0.0.1:8383
  evenkeel shapes-cloud --vices '{\"appearsAfter\": 5000, \"losesReplies\": 20}'
  curl -X POST localhost:8383/v1/shapes -H 'content-type: application/json' \\
       -d '{\"name\": \"bar\", \"type\": \"Circle\", \"colour\": \"red\"}'
  curl 'localhost:8383/v1/shapes?limit=10'
  curl -X DELETE localhost:8383/v1/shapes/ID
  curl -X PUT localhost:8383/v1/vices -H 'content-type: application/json' -d '{\"noLabels\": true}'

Vices: appearsAfter and slow in milliseconds; fails and losesReplies of a hundred calls; rate in calls
per second; noLabels; noTokens. Shapes are kept in memory and go with the process.")]
pub(crate) struct ShapesCloud {
    /// The address to listen on; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8383")]
    listen: SocketAddr,

    /// What is wrong with it from the start, as JSON; can be changed at /v1/vices.
    #[arg(long, value_name = "JSON", default_value = "{}", value_parser = vices)]
    vices: Vices,
}

fn vices(text: &str) -> Result<Vices, serde_json::Error> {
    serde_json::from_str(text)
}

/// A cloud without shapes, on the machine's clock and dice.
pub(crate) fn new_cloud() -> Arc<Cloud> {
    Arc::new(Cloud::new(Arc::new(SystemClock), Arc::new(SystemRandom)))
}

impl ShapesCloud {
    /// Runs until it is told to stop.
    pub(crate) async fn run(self) -> anyhow::Result<Exit> {
        let listen = self.listen;
        let listener = TcpListener::bind(listen).await.with_context(|| {
            format!("cannot listen on {listen}; choose another address with --listen")
        })?;
        let cloud = new_cloud();
        cloud.set_vices(self.vices);
        let address = listener.local_addr()?;
        writeln!(
            io::stdout(),
            "The shapes cloud is at http://{address}/v1/shapes"
        )?;
        let stop = CancellationToken::new();
        let serving = tokio::spawn(serve(listener, cloud, stop.clone()));
        signals::told_to_stop().await?;
        stop.cancel();
        serving.await.context("the cloud panicked")??;
        Ok(Exit::Done)
    }
}
