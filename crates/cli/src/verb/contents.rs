//! What a stack's newest revision says.

use evenkeel_api::{DeploymentObject, Stack};
use evenkeel_manifest::{Limits, parse};

use crate::noun::object;
use crate::remote::Session;

/// The newest revision, without its text; `None` if there is none.
pub(super) async fn newest(
    session: &Session,
    stack: &Stack,
) -> anyhow::Result<Option<DeploymentObject>> {
    match session.client.deployment_newest(stack.id).await {
        Ok(newest) => Ok(Some(newest)),
        Err(error) if error.status() == Some(404) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The manifests of the newest revision; nothing if there is none.
pub(super) async fn newest_text(session: &Session, stack: &Stack) -> anyhow::Result<String> {
    let Some(newest) = newest(session, stack).await? else {
        return Ok(String::new());
    };
    let whole = session.client.deployment_get(newest.id).await?;
    Ok(whole.yaml_content.unwrap_or_default())
}

/// The objects that the newest revision names, in its order.
pub(super) async fn newest_objects(
    session: &Session,
    stack: &Stack,
) -> anyhow::Result<Vec<String>> {
    let text = newest_text(session, stack).await?;
    let documents = parse(&text, Limits::NONE).unwrap_or_default();
    Ok(documents
        .iter()
        .map(|one| object::shown(&object::key(&one.id)))
        .collect())
}
