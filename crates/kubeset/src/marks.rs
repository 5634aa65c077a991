//! What every object of a set carries: whose it is, what the caller wants to see on it, and a
//! seal that tells a later process what was applied.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::cluster::Shared;
use crate::fields::hash;
use crate::metadata::Metadata;
use crate::owner::{Parent, Whose};
use crate::set::SetPolicy;

/// The annotation that keeps an object in the cluster when it leaves its set, or when its parent
/// goes: data and secrets that nobody can make again.
pub const KEEP: (&str, &str) = ("evenkeel.io/on-removal", "keep");
/// The annotation of an object that is made if it is missing and never changed afterwards: a
/// password that was drawn once.
pub const CREATE_ONCE: (&str, &str) = ("evenkeel.io/on-change", "leave");
/// What others call it.
const HELM_KEEP: (&str, &str) = ("helm.sh/resource-policy", "keep");
/// The annotation with the seal.
const SEAL: &str = "evenkeel.io/applied";

/// What was applied: the content, and the fields that we owned right after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) content: u64,
    pub(crate) fields: u64,
}

impl Seal {
    const UNKNOWN: Self = Self {
        content: 0,
        fields: 0,
    };

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

    pub(crate) fn of(metadata: &Metadata) -> Option<Self> {
        Self::read(metadata.annotations.as_ref()?.get(SEAL)?)
    }

    /// Takes it off `object`.
    pub(crate) fn strip(object: &mut Value) {
        if let Some(Value::Object(annotations)) = object.pointer_mut("/metadata/annotations") {
            annotations.remove(SEAL);
        }
    }

    /// Writes it on `object`.
    pub(crate) fn put(self, object: &mut Value) {
        object["metadata"]["annotations"][SEAL] = self.text().into();
    }
}

/// The marks of one set.
#[derive(Debug)]
pub(crate) struct Marks<'s> {
    /// The label and annotation that name the owner.
    pub(crate) owner_key: &'s str,
    pub(crate) whose: &'s Whose,
    pub(crate) labels: &'s BTreeMap<String, String>,
    pub(crate) annotations: &'s BTreeMap<String, String>,
}

impl<'s> Marks<'s> {
    pub(crate) fn new(cluster: &'s Shared, whose: &'s Whose, policy: &'s SetPolicy) -> Self {
        Self {
            owner_key: &cluster.settings.owner_key,
            whose,
            labels: &policy.labels,
            annotations: &policy.annotations,
        }
    }

    /// Tells marks, and where they are put by default, from others.
    pub(crate) fn fingerprint(&self, default_namespace: &str) -> u64 {
        let parent = self.whose.parent().map(Parent::reference);
        let all = json!([
            self.owner_key,
            self.whose.mark().as_str(),
            parent,
            self.labels,
            self.annotations,
            default_namespace,
        ]);
        hash(&all.to_string())
    }

    /// Writes the marks on `object`.
    pub(crate) fn put(&self, object: &mut Value) {
        let metadata = &mut object["metadata"];
        for (place, more) in [("labels", self.labels), ("annotations", self.annotations)] {
            let marks = filled(&mut metadata[place], json!({}));
            marks[self.owner_key] = self.whose.mark().as_str().into();
            for (name, value) in more {
                marks[name] = value.as_str().into();
            }
        }
        if let Some(parent) = self.whose.parent()
            && ![KEEP, HELM_KEEP]
                .iter()
                .any(|keep| says(&metadata["annotations"], *keep))
            && let Value::Array(references) = filled(&mut metadata["ownerReferences"], json!([]))
        {
            references.push(parent.reference());
        }
        // A place for the seal, so that the fields are the same before and after it is known.
        Seal::UNKNOWN.put(object);
    }
}

/// What takes the marks of `owner_key` off the object with this uid and revision.
pub(crate) fn unmarked(owner_key: &str, uid: &str, revision: &str) -> Value {
    json!({"metadata": {
        "uid": uid,
        "resourceVersion": revision,
        "labels": {owner_key: null},
        "annotations": {owner_key: null, SEAL: null},
    }})
}

/// The value, made `empty` where there is none.
fn filled(value: &mut Value, empty: Value) -> &mut Value {
    if std::mem::discriminant(value) != std::mem::discriminant(&empty) {
        *value = empty;
    }
    value
}

fn says(annotations: &Value, (name, word): (&str, &str)) -> bool {
    annotations[name] == word
}

/// Whether an object is made once and then left as it is.
pub(crate) fn is_made_once(object: &Value) -> bool {
    says(&object["metadata"]["annotations"], CREATE_ONCE)
}

/// Whose an object is. The annotation alone decides: controllers copy labels to what they make.
pub(crate) fn owner_of<'m>(metadata: &'m Metadata, owner_key: &str) -> Option<&'m str> {
    metadata
        .annotations
        .as_ref()?
        .get(owner_key)
        .map(String::as_str)
}

/// Whether an object is to stay in the cluster when it leaves its set.
pub(crate) fn is_kept(annotations: Option<&BTreeMap<String, String>>) -> bool {
    let said = |name| annotations.and_then(|all| all.get(name));
    [KEEP, HELM_KEEP]
        .iter()
        .any(|(name, keep)| said(*name).is_some_and(|said| said == keep))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owner::Owner;

    /// Puts the marks of the set `a` with this checksum on `object`; returns their fingerprint.
    fn mark(object: &mut Value, checksum: &str) -> u64 {
        let marks = Marks {
            owner_key: "example.com/set",
            whose: &Whose::Named(Owner::new("a").unwrap()),
            labels: &BTreeMap::new(),
            annotations: &BTreeMap::from([("example.com/checksum".into(), checksum.into())]),
        };
        marks.put(object);
        marks.fingerprint("default")
    }

    #[test]
    fn marks_are_put_beside_what_is_there() {
        let mut object = json!({"metadata": {"name": "x", "labels": {"app": "x"}}});
        mark(&mut object, "1");
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
    fn other_marks_have_another_fingerprint() {
        let fingerprint = |checksum| mark(&mut json!({"metadata": {}}), checksum);
        assert_eq!(fingerprint("1"), fingerprint("1"));
        assert_ne!(fingerprint("1"), fingerprint("2"));
    }

    #[test]
    fn a_seal_is_read_as_it_was_written() {
        let seal = Seal {
            content: 7,
            fields: u64::MAX,
        };
        let mut object = json!({"metadata": {"annotations": {}}});
        seal.put(&mut object);
        let metadata: Metadata = serde_json::from_value(object["metadata"].clone()).unwrap();
        assert_eq!(Seal::of(&metadata), Some(seal));
        assert_eq!(Seal::read("x.1"), None);
    }
}
