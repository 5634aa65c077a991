//! What the agent was last told, kept in the cluster so that it can go on without the broker.
//!
//! Manifests may hold secrets, so they are kept as Secrets, under the same protection as those
//! that they describe. Each text is a Secret of its own, named after its checksum and written once;
//! the index is written after the texts that it speaks of, and texts that no index speaks of are
//! deleted last. A crash between any two writes leaves an index whose texts are all there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use evenkeel_model::{Checksum, StackId};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, ListParams, ObjectMeta, Patch, PatchParams};
use kube::{Api, Client};
use serde::{Deserialize, Serialize};

use crate::stacks::Call;
use crate::target::Target;

/// Whose memory a Secret is.
const AGENT: &str = "evenkeel.io/agent-memory";
/// What whole a Secret is a part of, and which part.
const WHOLE: &str = "evenkeel.io/whole";
const PART: &str = "evenkeel.io/part";
const CONTENT: &str = "content";
const INDEX: &str = "index";
/// The most bytes in one Secret; a server takes 1 MiB.
const ROOM: usize = 700_000;

/// Manifests by their checksum.
pub(crate) type Texts = BTreeMap<Checksum, Arc<str>>;

/// What a restart has to know.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Remembered {
    /// What the agent was told.
    pub(crate) target: Arc<Target>,
    /// Which of it was answered by a complete pass.
    #[serde(default)]
    pub(crate) answered: BTreeMap<StackId, Call>,
}

/// Why the memory could not be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MemoryError {
    #[error("cannot list the Secrets that hold what the agent was told")]
    List(#[source] kube::Error),
    #[error("cannot write Secret {name}, which holds what the agent was told")]
    Write {
        name: String,
        #[source]
        cause: Box<kube::Error>,
    },
    #[error("cannot put what the agent was told into words")]
    Encode(#[from] serde_json::Error),
}

/// The Secrets in which an agent keeps what it was told.
#[derive(Debug)]
pub(crate) struct Memory {
    secrets: Api<Secret>,
    name: String,
    manager: PatchParams,
}

/// One whole in one or more Secrets.
#[derive(Debug, Default)]
struct Whole {
    parts: BTreeMap<usize, Vec<u8>>,
    secrets: BTreeSet<String>,
}

impl Whole {
    fn bytes(&self) -> Vec<u8> {
        self.parts.values().flatten().copied().collect()
    }
}

impl Memory {
    pub(crate) fn new(client: Client, namespace: &str, name: &str) -> Self {
        Self {
            secrets: Api::namespaced(client, namespace),
            name: name.to_owned(),
            manager: PatchParams::apply("evenkeel-agent").force(),
        }
    }

    /// What was last written; nothing if that cannot be made sense of, since the broker can say it
    /// again.
    pub(crate) async fn read(&self) -> Result<(Remembered, Texts), MemoryError> {
        let mut wholes = self.wholes().await?;
        let index = wholes.remove(INDEX).unwrap_or_default().bytes();
        let known: Remembered = match serde_json::from_slice(&index) {
            Ok(known) => known,
            Err(error) => {
                if !index.is_empty() {
                    tracing::warn!(%error, "what the agent was last told cannot be read");
                }
                return Ok(Default::default());
            }
        };
        let wanted = texts_of(&known.target);
        let texts = wholes.values().filter_map(|whole| text_of(&whole.bytes()));
        let texts = texts.filter(|(checksum, _)| wanted.contains(checksum));
        Ok((known, texts.collect()))
    }

    /// Writes what is to be known after a restart.
    pub(crate) async fn write(&self, known: &Remembered, texts: &Texts) -> Result<(), MemoryError> {
        let there = self.wholes().await?;
        let wanted = texts_of(&known.target);
        let kept: BTreeSet<String> = wanted.iter().map(place_of).collect();
        for (checksum, text) in texts
            .iter()
            .filter(|(checksum, _)| wanted.contains(checksum))
        {
            let place = place_of(checksum);
            let known = there.get(&place).and_then(|whole| text_of(&whole.bytes()));
            if known.is_none_or(|(known, _)| known != *checksum) {
                self.put(&place, text.as_bytes()).await?;
            }
        }
        let index = serde_json::to_vec(known)?;
        let old = there.get(INDEX);
        if old.is_none_or(|old| old.bytes() != index) {
            self.put(INDEX, &index).await?;
        }
        self.forget(&there, &kept, index.len()).await;
        Ok(())
    }

    async fn wholes(&self) -> Result<BTreeMap<String, Whole>, MemoryError> {
        let ours = ListParams::default().labels(&format!("{AGENT}={}", self.name));
        let listed = self.secrets.list(&ours).await.map_err(MemoryError::List)?;
        let mut wholes = BTreeMap::<String, Whole>::new();
        for secret in listed {
            let annotations = secret.metadata.annotations.unwrap_or_default();
            let part = annotations.get(PART).and_then(|part| part.parse().ok());
            let (Some(whole), Some(part)) = (annotations.get(WHOLE), part) else {
                continue;
            };
            let content = secret.data.unwrap_or_default().remove(CONTENT);
            let whole = wholes.entry(whole.clone()).or_default();
            whole.parts.insert(part, content.unwrap_or_default().0);
            whole.secrets.extend(secret.metadata.name);
        }
        Ok(wholes)
    }

    /// Writes one whole, the last part first: an index that was cut off in the middle cannot be
    /// read, and is asked for again.
    async fn put(&self, whole: &str, bytes: &[u8]) -> Result<(), MemoryError> {
        let parts: Vec<_> = bytes.chunks(ROOM).enumerate().collect();
        let parts = if parts.is_empty() {
            vec![(0, bytes)]
        } else {
            parts
        };
        for (part, bytes) in parts.into_iter().rev() {
            let secret = self.secret(whole, part, bytes);
            let name = self.part_name(whole, part);
            let patch = Patch::Apply(&secret);
            let written = self.secrets.patch(&name, &self.manager, &patch).await;
            written.map_err(|cause| MemoryError::Write {
                name,
                cause: Box::new(cause),
            })?;
        }
        Ok(())
    }

    fn part_name(&self, whole: &str, part: usize) -> String {
        format!("{}.{whole}.{part}", self.name)
    }

    fn secret(&self, whole: &str, part: usize, bytes: &[u8]) -> Secret {
        let marks = [
            (WHOLE.to_owned(), whole.to_owned()),
            (PART.to_owned(), part.to_string()),
        ];
        Secret {
            metadata: ObjectMeta {
                name: Some(self.part_name(whole, part)),
                labels: Some([(AGENT.to_owned(), self.name.clone())].into()),
                annotations: Some(marks.into()),
                ..ObjectMeta::default()
            },
            type_: Some("evenkeel.io/agent-memory".to_owned()),
            data: Some([(CONTENT.to_owned(), ByteString(bytes.to_vec()))].into()),
            ..Secret::default()
        }
    }

    /// Deletes what is no longer spoken of. What cannot be deleted is tried again at the next
    /// write.
    async fn forget(&self, there: &BTreeMap<String, Whole>, kept: &BTreeSet<String>, index: usize) {
        let texts = there
            .iter()
            .filter(|(place, _)| *place != INDEX && !kept.contains(*place));
        let texts = texts.flat_map(|(_, whole)| whole.secrets.iter().cloned());
        let parts = index.div_ceil(ROOM).max(1);
        let old_parts = there
            .get(INDEX)
            .into_iter()
            .flat_map(|whole| whole.parts.keys());
        let old_parts = old_parts.filter(|part| **part >= parts);
        let old_parts = old_parts.map(|part| self.part_name(INDEX, *part));
        for name in texts.chain(old_parts) {
            if let Err(error) = self.secrets.delete(&name, &DeleteParams::default()).await {
                tracing::debug!(secret = name, %error, "a text that is no longer needed stays");
            }
        }
    }
}

/// The texts that a target speaks of.
pub(crate) fn texts_of(target: &Target) -> BTreeSet<Checksum> {
    let revisions = target.orders.values().filter(|order| !order.kind.removes());
    revisions.map(|order| order.yaml_checksum.clone()).collect()
}

fn text_of(bytes: &[u8]) -> Option<(Checksum, Arc<str>)> {
    let text = std::str::from_utf8(bytes).ok()?;
    Some((Checksum::of(text), text.into()))
}

/// The name of a text's place: enough of its checksum to tell it from others.
fn place_of(checksum: &Checksum) -> String {
    checksum.as_str()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use evenkeel_kubesim::Cluster;
    use evenkeel_model::ObjectKind;

    use super::*;
    use crate::target::tests::object;

    fn memory(cluster: &Cluster) -> Memory {
        let client = Client::new(cluster.view("agent"), "default");
        Memory::new(client, "default", "agent")
    }

    fn known(texts: &[&str]) -> (Remembered, Texts) {
        let mut target = Target::default();
        for (number, text) in (1..).zip(texts) {
            let mut object = object(number, number.into(), ObjectKind::Revision);
            object.yaml_checksum = Checksum::of(text);
            target.orders.insert(object.stack_id, object);
        }
        let texts = texts
            .iter()
            .map(|text| (Checksum::of(text), Arc::from(*text)));
        let target = Arc::new(target);
        let known = Remembered {
            target,
            ..Remembered::default()
        };
        (known, texts.collect())
    }

    #[tokio::test]
    async fn what_was_written_is_read_however_long_it_is() {
        let cluster = Cluster::new();
        assert_eq!(memory(&cluster).read().await.unwrap(), Default::default());
        let long = "ä".repeat(ROOM);
        let (known, texts) = known(&["a", &long]);
        memory(&cluster).write(&known, &texts).await.unwrap();
        assert_eq!(memory(&cluster).read().await.unwrap(), (known, texts));
    }

    #[tokio::test]
    async fn what_is_no_longer_spoken_of_is_deleted_and_the_rest_is_not_written_again() {
        let cluster = Cluster::new();
        let memory = memory(&cluster);
        let (first, texts) = known(&["a", "b"]);
        memory.write(&first, &texts).await.unwrap();
        let before = memory.secrets.list(&ListParams::default()).await.unwrap();
        let (second, texts) = known(&["a"]);
        memory.write(&second, &texts).await.unwrap();
        let after = memory.secrets.list(&ListParams::default()).await.unwrap();
        let revision = |list: &kube::api::ObjectList<Secret>| {
            let name = memory.part_name(&place_of(&Checksum::of("a")), 0);
            let found = list
                .iter()
                .find(|secret| secret.metadata.name.as_ref() == Some(&name));
            found.and_then(|secret| secret.metadata.resource_version.clone())
        };
        assert_eq!((before.items.len(), after.items.len()), (3, 2));
        assert_eq!(revision(&before), revision(&after));
        assert_eq!(memory.read().await.unwrap(), (second, texts));
    }
}
