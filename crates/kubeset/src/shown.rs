//! Objects as they are shown to people: without what only the server writes, and without secrets.

use evenkeel_ambient::Random;
use serde_json::Value;

use crate::fields::hash;
use crate::key::ObjectKey;
use crate::marks::Seal;

/// How objects are shown in one answer.
#[derive(Debug)]
pub(crate) struct Shown {
    /// Makes masked values worthless to whoever guesses at them.
    salt: u64,
}

impl Shown {
    pub(crate) fn new(dice: &dyn Random) -> Self {
        Self {
            salt: dice.next_u64(),
        }
    }

    pub(crate) fn of(&self, key: &ObjectKey, mut object: Value) -> Value {
        const SERVERS: [&str; 5] = [
            "managedFields",
            "resourceVersion",
            "generation",
            "uid",
            "creationTimestamp",
        ];
        /// It repeats the whole object, secrets included.
        const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
        Seal::strip(&mut object);
        take(&mut object, "", &["status"]);
        take(&mut object, "/metadata", &SERVERS);
        take(&mut object, "/metadata/annotations", &[LAST_APPLIED]);
        if key.kind.is("", "Secret") {
            self.mask(&mut object);
        }
        object
    }

    fn mask(&self, secret: &mut Value) {
        for part in ["/data", "/stringData"] {
            let values = secret.pointer_mut(part).and_then(Value::as_object_mut);
            for value in values.into_iter().flat_map(|values| values.values_mut()) {
                let digest = hash(&format!("{}{value}", self.salt)) >> 32;
                *value = format!("(masked {digest:08x})").into();
            }
        }
    }
}

fn take(object: &mut Value, at: &str, fields: &[&str]) {
    if let Some(Value::Object(map)) = object.pointer_mut(at) {
        for field in fields {
            map.remove(*field);
        }
    }
}

#[cfg(test)]
mod tests {
    use evenkeel_ambient::SeededRandom;
    use serde_json::json;

    use super::*;
    use crate::key::GroupKind;

    #[test]
    fn secrets_are_masked_equal_ones_alike() {
        let key = ObjectKey::new(GroupKind::new("", "Secret"), Some("n"), "s");
        let secret = json!({
            "metadata": {"name": "s", "uid": "u", "annotations": {
                "evenkeel.io/applied": "1.2",
                "kubectl.kubernetes.io/last-applied-configuration": "hunter2",
            }},
            "data": {"a": "aHVudGVyMg==", "b": "aHVudGVyMg==", "c": "b3RoZXI="},
            "status": {},
        });
        let shown = Shown::new(&SeededRandom::new(1)).of(&key, secret.clone());
        assert_eq!(shown["data"]["a"], shown["data"]["b"]);
        assert_ne!(shown["data"]["a"], shown["data"]["c"]);
        assert_eq!(shown["metadata"], json!({"name": "s", "annotations": {}}));
        for word in ["hunter2", "aHVudGVyMg", "status"] {
            assert!(!shown.to_string().contains(word), "{shown}");
        }
        let other = Shown::new(&SeededRandom::new(2)).of(&key, secret);
        assert_ne!(
            shown["data"]["a"], other["data"]["a"],
            "nobody can compare answers"
        );
    }
}
