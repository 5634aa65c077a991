//! What is remembered of an object of the cluster: some hundred bytes of its metadata.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use crate::fields::fingerprint;
use crate::leftovers::is_leftover;
use crate::marks::{Seal, is_kept, owner_of};
use crate::metadata::{Managed, Seen};
use crate::words::Words;

/// An object of the cluster as far as a set needs to know it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Live {
    pub(crate) uid: Box<str>,
    pub(crate) revision: Box<str>,
    /// Who it says it belongs to.
    pub(crate) owner: Option<Arc<str>>,
    /// The object that controls it.
    pub(crate) controller: Option<Controller>,
    pub(crate) seal: Option<Seal>,
    /// The fingerprint of what we own of it.
    pub(crate) fields: u64,
    /// A fingerprint that differs from the seal and is right all the same, because the server
    /// answered our own write with it.
    pub(crate) accepted: Option<u64>,
    /// Who owns what; kept only while the fields are not what was sealed.
    pub(crate) managers: Option<Box<[Managed]>>,
    /// Client-side tools own fields of it.
    pub(crate) leftovers: bool,
    /// Objects that do not control it refer to it as theirs.
    pub(crate) shared: bool,
    pub(crate) kept: bool,
    pub(crate) leaving: bool,
}

/// The object that controls another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Controller {
    pub(crate) uid: Arc<str>,
    /// Its kind and name, for people to read.
    pub(crate) name: Arc<str>,
}

impl Controller {
    fn of(references: &[OwnerReference], words: &Words) -> Option<Self> {
        let by = references.iter().find(|by| by.controller == Some(true))?;
        Some(Self {
            uid: words.word(&by.uid),
            name: words.word(&format!("{} {}", by.kind, by.name)),
        })
    }
}

impl Live {
    /// What `seen` tells, where fields are owned as `manager` and owners named in `owner_key`.
    pub(crate) fn read(seen: Seen, owner_key: &str, manager: &str, words: &Words) -> Self {
        let metadata = seen.metadata;
        let entries = metadata.managed();
        let (seal, fields) = (Seal::of(&metadata), fingerprint(entries, manager));
        let as_sealed = seal.is_some_and(|seal| seal.fields == fields);
        let references = metadata.owner_references.as_deref().unwrap_or_default();
        let controller = Controller::of(references, words);
        Self {
            owner: owner_of(&metadata, owner_key).map(|owner| words.word(owner)),
            seal,
            fields,
            accepted: None,
            leftovers: entries.iter().any(is_leftover),
            shared: references.len() > usize::from(controller.is_some()),
            controller,
            kept: is_kept(metadata.annotations.as_ref()),
            leaving: metadata.deletion_timestamp.is_some(),
            managers: (!as_sealed).then(|| entries.into()),
            uid: metadata.uid.unwrap_or_default().into(),
            revision: metadata.resource_version.unwrap_or_default().into(),
        }
    }

    /// The marks of those who may want to hear of it: whom it names, and what controls it.
    pub(crate) fn marks(&self) -> impl Iterator<Item = &Arc<str>> {
        let controller = self.controller.as_ref().map(|by| &by.uid);
        let other = controller.filter(|uid| self.owner.as_ref() != Some(*uid));
        self.owner.iter().chain(other)
    }

    /// Whether our fields are as we left them.
    pub(crate) fn is_untouched(&self) -> bool {
        let sealed = self.seal.map(|seal| seal.fields);
        sealed == Some(self.fields) || (sealed.is_some() && self.accepted == Some(self.fields))
    }

    /// Whether it is a later state than `other`. Revisions are numbers on every server since
    /// 1.35; where they are not, whatever comes later in time counts.
    pub(crate) fn is_newer_than(&self, other: &str) -> bool {
        match (self.revision.parse::<u64>(), other.parse::<u64>()) {
            (Ok(own), Ok(other)) => own > other,
            _ => true,
        }
    }
}
