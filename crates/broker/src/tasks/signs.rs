//! Signs of life: gathered in memory, written down together.

use evenkeel_store::Result;

use crate::app::Core;

/// Writes down the signs of life since the last time.
pub(crate) async fn write_down(core: &Core) -> Result<Option<String>> {
    let signs = core.take_signs();
    let beats: Vec<_> = signs.agents.into_values().collect();
    let seen: Vec<_> = signs.generators.into_iter().collect();
    if beats.is_empty() && seen.is_empty() {
        return Ok(None);
    }
    if !beats.is_empty() {
        core.store.heartbeats_record(&beats).await?;
    }
    if !seen.is_empty() {
        core.store.generators_seen(&seen).await?;
    }
    Ok(Some(format!(
        "{} agents, {} generators",
        beats.len(),
        seen.len()
    )))
}
