//! The built-in resources: a generated table, read once for the whole process.

use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::resource_type::{Lazy, Origin, ResourceType, Subresource, Verb, api_version};
use crate::selectors::FieldLabels;
use crate::store::ResourceId;

/// Facts of the public discovery data of Kubernetes 1.36.4 (Apache-2.0), one resource per line;
/// written by `generate/resources.py`.
const TABLE: &str = include_str!("../../data/resources.jsonl");

#[derive(Deserialize)]
struct Row {
    group: String,
    version: Arc<str>,
    plural: String,
    singular: Arc<str>,
    kind: Arc<str>,
    namespaced: bool,
    verbs: Vec<Verb>,
    #[serde(default)]
    short_names: Vec<Arc<str>>,
    #[serde(default)]
    categories: Vec<Arc<str>>,
    hash: Option<Arc<str>>,
    #[serde(default)]
    subresources: Vec<Subresource>,
}

/// Every built-in resource, in the order in which discovery shows them.
pub(super) fn all() -> &'static [Arc<ResourceType>] {
    static ALL: LazyLock<Vec<Arc<ResourceType>>> = LazyLock::new(|| {
        let rows = serde_json::Deserializer::from_str(TABLE).into_iter::<Row>();
        rows.map_while(Result::ok)
            .map(|row| Arc::new(row.into()))
            .collect()
    });
    &ALL
}

impl From<Row> for ResourceType {
    fn from(row: Row) -> Self {
        let id = ResourceId::new(&row.group, &row.plural);
        Self {
            stored: stored(&id),
            api_version: api_version(&row.group, &row.version).into(),
            version: row.version,
            singular: row.singular,
            list_kind: format!("{}List", row.kind).into(),
            kind: row.kind,
            namespaced: row.namespaced,
            verbs: row.verbs,
            short_names: row.short_names,
            categories: row.categories,
            hash: row.hash,
            subresources: row.subresources,
            field_labels: FieldLabels::builtin(&id.group, &id.plural),
            origin: Origin::Builtin,
            strategy: Lazy::default(),
            id,
        }
    }
}

/// Events of both groups are the same objects.
fn stored(id: &ResourceId) -> ResourceId {
    match (&*id.group, &*id.plural) {
        ("events.k8s.io", "events") => ResourceId::new("", "events"),
        _ => id.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        assert_eq!(all().len(), TABLE.lines().count());
        assert!(all().iter().any(|found| &*found.kind == "Deployment"));
    }
}
