//! A broker in memory on a free port: prints its address and its administrator's key, and serves
//! until it is killed. For trying it out and for programs that test it from outside.

use std::sync::Arc;

use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_broker::{Broker, Config, Parts};
use evenkeel_store::Database;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "whoever started it reads it")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    let store = Database::open("sqlite::memory:", clock.clone(), random.clone()).await?;
    let mut config = Config::default();
    config.limits.requests_per_second = 0;
    let parts = Parts {
        config,
        store: Arc::new(store),
        clock,
        random,
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let broker = Broker::start(parts, listener, CancellationToken::new()).await?;
    let key = broker
        .first_key()
        .map(|first| first.key.clone())
        .unwrap_or_default();
    println!("http://{} {key}", broker.address());
    broker.stopped().await;
    Ok(())
}
