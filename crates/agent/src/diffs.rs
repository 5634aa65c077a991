//! Answering what a revision would change.

use evenkeel_model::AgentId;

use crate::shift::Shift;

/// Answers questions for ever.
pub(crate) async fn answer(_shift: &Shift, _agent: AgentId) {
    std::future::pending::<()>().await;
}
