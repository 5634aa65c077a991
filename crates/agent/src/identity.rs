//! Who the agent is, which its key alone says.

use evenkeel_client::ClientError;
use evenkeel_model::AgentId;
use tokio::time::sleep;

use crate::run::Error;
use crate::shift::Shift;

/// Asks the broker until it answers.
pub(crate) async fn identify(shift: &Shift) -> Result<AgentId, Error> {
    let policy = shift.agent.settings.retry_of_broker();
    for failures in 1.. {
        match shift.agent.broker.auth_pak().await {
            Ok(bearer) => return bearer.agent.ok_or(Error::NotAnAgent),
            Err(error) => shift.agent.broker_failed(&error),
        }
        sleep(policy.delay(failures, &*shift.agent.dice)).await;
    }
    Err(Error::NotAnAgent)
}

/// What is wrong with the broker, and what to do about it.
pub(crate) fn advice(error: &ClientError) -> String {
    match error.status() {
        Some(401 | 403) => format!(
            "the broker refuses the agent's key ({error}); rotate it, or check that it is this broker's"
        ),
        Some(404) => format!("the broker does not know this agent ({error}); was it deleted?"),
        _ => match std::error::Error::source(error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        },
    }
}
