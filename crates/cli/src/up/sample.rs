//! A stack to look at, delivered once: who deletes it does not get it again.

use std::fs;

use anyhow::Context;
use evenkeel_api::{NewDeployment, NewStack};
use evenkeel_client::Submit;
use evenkeel_model::Label;

use super::agents::LABEL;
use super::options::UpOptions;
use crate::data_dir::DataDir;
use crate::remote::Session;

const NAME: &str = "hello";
const TEXT: &str = include_str!("sample.yaml");

/// Delivers it, unless that was done before or nobody wants it; its name if it is there.
pub(super) async fn deliver(
    options: &UpOptions,
    session: &Session,
    data: &DataDir,
) -> anyhow::Result<Option<&'static str>> {
    let memory = data.path().join("sample-delivered");
    if session.stack_if_there(NAME).await?.is_some() {
        return Ok(Some(NAME));
    }
    if options.no_sample || memory.exists() {
        return Ok(None);
    }
    submit(session)
        .await
        .context("cannot deliver the sample stack")?;
    fs::write(&memory, "").with_context(|| format!("cannot write {}", memory.display()))?;
    Ok(Some(NAME))
}

async fn submit(session: &Session) -> anyhow::Result<()> {
    let new = NewStack {
        name: NAME.parse()?,
        description: Some("The sample of `evenkeel up`".to_owned()),
        generator_id: session.generator_or_default(None).await?.id,
    };
    let stack = session.client.stack_create(&new).await?;
    let label: Label = LABEL.parse()?;
    session.client.stack_label_add(stack.id, &label).await?;
    let new = NewDeployment::of(TEXT);
    session
        .client
        .deployment_create(stack.id, &new, &Submit::default())
        .await?;
    Ok(())
}
