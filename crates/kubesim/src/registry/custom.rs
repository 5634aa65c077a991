//! Resources that a custom resource definition defines.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::resource_type::{Lazy, Origin, ResourceType, Subresource, Verb, api_version};
use crate::crd::{Definition, Scale, Version};
use crate::selectors::FieldLabels;
use crate::store::ResourceId;

/// What can be done with custom resources, in the order in which discovery says so.
const VERBS: [Verb; 8] = [
    Verb::Delete,
    Verb::DeleteCollection,
    Verb::Get,
    Verb::List,
    Verb::Patch,
    Verb::Create,
    Verb::Update,
    Verb::Watch,
];

impl ResourceType {
    /// One version of a defined resource.
    pub(super) fn custom(definition: &Arc<Definition>, version: &Version) -> Self {
        let id = ResourceId::new(&definition.group, &definition.names.plural);
        let names = &definition.names;
        let texts = |list: &[String]| list.iter().map(|text| text.as_str().into()).collect();
        Self {
            stored: id.clone(),
            api_version: api_version(&definition.group, &version.name).into(),
            version: version.name.as_str().into(),
            singular: names.singular.as_str().into(),
            kind: names.kind.as_str().into(),
            list_kind: names.list_kind.as_str().into(),
            namespaced: definition.namespaced,
            verbs: VERBS.to_vec(),
            short_names: texts(&names.short_names),
            categories: texts(&names.categories),
            hash: storage_hash(definition),
            subresources: subresources(definition, version),
            field_labels: FieldLabels::Custom(version.selectable_fields.clone()),
            origin: Origin::Custom(definition.clone()),
            strategy: Lazy::default(),
            id,
        }
    }

    /// Where a custom resource keeps what its scale shows.
    pub(crate) fn custom_scale(&self) -> Option<&Scale> {
        self.custom_version()?.scale.as_ref()
    }

    /// The columns in which a custom resource wants to be shown.
    pub(crate) fn custom_columns(&self) -> Option<&[Value]> {
        Some(&self.custom_version()?.columns)
    }

    fn custom_version(&self) -> Option<&Version> {
        let Origin::Custom(definition) = &self.origin else {
            return None;
        };
        let mut versions = definition.versions.iter();
        versions.find(|version| version.name == *self.version)
    }
}

fn subresources(definition: &Definition, version: &Version) -> Vec<Subresource> {
    let verbs = vec![Verb::Get, Verb::Patch, Verb::Update];
    let status = version.status.then(|| Subresource {
        name: "status".into(),
        group: "".into(),
        version: "".into(),
        kind: definition.names.kind.as_str().into(),
        verbs: verbs.clone(),
    });
    let scale = version.scale.as_ref().map(|_| Subresource {
        name: "scale".into(),
        group: "autoscaling".into(),
        version: "v1".into(),
        kind: "Scale".into(),
        verbs: verbs.clone(),
    });
    status.into_iter().chain(scale).collect()
}

/// The mark by which clients see that the stored form has changed.
fn storage_hash(definition: &Definition) -> Option<Arc<str>> {
    let version = &definition.storage_version()?.name;
    let text = format!("{}/{version}/{}", definition.group, definition.names.kind);
    let digest = Sha256::digest(text.as_bytes());
    Some(STANDARD.encode(&digest[..8]).into())
}
