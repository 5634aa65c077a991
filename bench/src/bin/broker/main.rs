//! The broker: what asking costs, how many agents can wait, how fast a change reaches them all,
//! and how many revisions a second it takes.
//!
//! `broker [--agents N] [--stacks N] [--url http://HOST:PORT --key ADMIN-KEY]`. Without an
//! address it starts a broker of its own in another process; with one it measures whatever
//! answers there, as long as it speaks the same API.

mod fleet;
mod polls;
mod server;
mod submits;
mod waiting;

use server::Server;

/// What is measured.
#[derive(Debug, Clone)]
struct Options {
    agents: usize,
    stacks: usize,
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
            agents: number("--agents", 10_000)?,
            stacks: number("--stacks", 1_000)?,
            elsewhere: value("--url").zip(value("--key")),
        })
    }
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
        polls::measure(&options).await?.print();
        waiting::measure(&options).await?.print();
        submits::measure(&options).await?.print();
        Ok(())
    })
}
