//! Who manages which fields: the entries of `metadata.managedFields`.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::fields_v1::{self, FieldsError};
use super::set::FieldSet;
use crate::meta;

/// How many entries of updates an object keeps; the oldest are joined beyond that.
const MAX_UPDATERS: usize = 10;
const JOINED: &str = "ancient-changes";

/// What tells one manager's entry apart from another's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    pub(crate) manager: String,
    pub(crate) operation: Operation,
    pub(crate) subresource: String,
}

/// How a manager writes. An applier keeps its entry when it moves to another version of the API,
/// an updater does not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    Apply,
    Update { api_version: String },
}

/// One manager and the fields it manages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) identity: Identity,
    pub(crate) api_version: String,
    pub(crate) fields: FieldSet,
    pub(crate) time: Option<Timestamp>,
}

/// Why `managedFields` cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ManagersError {
    #[error("operation must be `Apply` or `Update`")]
    Operation,
    #[error("apiVersion must not be empty")]
    ApiVersion,
    #[error("missing fieldsType in managed fields entry {0}")]
    NoFieldsType(usize),
    #[error("invalid fieldsType {kind:?} in managed fields entry {index}")]
    FieldsType { kind: String, index: usize },
    #[error("reading the time of a managed fields entry")]
    Time(#[source] jiff::Error),
    #[error("error decoding set: {0}")]
    Fields(#[from] FieldsError),
    #[error("managedFields is not a list of entries")]
    NotEntries,
}

/// The managers of one object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Managers {
    entries: Vec<Entry>,
}

impl Managers {
    /// Reads the managers of an object.
    pub(crate) fn of(object: &Value) -> Result<Self, ManagersError> {
        Self::decode(&object["metadata"]["managedFields"])
    }

    /// Reads the value of `managedFields`.
    pub(crate) fn decode(fields: &Value) -> Result<Self, ManagersError> {
        let entries = match fields {
            Value::Null => &[][..],
            Value::Array(entries) => entries,
            _ => return Err(ManagersError::NotEntries),
        };
        let mut managers = Self::default();
        for (index, entry) in entries.iter().enumerate() {
            managers.put(decode(index, entry)?);
        }
        Ok(managers)
    }

    /// Whether an object has an applier recorded with just these fields; asked of its text, since
    /// most applies change nothing and reading all managers takes longest.
    pub(crate) fn has(
        object: &Value,
        applier: &Identity,
        api_version: &str,
        fields: &FieldSet,
    ) -> bool {
        let entries = object["metadata"]["managedFields"].as_array();
        let text = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let recorded = entries.into_iter().flatten().find(|entry| {
            text(entry, "manager") == applier.manager
                && text(entry, "operation") == applier.operation.name()
                && text(entry, "subresource") == applier.subresource
        });
        recorded.is_some_and(|entry| {
            entry["apiVersion"] == api_version
                && entry["fieldsV1"] == fields_v1::encode(&fields.clone().without_identity())
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn get(&self, identity: &Identity) -> Option<&Entry> {
        self.entries
            .iter()
            .find(|entry| entry.identity == *identity)
    }

    /// Every entry but the one of this identity.
    pub(crate) fn others(&self, identity: &Identity) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(move |entry| entry.identity != *identity)
    }

    /// Takes fields from every entry; one that has none left disappears.
    pub(crate) fn take(&mut self, fields: &FieldSet) {
        if !fields.is_empty() {
            self.edit(|entry| entry.fields = entry.fields.difference(fields));
        }
    }

    /// Takes fields from every entry but one.
    pub(crate) fn take_from_others(&mut self, identity: &Identity, fields: &FieldSet) {
        if !fields.is_empty() {
            self.edit(|entry| {
                if entry.identity != *identity {
                    entry.fields = entry.fields.difference(fields);
                }
            });
        }
    }

    fn edit(&mut self, change: impl Fn(&mut Entry)) {
        self.entries.iter_mut().for_each(change);
        self.entries.retain(|entry| !entry.fields.is_empty());
    }

    /// Replaces the entry of the same identity; an entry without fields is dropped.
    pub(crate) fn put(&mut self, entry: Entry) {
        self.entries
            .retain(|other| other.identity != entry.identity);
        if !entry.fields.is_empty() {
            self.entries.push(entry);
        }
    }

    /// Ends the writing of an entry: fields that tell objects apart belong to nobody, and the
    /// time moves if one is given.
    pub(crate) fn settle(&mut self, identity: &Identity, time: Option<Timestamp>) {
        if let Some(mut entry) = self.get(identity).cloned() {
            entry.fields = entry.fields.without_identity();
            entry.time = time.or(entry.time);
            self.put(entry);
        }
    }

    /// The fields that anybody manages.
    pub(crate) fn all_fields(&self) -> FieldSet {
        self.entries.iter().fold(FieldSet::default(), |all, entry| {
            all.union(entry.fields.clone())
        })
    }

    /// Joins the oldest updaters of each version of the API until few enough are left.
    pub(crate) fn cap(&mut self) {
        let updaters = self.entries.iter().filter(|entry| entry.is_update());
        let mut excess = updaters.clone().count().saturating_sub(MAX_UPDATERS);
        if excess == 0 {
            return;
        }
        let mut updaters: Vec<_> = updaters.cloned().collect();
        updaters.sort_by(|a, b| (a.seconds(), &a.identity).cmp(&(b.seconds(), &b.identity)));
        let mut oldest: Vec<Entry> = Vec::new();
        for entry in updaters {
            if excess == 0 {
                break;
            }
            match oldest
                .iter()
                .find(|old| old.api_version == entry.api_version)
            {
                None => oldest.push(entry),
                Some(_) if entry.identity.manager == JOINED => {}
                Some(old) => {
                    self.join(old, &entry);
                    excess -= 1;
                }
            }
        }
    }

    /// Moves an entry into the joint one of its version, which begins as the oldest entry.
    fn join(&mut self, oldest: &Entry, entry: &Entry) {
        let identity = Identity {
            manager: JOINED.to_owned(),
            operation: entry.identity.operation.clone(),
            subresource: String::new(),
        };
        let (joined, gone) = match self.get(&identity) {
            Some(joined) => (joined.fields.clone(), &entry.identity),
            None => (oldest.fields.clone(), &oldest.identity),
        };
        let fields = joined.union(entry.fields.clone());
        self.entries
            .retain(|other| other.identity != *gone && other.identity != entry.identity);
        let Entry {
            api_version, time, ..
        } = entry.clone();
        self.put(Entry {
            identity,
            api_version,
            fields,
            time,
        });
    }

    /// Writes the managers into an object; none leave no trace.
    pub(crate) fn write(mut self, object: &mut Value) {
        self.entries.sort_by(|a, b| a.order().cmp(&b.order()));
        if self.entries.is_empty() {
            meta::remove(object, "managedFields");
        } else {
            let entries: Vec<Value> = self.entries.iter().map(encode).collect();
            meta::set(object, "managedFields", entries);
        }
    }
}

impl Entry {
    fn is_update(&self) -> bool {
        matches!(self.identity.operation, Operation::Update { .. })
    }

    fn seconds(&self) -> i64 {
        self.time.map_or(0, Timestamp::as_second)
    }

    /// Appliers first, then by time, then by name.
    fn order(&self) -> (bool, i64, &str, &str, &str) {
        let Identity {
            manager,
            subresource,
            ..
        } = &self.identity;
        (
            self.is_update(),
            self.seconds(),
            manager,
            &self.api_version,
            subresource,
        )
    }
}

fn decode(index: usize, entry: &Value) -> Result<Entry, ManagersError> {
    let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
    let api_version = text("apiVersion");
    let operation = match &*text("operation") {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update {
            api_version: api_version.clone(),
        },
        _ => return Err(ManagersError::Operation),
    };
    if api_version.is_empty() {
        return Err(ManagersError::ApiVersion);
    }
    match text("fieldsType") {
        kind if kind == "FieldsV1" => {}
        kind if kind.is_empty() => return Err(ManagersError::NoFieldsType(index)),
        kind => return Err(ManagersError::FieldsType { kind, index }),
    }
    let time = entry["time"]
        .as_str()
        .map(str::parse)
        .transpose()
        .map_err(ManagersError::Time)?;
    Ok(Entry {
        identity: Identity {
            manager: text("manager"),
            operation,
            subresource: text("subresource"),
        },
        api_version,
        fields: fields_v1::decode(entry.get("fieldsV1"))?,
        time,
    })
}

fn encode(entry: &Entry) -> Value {
    let mut out = Map::new();
    let mut put = |name: &str, value: Value| out.insert(name.to_owned(), value);
    let Identity {
        manager,
        operation,
        subresource,
    } = &entry.identity;
    put("manager", manager.as_str().into());
    put("operation", operation.name().into());
    put("apiVersion", entry.api_version.as_str().into());
    if let Some(time) = entry.time {
        put(
            "time",
            time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into(),
        );
    }
    put("fieldsType", "FieldsV1".into());
    put("fieldsV1", fields_v1::encode(&entry.fields));
    if !subresource.is_empty() {
        put("subresource", subresource.as_str().into());
    }
    Value::Object(out)
}

impl Operation {
    fn name(&self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update { .. } => "Update",
        }
    }
}
