//! How a running command is told to stop.

use tokio::signal::unix::{SignalKind, signal};

/// Returns when somebody presses Ctrl-C or ends the process in good order.
pub(crate) async fn told_to_stop() -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed,
        _ = terminate.recv() => Ok(()),
    }
}
