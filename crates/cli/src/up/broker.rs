//! The broker, on SQLite.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use async_trait::async_trait;
use evenkeel_broker::Config;
use serde_json::{Value, json};

use super::options::UpOptions;
use super::part::Part;
use super::port;
use crate::broker::RunningBroker;
use crate::data_dir::DataDir;

/// The broker and its administrator's key.
pub(super) struct BrokerPart {
    running: RunningBroker,
    key: String,
    key_file: PathBuf,
}

/// Starts it, on the port of the last time if that is free.
pub(super) async fn start(options: &UpOptions, data: &DataDir) -> anyhow::Result<BrokerPart> {
    let memory = data.of_broker("port");
    let listener = match options.port {
        Some(port) => port::listen_on(port, &memory).await?,
        None => port::listen(&memory).await?,
    };
    let mut config = Config::default();
    let file = data.of_broker("evenkeel.db");
    config.database.url = Some(format!("sqlite://{}", file.display()));
    config.database.data_dir = file.parent().map(Path::to_owned);
    let running = RunningBroker::start(config, listener).await?;
    let key_file = data.of_broker("admin-key");
    let key = fs::read_to_string(&key_file).with_context(|| {
        format!(
            "cannot read the administrator's key in {}",
            key_file.display()
        )
    })?;
    Ok(BrokerPart {
        running,
        key: key.trim().to_owned(),
        key_file,
    })
}

impl BrokerPart {
    pub(super) fn url(&self) -> String {
        self.running.url()
    }

    pub(super) fn key(&self) -> &str {
        &self.key
    }
}

#[async_trait]
impl Part for BrokerPart {
    fn name(&self) -> &'static str {
        "broker"
    }

    fn told(&self) -> Value {
        json!({ "url": self.url(), "adminKeyFile": self.key_file })
    }

    fn shown(&self) -> String {
        let key = self.key_file.display();
        format!("  broker     {}\n  admin key  {key}\n", self.url())
    }

    async fn stop(self: Box<Self>) {
        self.running.stop().await;
    }
}
