//! What a CRD says, compiled.

use std::sync::Arc;

use serde_json::Value;

use super::{resource::CustomResource, schema, validate};
use crate::builtin::{At, Faults};
use crate::field_error::FieldError;
use crate::schema::Schema;
use crate::strategy::Strategy;

/// A custom resource: its names, its scope, its versions.
#[derive(Debug, Clone)]
pub struct Definition {
    /// The API group.
    pub group: String,
    /// What the resource is called.
    pub names: Names,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// All versions, served or not, as the CRD orders them.
    pub versions: Vec<Version>,
}

/// The names of a custom resource.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the API")]
pub struct Names {
    pub plural: String,
    pub singular: String,
    pub kind: String,
    pub list_kind: String,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
}

/// One version of a custom resource.
#[derive(Debug, Clone)]
pub struct Version {
    /// `v1`, `v1beta1`, ...
    pub name: String,
    /// Whether clients can use it.
    pub served: bool,
    /// Whether objects are kept in it.
    pub storage: bool,
    /// The type of its objects, metadata included.
    pub schema: Arc<Schema>,
    /// Whether the status is a subresource.
    pub status: bool,
    /// The paths of the scale subresource, if there is one.
    pub scale: Option<Scale>,
    /// `additionalPrinterColumns` as they were written.
    pub columns: Vec<Value>,
    /// Paths that field selectors may name, without the leading dot.
    pub selectable_fields: Vec<String>,
    /// The warning that users of a deprecated version get.
    pub deprecation: Option<String>,
}

/// Where the scale subresource finds its numbers, without leading dots.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the API")]
pub struct Scale {
    pub spec_replicas: String,
    pub status_replicas: String,
    pub label_selector: Option<String>,
}

/// Compiles a CRD that has been defaulted, or says what is wrong with it.
pub fn compile(crd: &Value) -> Result<Definition, Vec<FieldError>> {
    let mut faults = Faults::default();
    validate::check(&At::root(crd), &mut faults);
    match faults.0.is_empty() {
        true => Ok(Definition::read(&crd["spec"])),
        false => Err(faults.0),
    }
}

impl Definition {
    fn read(spec: &Value) -> Self {
        let group = text(&spec["group"]);
        let names = Names::read(&spec["names"]);
        let versions = spec["versions"].as_array().into_iter().flatten();
        Self {
            versions: versions
                .map(|v| Version::read(v, &group, &names.kind))
                .collect(),
            namespaced: spec["scope"] == "Namespaced",
            group,
            names,
        }
    }

    /// The version in which objects are kept.
    pub fn storage_version(&self) -> Option<&Version> {
        self.versions.iter().find(|version| version.storage)
    }

    /// How objects of one version are prepared and judged.
    pub fn strategy(&self, version: &str) -> Option<Arc<dyn Strategy>> {
        let version = self.versions.iter().find(|v| v.name == version)?;
        Some(Arc::new(CustomResource::new(self, version)))
    }
}

impl Names {
    fn read(names: &Value) -> Self {
        let kind = text(&names["kind"]);
        let or = |name: &str, other: String| match names[name].as_str() {
            Some(found) if !found.is_empty() => found.to_owned(),
            _ => other,
        };
        Self {
            plural: text(&names["plural"]),
            singular: or("singular", kind.to_lowercase()),
            list_kind: or("listKind", format!("{kind}List")),
            short_names: texts(&names["shortNames"]),
            categories: texts(&names["categories"]),
            kind,
        }
    }
}

impl Version {
    fn read(version: &Value, group: &str, kind: &str) -> Self {
        let name = text(&version["name"]);
        let subresources = &version["subresources"];
        let deprecated = version["deprecated"] == true;
        let warning = match version["deprecationWarning"].as_str() {
            Some(warning) => warning.to_owned(),
            None => format!("{group}/{name} {kind} is deprecated"),
        };
        let fields = version["selectableFields"].as_array().into_iter().flatten();
        Self {
            served: version["served"] == true,
            storage: version["storage"] == true,
            schema: Arc::new(schema::resource(&version["schema"]["openAPIV3Schema"])),
            status: subresources.get("status").is_some_and(Value::is_object),
            scale: Scale::read(&subresources["scale"]),
            columns: version["additionalPrinterColumns"]
                .as_array()
                .cloned()
                .unwrap_or_default(),
            selectable_fields: fields.map(|field| undotted(&field["jsonPath"])).collect(),
            deprecation: deprecated.then_some(warning),
            name,
        }
    }
}

impl Scale {
    fn read(scale: &Value) -> Option<Self> {
        scale.is_object().then(|| Self {
            spec_replicas: undotted(&scale["specReplicasPath"]),
            status_replicas: undotted(&scale["statusReplicasPath"]),
            label_selector: scale.get("labelSelectorPath").map(undotted),
        })
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(text).collect()
}

fn undotted(path: &Value) -> String {
    let path = path.as_str().unwrap_or_default();
    path.strip_prefix('.').unwrap_or(path).to_owned()
}
