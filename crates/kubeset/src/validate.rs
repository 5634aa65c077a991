//! Asking the server what it would say, before anything is written.
//!
//! Everything is asked before the first write, except what cannot be: objects in a namespace, or
//! of a kind, that the same set is about to make. Those are asked as soon as it exists.

use std::collections::BTreeSet;
use std::time::Duration;

use evenkeel_reconcile::Action;
use evenkeel_reconcile::world::StepOf;
use futures::StreamExt;
use futures::stream;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::drift::without;
use crate::error::Error;
use crate::fields::fingerprint;
use crate::item::{Item, Sighting};
use crate::key::ObjectKey;
use crate::world::SetWorld;

/// What the server would make of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A new object, of which we would own these fields.
    New { fields: u64 },
    /// A change to an object, of which we would own these fields.
    Exists { uid: String, fields: u64 },
    /// Nothing, since fields cannot be changed; the policy is to replace the object.
    Replace,
}

impl Verdict {
    pub(crate) fn fields(&self) -> u64 {
        match self {
            Self::New { fields } | Self::Exists { fields, .. } => *fields,
            Self::Replace => 0,
        }
    }
}

impl SetWorld<'_> {
    /// Asks about all steps ahead that can be asked about now.
    pub(crate) async fn validate(&self, ahead: &[StepOf<'_, Self>]) -> Result<(), Error> {
        let ahead: Vec<_> = ahead.iter().filter_map(write_of).collect();
        let coming: BTreeSet<_> = ahead.iter().map(|write| write.key).collect();
        let (now, waiting): (Vec<_>, Vec<_>) =
            ahead.iter().partition(|write| self.can_ask(&coming, write));
        self.await_definitions(&waiting, &coming).await?;
        let unasked = |write: &&&Write<'_>| !self.attempt().verdicts.contains_key(write.key);
        let asking = waiting
            .iter()
            .filter(|write| self.is_served_now(&coming, write));
        let asks = now
            .iter()
            .chain(asking)
            .filter(unasked)
            .map(|write| async move {
                (
                    write.key,
                    self.judge(write.key, write.item, write.seen).await,
                )
            });
        let asks: Vec<_> = asks.collect();
        let answers: Vec<_> = stream::iter(asks)
            .buffer_unordered(self.parallel().get())
            .collect()
            .await;
        let mut refused = Vec::new();
        for (key, answer) in answers {
            match answer {
                Ok(verdict) => {
                    self.attempt().verdicts.insert(key.clone(), verdict);
                }
                // It moved on since it was seen; its write will find out.
                Err(error) if error.code() == Some(409) => {}
                Err(error) => refused.push(error),
            }
        }
        refused.sort_by_key(ToString::to_string);
        match refused.is_empty() {
            true => Ok(()),
            false => Err(Error::Invalid {
                first: Box::new(refused.remove(0)),
                rest: refused,
            }),
        }
    }

    /// Whether the kind and the namespace of an object exist already.
    fn can_ask(&self, coming: &BTreeSet<&ObjectKey>, write: &Write<'_>) -> bool {
        write.item.defined_by.is_none() && !self.waits_for_namespace(coming, write)
    }

    fn waits_for_namespace(&self, coming: &BTreeSet<&ObjectKey>, write: &Write<'_>) -> bool {
        write.key.namespace.as_deref().is_some_and(|namespace| {
            coming
                .iter()
                .any(|key| key.kind.is_namespace() && key.name == namespace)
                && self.is_new_namespace(namespace)
        })
    }

    /// A namespace that the server says it would make.
    fn is_new_namespace(&self, namespace: &str) -> bool {
        let attempt = self.attempt();
        let verdict = attempt
            .verdicts
            .iter()
            .find(|(key, _)| key.kind.is_namespace() && key.name == namespace);
        verdict.is_none_or(|(_, verdict)| matches!(verdict, Verdict::New { .. }))
    }

    fn is_served_now(&self, coming: &BTreeSet<&ObjectKey>, write: &Write<'_>) -> bool {
        let definition_done = write
            .item
            .defined_by
            .as_ref()
            .is_none_or(|by| !coming.contains(by));
        definition_done && !self.waits_for_namespace(coming, write)
    }

    /// Waits until the definitions that are done are served.
    async fn await_definitions(
        &self,
        waiting: &[&Write<'_>],
        coming: &BTreeSet<&ObjectKey>,
    ) -> Result<(), Error> {
        let done = waiting.iter().filter(|write| {
            write
                .item
                .defined_by
                .as_ref()
                .is_some_and(|by| !coming.contains(by))
        });
        let unasked = done.filter(|write| !self.attempt().verdicts.contains_key(write.key));
        let mut served = BTreeSet::new();
        for write in unasked {
            if let Some(by) = &write.item.defined_by
                && served.insert((by, &write.item.resource.version))
            {
                self.await_definition(by, write.item).await?;
            }
        }
        Ok(())
    }

    /// Waits until a definition that was just written is established: whoever has made a set may
    /// rely on the kinds that it defines.
    pub(crate) async fn await_establishment(&self, key: &ObjectKey) -> Result<(), Error> {
        if !key.kind.is_definition() {
            return Ok(());
        }
        self.patiently(key, || self.unestablished(key)).await
    }

    async fn await_definition(&self, definition: &ObjectKey, item: &Item) -> Result<(), Error> {
        self.patiently(definition, || async {
            let hidden = "it is established, but discovery does not show it";
            Ok(match self.unestablished(definition).await? {
                None if !self.is_discovered(item).await? => Some(hidden.to_owned()),
                why => why,
            })
        })
        .await
    }

    /// Asks again and again why a definition is not served, until it is.
    async fn patiently<F>(&self, definition: &ObjectKey, ask: impl Fn() -> F) -> Result<(), Error>
    where
        F: Future<Output = Result<Option<String>, Error>>,
    {
        let deadline = Instant::now() + self.cluster.settings.patience;
        let mut pause = Duration::from_millis(20);
        while let Some(why) = ask().await? {
            if Instant::now() > deadline {
                let definition = definition.to_string();
                return Err(Error::NotServed { definition, why });
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(1));
        }
        Ok(())
    }

    async fn is_discovered(&self, item: &Item) -> Result<bool, Error> {
        let found = self
            .cluster
            .find(&item.resource.kind, Some(&item.resource.version))
            .await?;
        let Some(resource) = found else {
            return Ok(false);
        };
        // From now on what exists of it is followed like everything else.
        Ok(self
            .cluster
            .view
            .of(&resource, self.cluster.settings.patience)
            .await
            .is_ok())
    }

    /// Why a definition is not established, if it is not.
    async fn unestablished(&self, definition: &ObjectKey) -> Result<Option<String>, Error> {
        let Some(resource) = self.cluster.find(&definition.kind, None).await? else {
            return Ok(Some("definitions are not served".to_owned()));
        };
        let found = self
            .cluster
            .calls
            .get(&resource, definition)
            .await?
            .unwrap_or_default();
        let conditions = found
            .pointer("/status/conditions")
            .and_then(Value::as_array);
        let condition = |name: &str| {
            conditions
                .into_iter()
                .flatten()
                .find(|condition| condition["type"] == name)
        };
        if condition("Established").is_some_and(|condition| condition["status"] == "True") {
            return Ok(None);
        }
        let refused = condition("NamesAccepted").filter(|condition| condition["status"] == "False");
        let why = refused.and_then(|condition| condition["message"].as_str());
        Ok(Some(why.unwrap_or("it is not established").to_owned()))
    }

    /// What the server would make of a write.
    pub(crate) async fn judge(
        &self,
        key: &ObjectKey,
        item: &Item,
        seen: Option<&Sighting>,
    ) -> Result<Verdict, Error> {
        let mut body = without(&item.object, seen.map_or(&[], |seen| &seen.drift.ignored));
        if let Some(seen) = seen {
            body["metadata"]["uid"] = (*seen.live.uid).into();
        }
        let answer = self
            .cluster
            .calls
            .try_apply(&item.resource, key, &body)
            .await;
        let metadata = match answer {
            Ok(seen) => seen.metadata,
            Err(error) => return self.hindered(key, error),
        };
        let entries = metadata.managed_fields.as_deref().unwrap_or_default();
        let fields = fingerprint(entries, &self.cluster.calls.manager);
        // What was not stored has no revision: the server would make a new object.
        match metadata
            .resource_version
            .filter(|revision| !revision.is_empty())
        {
            Some(_) => Ok(Verdict::Exists {
                uid: metadata.uid.unwrap_or_default(),
                fields,
            }),
            None => Ok(Verdict::New { fields }),
        }
    }

    pub(crate) fn hindered(&self, key: &ObjectKey, error: Error) -> Result<Verdict, Error> {
        let Some(message) = error.immutable() else {
            return Err(error);
        };
        let precious = key.kind.is_namespace()
            || key.kind.is_definition()
            || key.kind.is("", "PersistentVolumeClaim")
            || key.kind.is("", "PersistentVolume");
        match self.policy.replace && !precious {
            true => Ok(Verdict::Replace),
            false => Err(Error::Immutable {
                key: key.clone(),
                message: message.to_owned(),
            }),
        }
    }
}

/// A step that makes or changes something.
struct Write<'a> {
    key: &'a ObjectKey,
    item: &'a Item,
    seen: Option<&'a Sighting>,
}

fn write_of<'a>(step: &StepOf<'a, SetWorld<'_>>) -> Option<Write<'a>> {
    let key = step.key;
    match &step.action {
        Action::Create { wanted, .. } => Some(Write {
            key,
            item: &wanted.item,
            seen: None,
        }),
        Action::Update {
            wanted, observed, ..
        }
        | Action::Adopt { wanted, observed } => Some(Write {
            key,
            item: &wanted.item,
            seen: Some(&observed.live),
        }),
        Action::Delete { .. } | Action::Release { .. } | Action::Keep(_) | Action::Refuse(_) => {
            None
        }
    }
}
