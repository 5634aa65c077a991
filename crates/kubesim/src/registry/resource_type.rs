//! What is known of one resource in one version.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;

use crate::builtin;
use crate::crd;
use crate::merge::ResetFields;
use crate::schema::Schema;
use crate::selectors::FieldLabels;
use crate::store::{Key, ResourceId};
use crate::strategy::Strategy;

/// One resource in one version: its names, what can be done with it, where it is stored.
#[derive(Debug)]
pub(crate) struct ResourceType {
    /// How errors name it.
    pub(crate) id: ResourceId,
    /// Where its objects are. Versions, and sometimes groups, share a place.
    pub(crate) stored: ResourceId,
    pub(crate) version: Arc<str>,
    /// `apps/v1`, or `v1` in the core group.
    pub(crate) api_version: Arc<str>,
    pub(crate) singular: Arc<str>,
    pub(crate) kind: Arc<str>,
    pub(crate) list_kind: Arc<str>,
    pub(crate) namespaced: bool,
    pub(crate) verbs: Vec<Verb>,
    pub(crate) short_names: Vec<Arc<str>>,
    pub(crate) categories: Vec<Arc<str>>,
    pub(crate) hash: Option<Arc<str>>,
    pub(crate) subresources: Vec<Subresource>,
    pub(crate) field_labels: FieldLabels,
    pub(crate) origin: Origin,
    pub(super) strategy: Lazy,
}

/// Where the type comes from.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    /// The generated table.
    Builtin,
    /// A custom resource definition.
    Custom(Arc<crd::Definition>),
}

/// A strategy, made when first asked for.
#[derive(Default)]
pub(super) struct Lazy(OnceLock<Arc<dyn Strategy>>);

impl fmt::Debug for Lazy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Strategy")
    }
}

/// Something that hangs below an object's path.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Subresource {
    pub(crate) name: Arc<str>,
    #[serde(default)]
    pub(crate) group: Arc<str>,
    #[serde(default)]
    pub(crate) version: Arc<str>,
    pub(crate) kind: Arc<str>,
    pub(crate) verbs: Vec<Verb>,
}

/// What can be done with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are those of the API")]
pub enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
}

impl Verb {
    /// The word that discovery and errors use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}

impl ResourceType {
    /// How its objects are prepared and judged.
    pub(crate) fn strategy(&self) -> &dyn Strategy {
        let make = || {
            let custom = match &self.origin {
                Origin::Builtin => None,
                Origin::Custom(definition) => definition.strategy(&self.version),
            };
            custom.unwrap_or_else(|| {
                builtin::strategy(&self.id.group, &self.version, &self.kind, self.namespaced)
            })
        };
        &**self.strategy.0.get_or_init(make)
    }

    /// The model of its objects.
    pub(crate) fn schema(&self) -> Arc<Schema> {
        self.strategy().schema()
    }

    /// The fields that writes through an endpoint neither change nor own.
    pub(crate) fn reset_fields(&self, subresource: &str) -> &'static ResetFields {
        let has_status = self.subresource("status").is_some();
        let ResourceId { group, plural } = &self.id;
        match self.origin {
            Origin::Builtin => ResetFields::built_in(group, plural, subresource, has_status),
            Origin::Custom(_) => ResetFields::custom(subresource, has_status),
        }
    }

    pub(crate) fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources
            .iter()
            .find(|subresource| &*subresource.name == name)
    }

    pub(crate) fn is_custom(&self) -> bool {
        matches!(self.origin, Origin::Custom(_))
    }

    /// Whether its objects are those of this resource.
    pub(crate) fn is(&self, group: &str, plural: &str) -> bool {
        &*self.stored.group == group && &*self.stored.plural == plural
    }

    /// Whether an update that names no revision is taken.
    pub(crate) fn updates_unconditionally(&self) -> bool {
        !self.is_custom() && !CONDITIONAL.contains(&(&*self.id.group, &*self.id.plural))
    }

    /// Whether an update creates what is not there.
    pub(crate) fn creates_on_update(&self) -> bool {
        CREATED_ON_UPDATE.contains(&(&*self.id.group, &*self.id.plural))
    }

    /// Whether those that depend on its objects outlive them unless told otherwise.
    pub(crate) fn orphans_by_default(&self) -> bool {
        self.is("", "replicationcontrollers") || self.is("batch", "jobs")
    }

    /// How a real server's own code calls its objects, as some errors show it.
    pub(crate) fn go_type(&self, suffix: &str) -> String {
        match self.is_custom() {
            true => format!("*unstructured.Unstructured{suffix}"),
            false => format!("*{}.{}{suffix}", self.go_package(), self.kind),
        }
    }

    /// The package of that code.
    pub(crate) fn go_package(&self) -> &str {
        match self.id.group.split('.').next() {
            None | Some("") => "core",
            Some(group) => group,
        }
    }

    /// Whether the answer to a deletion is the object rather than a status.
    pub(crate) fn answers_deleted_object(&self) -> bool {
        const CORE: &[&str] = &[
            "persistentvolumeclaims",
            "persistentvolumes",
            "pods",
            "podtemplates",
            "resourcequotas",
            "serviceaccounts",
            "services",
        ];
        match &*self.id.group {
            "" => CORE.contains(&&*self.id.plural),
            "resource.k8s.io" | "storage.k8s.io" => true,
            _ => false,
        }
    }

    /// The key under which a real server keeps an object, as some errors show it.
    pub(crate) fn storage_path(&self, key: &Key) -> String {
        let ResourceId { group, plural } = &self.id;
        let place = match (&**group, &**plural) {
            _ if self.is_custom() => format!("{group}/{plural}"),
            ("", "nodes") => "minions".into(),
            ("", "services") => "services/specs".into(),
            ("", "endpoints") => "services/endpoints".into(),
            ("networking.k8s.io", "ingresses") => "ingress".into(),
            ("apiextensions.k8s.io" | "apiregistration.k8s.io", _) => format!("{group}/{plural}"),
            _ => plural.to_string(),
        };
        format!("/registry/{place}/{key}")
    }
}

/// Built-in resources whose updates must name a revision.
const CONDITIONAL: &[(&str, &str)] = &[
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apiregistration.k8s.io", "apiservices"),
    (
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
    ),
    (
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
    ),
    ("coordination.k8s.io", "leases"),
    ("policy", "poddisruptionbudgets"),
];

/// Built-in resources that an update creates when they are not there.
const CREATED_ON_UPDATE: &[(&str, &str)] = &[
    ("", "endpoints"),
    ("", "events"),
    ("", "limitranges"),
    ("", "services"),
    ("coordination.k8s.io", "leases"),
    ("rbac.authorization.k8s.io", "clusterrolebindings"),
    ("rbac.authorization.k8s.io", "clusterroles"),
    ("rbac.authorization.k8s.io", "rolebindings"),
    ("rbac.authorization.k8s.io", "roles"),
];

/// `apps/v1`, or `v1` in the core group.
pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}
