//! Ports that stay the same from one `evenkeel up` to the next.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::Context;
use tokio::net::TcpListener;

/// Takes the port that `memory` names, so that addresses stay true across restarts; any free one
/// when there is none yet or somebody else has it now. Remembers which.
pub(super) async fn listen(memory: &Path) -> anyhow::Result<TcpListener> {
    let listener = match last(memory) {
        Some(port) => match TcpListener::bind(local(port)).await {
            Ok(listener) => listener,
            Err(error) => {
                tracing::warn!(port, %error, "the port of the last time is taken; using another");
                TcpListener::bind(local(0)).await?
            }
        },
        None => TcpListener::bind(local(0)).await?,
    };
    remember(memory, &listener)?;
    Ok(listener)
}

/// Takes this port and no other.
pub(super) async fn listen_on(port: u16, memory: &Path) -> anyhow::Result<TcpListener> {
    let bound = TcpListener::bind(local(port)).await;
    let listener = bound.with_context(|| {
        format!("cannot listen on port {port}; choose another with --port, or leave --port out to take a free one")
    })?;
    remember(memory, &listener)?;
    Ok(listener)
}

fn remember(memory: &Path, listener: &TcpListener) -> anyhow::Result<()> {
    let port = listener.local_addr()?.port();
    fs::write(memory, format!("{port}\n"))
        .with_context(|| format!("cannot write {}", memory.display()))
}

fn last(memory: &Path) -> Option<u16> {
    fs::read_to_string(memory).ok()?.trim().parse().ok()
}

fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}
