//! What an object is called, and where in the object that is written.

use std::fmt::{self, Display};

use serde_json::{Map, Value};

use crate::{ManifestError, Place};

/// What an object is called in a cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version of the group that it is written in.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The namespace, if one is written.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

/// What must be unique: the same kind in two versions of a group is the same object.
pub(crate) type Key = (String, String, Option<String>, String);

impl Identity {
    /// Group and version, as written.
    pub fn api_version(&self) -> String {
        let Self { group, version, .. } = self;
        if group.is_empty() {
            version.clone()
        } else {
            format!("{group}/{version}")
        }
    }

    pub(crate) fn key(&self) -> Key {
        let Self { group, kind, .. } = self.clone();
        (group, kind, self.namespace.clone(), self.name.clone())
    }

    /// Reads what the object at `place` is called.
    pub(crate) fn of(place: Place, object: &Map<String, Value>) -> Result<Self, ManifestError> {
        let written = Written { place, object };
        let api_version = written.text("apiVersion")?;
        let kind = written.text("kind")?;
        if written.filled("metadata.generateName").is_some() {
            let what = written.what();
            return Err(ManifestError::GenerateName { place, what });
        }
        let name = written.text("metadata.name")?;
        let namespace = written
            .is_there("metadata.namespace")
            .then(|| written.text("metadata.namespace"))
            .transpose()?;
        let (group, version) = split(&api_version).ok_or_else(|| ManifestError::ApiVersion {
            place,
            what: written.what(),
            api_version: api_version.clone(),
        })?;
        Ok(Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind,
            namespace,
            name,
        })
    }
}

impl Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (api_version, kind, name) = (self.api_version(), &self.kind, &self.name);
        match &self.namespace {
            Some(namespace) => write!(f, "{api_version} {kind} {namespace}/{name}"),
            None => write!(f, "{api_version} {kind} {name}"),
        }
    }
}

/// An object that may lack anything.
struct Written<'o> {
    place: Place,
    object: &'o Map<String, Value>,
}

impl Written<'_> {
    fn field(&self, path: &str) -> Option<&Value> {
        match path.split_once('.') {
            Some((holder, field)) => self.object.get(holder)?.get(field),
            None => self.object.get(path),
        }
    }

    fn is_there(&self, path: &str) -> bool {
        self.field(path).is_some_and(|value| !value.is_null())
    }

    fn filled(&self, path: &str) -> Option<&str> {
        let text = self.field(path).and_then(Value::as_str);
        text.filter(|text| !text.trim().is_empty())
    }

    fn text(&self, field: &'static str) -> Result<String, ManifestError> {
        let text = self.filled(field).map(str::to_owned);
        text.ok_or_else(|| ManifestError::Missing {
            place: self.place,
            what: self.what(),
            field,
        })
    }

    /// Kind and name as far as they are there.
    fn what(&self) -> String {
        let kind = self.filled("kind").unwrap_or("the object");
        let namespace = self.filled("metadata.namespace");
        match (namespace, self.filled("metadata.name")) {
            (Some(namespace), Some(name)) => format!("{kind} {namespace}/{name}"),
            (None, Some(name)) => format!("{kind} {name}"),
            (_, None) => kind.to_owned(),
        }
    }
}

/// Group and version.
fn split(api_version: &str) -> Option<(&str, &str)> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let whole = !version.is_empty() && !version.contains('/') && !api_version.starts_with('/');
    whole.then_some((group, version))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(object: &Value) -> String {
        let place = Place {
            document: 2,
            line: 5,
            item: None,
        };
        let refused = Identity::of(place, object.as_object().unwrap());
        refused.unwrap_err().to_string()
    }

    #[test]
    fn what_is_missing_is_said_with_place_kind_and_name() {
        assert_eq!(
            refusal(&json!({"kind": "Secret", "metadata": {"name": "s", "namespace": "n"}})),
            "document 2, line 5: `apiVersion` of Secret n/s must be a text that is not empty"
        );
        assert_eq!(
            refusal(&json!({"apiVersion": "v1", "metadata": {"name": "s"}})),
            "document 2, line 5: `kind` of the object s must be a text that is not empty"
        );
        assert_eq!(
            refusal(&json!({"apiVersion": "v1", "kind": "Secret"})),
            "document 2, line 5: `metadata.name` of Secret must be a text that is not empty"
        );
        let numbered = json!({"name": "s", "namespace": 7});
        assert_eq!(
            refusal(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": numbered})),
            "document 2, line 5: `metadata.namespace` of Secret s must be a text that is not empty"
        );
    }

    #[test]
    fn a_name_that_the_server_chooses_is_refused() {
        let chosen = json!({"generateName": "p-"});
        assert_eq!(
            refusal(&json!({"apiVersion": "v1", "kind": "Pod", "metadata": chosen})),
            "document 2, line 5: Pod has `metadata.generateName`, but needs a name that stays the \
             same"
        );
    }

    #[test]
    fn api_versions_have_one_or_two_parts() {
        assert_eq!(split("v1"), Some(("", "v1")));
        assert_eq!(split("apps/v1"), Some(("apps", "v1")));
        assert_eq!(split("a/b/c"), None);
        assert_eq!(split("/v1"), None);
        assert_eq!(split("apps/"), None);
        assert_eq!(
            refusal(&json!({"apiVersion": "a/b/c", "kind": "Pod", "metadata": {"name": "p"}})),
            "document 2, line 5: Pod p has the unreadable `apiVersion` \"a/b/c\""
        );
    }
}
