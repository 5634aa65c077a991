//! Asking the server what it would say, before anything is written.
//!
//! Everything is asked before the first write, except what cannot be: objects in a namespace, or
//! of a kind, that the same set is about to make. Those are asked as soon as it exists.

use std::collections::BTreeSet;
use std::time::Duration;

use evenkeel_reconcile::world::StepOf;
use futures::StreamExt;
use futures::stream;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::ahead::{Ahead, Write};
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
        let ahead = Ahead::of(ahead);
        let open = self.unanswered(&ahead);
        self.await_definitions(&open).await?;
        let asks = open.into_iter().map(|write| async move {
            let answer = self.judge(write.key, write.item, write.seen).await;
            (write.key, answer)
        });
        let asks: Vec<_> = asks.collect();
        let answers = stream::iter(asks).buffer_unordered(self.parallel().get());
        let mut refused: Vec<_> = answers
            .filter_map(async |(key, answer)| self.note(key, answer))
            .collect()
            .await;
        refused.sort_by_key(ToString::to_string);
        match refused.is_empty() {
            true => Ok(()),
            false => Err(Error::Invalid {
                first: Box::new(refused.remove(0)),
                rest: refused,
            }),
        }
    }

    /// The writes that can be asked about and were not.
    fn unanswered<'w, 'a>(&self, ahead: &'w Ahead<'a>) -> Vec<&'w Write<'a>> {
        let verdicts = &mut self.attempt().verdicts;
        let mut open = Vec::new();
        for write in ahead.askable() {
            if let Some(verdict) = foregone(write) {
                verdicts.insert(write.key.clone(), verdict);
            } else if !verdicts.contains_key(write.key) {
                open.push(write);
            }
        }
        open
    }

    /// Remembers an answer; returns it if it is no.
    fn note(&self, key: &ObjectKey, answer: Result<Verdict, Error>) -> Option<Error> {
        match answer {
            Ok(verdict) => {
                self.attempt().verdicts.insert(key.clone(), verdict);
                None
            }
            // It moved on since it was seen; its write will find out.
            Err(error) if error.code() == Some(409) => None,
            Err(error) => Some(error),
        }
    }

    /// Waits until what defines these is served.
    async fn await_definitions(&self, writes: &[&Write<'_>]) -> Result<(), Error> {
        let mut served = BTreeSet::new();
        for write in writes {
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
            .of(
                &resource,
                self.cluster.settings.places(&resource),
                self.cluster.settings.patience,
            )
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
        let mut body = without(
            self.object(key, item),
            seen.map_or(&[], |seen| &seen.drift.ignored),
        );
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
            Err(error) if seen.is_none() && error.code() == Some(422) => {
                return self.unseen(key, item, error).await;
            }
            Err(error) => return self.hindered(key, error),
        };
        let entries = metadata.managed();
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

    /// What was not seen may be there all the same, as somebody else's. Then that is what hinders
    /// the write, not what the server would say to a mixture of both.
    async fn unseen(&self, key: &ObjectKey, item: &Item, error: Error) -> Result<Verdict, Error> {
        match self.cluster.calls.look(&item.resource, key).await? {
            Some(there) => Ok(Verdict::Exists {
                uid: there.metadata.uid.unwrap_or_default(),
                fields: 0,
            }),
            None => self.hindered(key, error),
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

/// A repair is no news: the server took this very object before, and will make of it the same
/// fields. Where others may have some of them, or nobody can name what was lost, it is asked.
fn foregone(write: &Write<'_>) -> Option<Verdict> {
    let seen = write.seen?;
    let seal = seen.live.seal?;
    let same = write.version == seal.content && seen.moved_from.is_none();
    let plain = seen.drift.ignored.is_empty() && !seen.drift.unnamed && !seen.live.leftovers;
    (same && plain).then(|| Verdict::Exists {
        uid: seen.live.uid.to_string(),
        fields: seal.fields,
    })
}
