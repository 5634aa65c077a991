//! What every object of a set carries: whose it is, what the caller wants to see on it, and a
//! seal that tells a later process what was applied.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};

use crate::fields::hash;

/// The annotation with the seal.
const SEAL: &str = "evenkeel.io/applied";
/// Annotations that keep an object in the cluster when it leaves its set.
const KEEP: [(&str, &str); 2] = [
    ("evenkeel.io/on-removal", "keep"),
    ("helm.sh/resource-policy", "keep"),
];

/// The name of an owner: fit for a label, so that the server can select by it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(String);

/// A name that no label can carry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} cannot name an owner: 1 to 63 letters, digits, '-', '_' or '.', letters or digits at both ends"
)]
pub struct BadOwner(String);

impl Owner {
    /// The owner called `name`.
    ///
    /// # Errors
    /// When no label can carry the name.
    pub fn new(name: impl Into<String>) -> Result<Self, BadOwner> {
        let name = name.into();
        let plain = |byte: u8| byte.is_ascii_alphanumeric();
        let inner = |byte: u8| plain(byte) || matches!(byte, b'-' | b'_' | b'.');
        let ends = [name.bytes().next(), name.bytes().last()];
        let fits = name.len() <= 63
            && name.bytes().all(inner)
            && ends.into_iter().all(|end| end.is_some_and(plain));
        if fits {
            Ok(Self(name))
        } else {
            Err(BadOwner(name))
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What was applied: the content, and the fields that we owned right after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) content: u64,
    pub(crate) fields: u64,
}

impl Seal {
    fn text(self) -> String {
        format!("{:016x}.{:016x}", self.content, self.fields)
    }

    fn read(text: &str) -> Option<Self> {
        let (content, fields) = text.split_once('.')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some(Self {
            content: number(content)?,
            fields: number(fields)?,
        })
    }

    pub(crate) fn of(metadata: &ObjectMeta) -> Option<Self> {
        Self::read(metadata.annotations.as_ref()?.get(SEAL)?)
    }

    /// Writes it on `object`.
    pub(crate) fn put(self, object: &mut Value) {
        object["metadata"]["annotations"][SEAL] = self.text().into();
    }
}

/// The marks of one set.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    /// The label and annotation that name the owner.
    pub(crate) owner_key: String,
    pub(crate) owner: Owner,
    pub(crate) annotations: BTreeMap<String, String>,
}

impl Marks {
    /// Writes the marks on `object` and returns the hash of all that it then says.
    pub(crate) fn put(&self, object: &mut Value) -> u64 {
        let metadata = &mut object["metadata"];
        for place in ["labels", "annotations"] {
            if !metadata[place].is_object() {
                metadata[place] = json!({});
            }
            metadata[place][&self.owner_key] = self.owner.as_str().into();
        }
        for (name, value) in &self.annotations {
            metadata["annotations"][name] = value.as_str().into();
        }
        let content = hash(&object.to_string());
        // A place for the seal, so that the fields are the same before and after it is known.
        Seal { content, fields: 0 }.put(object);
        content
    }
}

/// Whose an object is. The annotation alone decides: controllers copy labels to what they make.
pub(crate) fn owner_of<'m>(metadata: &'m ObjectMeta, owner_key: &str) -> Option<&'m str> {
    metadata
        .annotations
        .as_ref()?
        .get(owner_key)
        .map(String::as_str)
}

/// Whether an object is to stay in the cluster when it leaves its set.
pub(crate) fn is_kept(metadata: &ObjectMeta) -> bool {
    let annotations = metadata.annotations.as_ref();
    KEEP.iter().any(|(name, keep)| {
        annotations
            .and_then(|all| all.get(*name))
            .is_some_and(|said| said == keep)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks() -> Marks {
        Marks {
            owner_key: "example.com/set".into(),
            owner: Owner::new("a").unwrap(),
            annotations: BTreeMap::from([("example.com/checksum".into(), "1".into())]),
        }
    }

    #[test]
    fn marks_are_put_beside_what_is_there() {
        let mut object = json!({"metadata": {"name": "x", "labels": {"app": "x"}}});
        marks().put(&mut object);
        assert_eq!(
            object["metadata"]["labels"],
            json!({"app": "x", "example.com/set": "a"})
        );
        assert_eq!(
            object["metadata"]["annotations"]["example.com/checksum"],
            "1"
        );
    }

    #[test]
    fn the_content_changes_with_the_object_and_with_the_marks() {
        let content = |marks: &Marks, data| marks.put(&mut json!({"metadata": {}, "data": data}));
        let mut other = marks();
        other
            .annotations
            .insert("example.com/checksum".into(), "2".into());
        assert_eq!(content(&marks(), 1), content(&marks(), 1));
        assert_ne!(content(&marks(), 1), content(&marks(), 2));
        assert_ne!(content(&marks(), 1), content(&other, 1));
    }

    #[test]
    fn a_seal_is_read_as_it_was_written() {
        let seal = Seal {
            content: 7,
            fields: u64::MAX,
        };
        let mut object = json!({"metadata": {"annotations": {}}});
        seal.put(&mut object);
        let metadata: ObjectMeta = serde_json::from_value(object["metadata"].clone()).unwrap();
        assert_eq!(Seal::of(&metadata), Some(seal));
        assert_eq!(Seal::read("x.1"), None);
    }

    #[test]
    fn owners_fit_into_labels() {
        assert!(Owner::new("3f2a-b.c_d").is_ok());
        for bad in ["", "-a", "a/b", &"x".repeat(64)] {
            assert!(Owner::new(bad).is_err(), "{bad}");
        }
    }
}
