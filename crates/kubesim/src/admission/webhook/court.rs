//! Verdicts of webhooks, from when they are given until the write that asked for them is done.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{call, steady};
use crate::status::ApiError;

/// How long a verdict is kept that nobody has come back for.
const PATIENCE: Duration = Duration::from_secs(30);
/// The reason of a write that waits for a verdict.
pub(crate) const AWAITING: &str = "AwaitingWebhook";

/// What a webhook answered, or why it did not.
pub(super) type Verdict = Result<Value, String>;

/// A question to a webhook.
#[derive(Debug, Clone)]
pub(crate) struct Summons {
    /// The same for the same question about the same object.
    pub(crate) mark: u64,
    pub(super) url: String,
    pub(super) authority: Option<String>,
    pub(super) timeout: Duration,
    pub(super) review: Value,
}

impl Summons {
    pub(super) fn new(name: &str, url: &str, hook: &Value, review: Value) -> Self {
        let mut hasher = DefaultHasher::new();
        (name, url, steady(&review).to_string()).hash(&mut hasher);
        let seconds = hook["timeoutSeconds"].as_u64().unwrap_or(10);
        Self {
            mark: hasher.finish(),
            url: url.to_owned(),
            authority: hook["clientConfig"]["caBundle"].as_str().map(str::to_owned),
            timeout: Duration::from_secs(seconds),
            review,
        }
    }
}

/// Where writes leave their questions and find the answers.
#[derive(Debug, Default)]
pub(crate) struct Court(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    summons: HashMap<u64, Summons>,
    verdicts: HashMap<u64, (Instant, Verdict)>,
}

impl Court {
    /// The verdict, if it has been given; else the write is given up until it has.
    pub(super) fn verdict(&self, summons: Summons) -> Result<Verdict, ApiError> {
        let mut state = self.state();
        if let Some((_, verdict)) = state.verdicts.get(&summons.mark) {
            return Ok(verdict.clone());
        }
        let awaiting = ApiError::new(500, AWAITING, summons.mark.to_string());
        state.summons.insert(summons.mark, summons);
        Err(awaiting)
    }

    /// The question that a write was given up for, if it was.
    pub(crate) fn summons(&self, error: &ApiError) -> Option<Summons> {
        let mark = (error.reason == AWAITING).then(|| error.message.parse().ok())??;
        self.state().summons.remove(&mark)
    }

    /// Has a question answered.
    pub(crate) async fn hear(&self, summons: &Summons) {
        let verdict = call::perform(summons).await;
        let mut state = self.state();
        state
            .verdicts
            .retain(|_, (since, _)| since.elapsed() < PATIENCE);
        state
            .verdicts
            .insert(summons.mark, (Instant::now(), verdict));
    }

    /// Forgets the verdicts of a write that is done.
    pub(crate) fn forget(&self, marks: &[u64]) {
        let mut state = self.state();
        for mark in marks {
            state.verdicts.remove(mark);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
