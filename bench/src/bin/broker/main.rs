//! The broker: what asking costs, how many agents can wait, how fast a change reaches them all,
//! how many revisions a second it takes, and whether any of that changes as history grows.
//!
//! ```text
//! broker [--only polls,waiting,submits,growth] [--agents 10000] [--stacks 1000]
//!        [--events 1000000] [--revisions 100000] [--url http://HOST:PORT --key ADMIN-KEY]
//! ```
//!
//! Without an address it starts a broker of its own in another process; with one it measures
//! whatever answers there, as long as it speaks the same API.

mod fleet;
mod growth;
mod history;
mod polls;
mod server;
mod submits;
mod waiting;

use server::Server;

/// What is measured.
#[derive(Debug, Clone)]
struct Options {
    only: Option<String>,
    agents: usize,
    stacks: usize,
    events: usize,
    revisions: usize,
    elsewhere: Option<(String, String)>,
}

impl Options {
    fn read() -> anyhow::Result<Self> {
        let arguments: Vec<String> = std::env::args().collect();
        let value = |name: &str| {
            let at = arguments.iter().position(|argument| argument == name)?;
            arguments.get(at + 1).cloned()
        };
        let number = |name, usual| value(name).map_or(Ok(usual), |text| text.parse::<usize>());
        Ok(Self {
            only: value("--only"),
            agents: number("--agents", 10_000)?,
            stacks: number("--stacks", 1_000)?,
            events: number("--events", 1_000_000)?,
            revisions: number("--revisions", 100_000)?,
            elsewhere: value("--url").zip(value("--key")),
        })
    }

    fn wants(&self, part: &str) -> bool {
        let named = |only: &String| only.split(',').any(|name| name == part);
        self.only.as_ref().is_none_or(named)
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
    let options = Options::read()?;
    runtime.block_on(async {
        if options.wants("polls") {
            polls::measure(&options).await?.print();
        }
        if options.wants("waiting") {
            waiting::measure(&options).await?.print();
        }
        if options.wants("submits") {
            submits::measure(&options).await?.print();
        }
        if options.wants("growth") {
            growth::measure(&options).await?.print();
        }
        Ok(())
    })
}
