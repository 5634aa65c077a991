//! The one way to write a status: only when something changed, never on a view that is out of date.

use evenkeel_reconcile::{Condition, Verdict, set_condition};
use kube::api::PostParams;
use kube::core::object::HasStatus;
use serde::Serialize;
use serde_json::Value;

use crate::context::Context;
use crate::error::Error;
use crate::events::Told;
use crate::key::Key;
use crate::object::body;
use crate::watched::Watched;

/// A status that holds conditions.
pub trait Conditions: Default + Clone + Serialize + Send + Sync {
    /// The conditions, one for each type.
    fn conditions(&mut self) -> &mut Vec<Condition>;

    /// The conditions whose changes people are told of by Kubernetes Events.
    const TOLD: &'static [&'static str] = &["Ready"];

    /// Where the status says which generation it was made for, if it does.
    fn observed_generation(&mut self) -> Option<&mut Option<i64>> {
        None
    }
}

impl Context {
    /// Writes what `edit` makes of the status, and `verdicts` as conditions judged on this
    /// generation. Sends nothing when nothing changed; tells people of conditions that changed.
    /// Answers the object as it is now.
    ///
    /// # Errors
    /// A conflict when `object` is out of date: a newer one is about to be seen.
    pub async fn set_status<K>(
        &self,
        object: &K,
        verdicts: impl IntoIterator<Item = Verdict>,
        edit: impl FnOnce(&mut K::Status),
    ) -> Result<K, Error>
    where
        K: Watched + Serialize + HasStatus,
        K::Status: Conditions,
    {
        let mut new = object.clone();
        let status = new.status_mut().get_or_insert_with(K::Status::default);
        let before = status.conditions().clone();
        edit(status);
        let (generation, now) = (object.meta().generation, self.clock().now());
        for verdict in verdicts {
            set_condition(status.conditions(), verdict, generation, now);
        }
        if let Some(observed) = status.observed_generation() {
            *observed = generation;
        }
        let told = transitions(&before, status.conditions(), K::Status::TOLD);
        if json(object.status()) == json(new.status()) {
            return Ok(new);
        }
        let written = self.put_status(&new).await?;
        self.tell(&written, told).await;
        Ok(written)
    }

    async fn put_status<K>(&self, new: &K) -> Result<K, Error>
    where
        K: Watched + Serialize,
    {
        let key = Key::of(new);
        let put = PostParams {
            field_manager: Some(self.manager().to_owned()),
            ..PostParams::default()
        };
        let sent = self.send(&key, |request| {
            request.replace_subresource("status", &key.name, &put, body(new)?)
        });
        let attempt = format!("write the status of {key}");
        sent.await.map_err(Error::kube(attempt))
    }
}

fn json<S: Serialize>(status: Option<&S>) -> Value {
    serde_json::to_value(status).unwrap_or_default()
}

/// The conditions among `told` whose status or reason differ.
fn transitions(before: &[Condition], after: &[Condition], told: &[&str]) -> Vec<Told> {
    let differs = |new: &&Condition| {
        let old = before.iter().find(|old| old.kind == new.kind);
        old.is_none_or(|old| (old.status, &old.reason) != (new.status, &new.reason))
    };
    let after = after.iter().filter(|new| told.contains(&new.kind.as_str()));
    after.filter(differs).map(Told::of).collect()
}
