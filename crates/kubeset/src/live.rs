//! What is remembered of an object of the cluster: some hundred bytes of its metadata.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;

use crate::calls::Seen;
use crate::fields::fingerprint;
use crate::marks::{Seal, is_kept, owner_of};

/// An object of the cluster as far as a set needs to know it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Live {
    pub(crate) uid: String,
    pub(crate) revision: String,
    pub(crate) owner: Option<Box<str>>,
    pub(crate) seal: Option<Seal>,
    /// The fingerprint of what we own of it.
    pub(crate) fields: u64,
    /// A fingerprint that differs from the seal and is right all the same, because the server
    /// answered our own write with it.
    pub(crate) accepted: Option<u64>,
    /// Who owns what; kept only while the fields are not what was sealed.
    pub(crate) managers: Option<Box<[ManagedFieldsEntry]>>,
    pub(crate) controlled: bool,
    pub(crate) kept: bool,
    pub(crate) leaving: bool,
}

impl Live {
    /// What `seen` tells, where fields are owned as `manager` and owners named in `owner_key`.
    pub(crate) fn read(seen: Seen, owner_key: &str, manager: &str) -> Self {
        let metadata = seen.metadata;
        let entries = metadata.managed_fields.as_deref().unwrap_or_default();
        let (seal, fields) = (Seal::of(&metadata), fingerprint(entries, manager));
        let as_sealed = seal.is_some_and(|seal| seal.fields == fields);
        let references = metadata.owner_references.as_deref().unwrap_or_default();
        Self {
            owner: owner_of(&metadata, owner_key).map(Into::into),
            seal,
            fields,
            accepted: None,
            controlled: !references.is_empty(),
            kept: is_kept(&metadata),
            leaving: metadata.deletion_timestamp.is_some(),
            managers: (!as_sealed).then(|| entries.into()),
            uid: metadata.uid.unwrap_or_default(),
            revision: metadata.resource_version.unwrap_or_default(),
        }
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
