//! The broker: what asking costs, how many agents can wait, how fast a change reaches them all,
//! how many revisions a second it takes, and whether any of that changes as history grows.

mod fleet;
mod growth;
mod history;
mod polls;
mod server;
mod submits;
mod waiting;

use clap::{Parser, ValueEnum};
use server::Server;

/// What a broker can bear. Without an address it starts one of its own in another process; with
/// one it measures whatever answers there, as long as it speaks the same API.
#[derive(Debug, Clone, Parser)]
struct Options {
    /// Measure these only.
    #[arg(long, value_delimiter = ',', value_enum)]
    only: Vec<Part>,
    /// How many agents wait for news.
    #[arg(long, default_value_t = 10_000)]
    agents: usize,
    /// How many stacks the agent that asks has in the end.
    #[arg(long, default_value_t = 1_000)]
    stacks: usize,
    /// How many old events there are in the end.
    #[arg(long, default_value_t = 1_000_000)]
    events: usize,
    /// How many revisions are stored in the end.
    #[arg(long, default_value_t = 100_000)]
    revisions: usize,
    /// Another broker, as http://HOST:PORT.
    #[arg(long, requires = "key")]
    url: Option<String>,
    /// An admin key of that broker.
    #[arg(long, requires = "url")]
    key: Option<String>,
}

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// What it costs to ask whether anything changed.
    Polls,
    /// How many agents can wait, and how fast they hear of a change.
    Waiting,
    /// How many revisions a second are taken.
    Submits,
    /// The same, as revisions pile up.
    Growth,
}

impl Options {
    /// Another broker than one of our own, and its key.
    fn elsewhere(&self) -> Option<(&str, &str)> {
        self.url.as_deref().zip(self.key.as_deref())
    }

    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// Says what goes on, apart from the tables.
#[expect(clippy::print_stderr, reason = "progress is for whoever watches")]
fn progress(what: &str) {
    eprintln!("... {what}");
}

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    if let Some(url) = server::asked_to_serve() {
        return runtime.block_on(server::serve(&url));
    }
    let options = Options::parse();
    runtime.block_on(async {
        if options.wants(Part::Polls) {
            polls::measure(&options).await?.print();
        }
        if options.wants(Part::Waiting) {
            waiting::measure(&options).await?.print();
        }
        if options.wants(Part::Submits) {
            submits::measure(&options).await?.print();
        }
        if options.wants(Part::Growth) {
            growth::measure(&options).await?.print();
        }
        Ok(())
    })
}
