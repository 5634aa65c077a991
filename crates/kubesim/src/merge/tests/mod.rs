//! Sequences of writes to one object, each asserted by the object and its managers.

#![expect(
    clippy::needless_pass_by_value,
    reason = "objects are written where they are used"
)]

mod lists;
mod ownership;
mod probes;
mod properties;
mod recorded;
mod subresources;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::{ApplyError, ResetFields, Writer, apply, keep_times, track};
use crate::schema::{self, ListKey, ListKind, Scalar, Schema, Shape, Struct};

/// One object that writers come to, a second apart.
struct World {
    schema: Arc<Schema>,
    api_version: &'static str,
    subresource: &'static str,
    reset: &'static ResetFields,
    time: Timestamp,
    live: Option<Value>,
    /// Whether fields that became null are dropped after a write, as strategies do.
    drops_nulls: bool,
}

impl World {
    fn of(schema: Arc<Schema>, api_version: &'static str) -> Self {
        Self {
            schema,
            api_version,
            subresource: "",
            reset: ResetFields::none(),
            time: "2026-11-15T00:00:00Z".parse().unwrap(),
            live: None,
            drops_nulls: false,
        }
    }

    fn built_in(group: &str, version: &'static str, kind: &str) -> Self {
        let (_, bare) = version.rsplit_once('/').unwrap_or(("", version));
        Self::of(schema::builtin(group, bare, kind).unwrap(), version)
    }

    fn config_map() -> Self {
        Self::built_in("", "v1", "ConfigMap")
    }

    fn deployment() -> Self {
        Self {
            reset: ResetFields::custom("", true),
            ..Self::built_in("apps", "apps/v1", "Deployment")
        }
    }

    /// An object of the type of [`everything`], as a custom resource.
    fn custom() -> Self {
        Self::of(Arc::new(everything()), "ex.io/v1")
    }

    fn at(&mut self, subresource: &'static str, reset: &'static ResetFields) -> &mut Self {
        self.subresource = subresource;
        self.reset = reset;
        self
    }

    fn writer(&mut self, manager: &'static str) -> Writer<'static> {
        self.time = self.time.checked_add(SignedDuration::from_secs(1)).unwrap();
        Writer {
            manager,
            api_version: self.api_version,
            subresource: self.subresource,
            time: self.time,
        }
    }

    fn try_apply(
        &mut self,
        manager: &'static str,
        intent: &Value,
        force: bool,
    ) -> Result<&mut Self, ApplyError> {
        let writer = self.writer(manager);
        let intent = named(intent, self.api_version);
        let mut new = apply(
            self.live.as_ref(),
            &intent,
            &self.schema,
            &writer,
            self.reset,
            force,
        )?;
        if self.drops_nulls {
            drop_nulls(&mut new);
        }
        if let Some(live) = &self.live {
            keep_times(live, &mut new);
        }
        self.live = Some(new);
        Ok(self)
    }

    fn apply(&mut self, manager: &'static str, intent: Value) -> &mut Self {
        self.try_apply(manager, &intent, false)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    fn force(&mut self, manager: &'static str, intent: Value) -> &mut Self {
        self.try_apply(manager, &intent, true)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    fn refused(&mut self, manager: &'static str, intent: Value) -> String {
        self.try_apply(manager, &intent, false)
            .err()
            .expect("the apply succeeds")
            .to_string()
    }

    /// Replaces the object; its metadata stays unless given.
    fn put(&mut self, manager: &'static str, object: Value) -> &mut Self {
        let writer = self.writer(manager);
        let mut new = named(&object, self.api_version);
        if let (Some(live), true) = (&self.live, object.get("metadata").is_none()) {
            new["metadata"] = live["metadata"].clone();
        }
        self.live = Some(track(
            self.live.as_ref(),
            new,
            &self.schema,
            &writer,
            self.reset,
        ));
        self
    }

    /// The object without its name and managers.
    fn content(&self) -> Value {
        let mut object = self.live.clone().unwrap();
        let fields = object.as_object_mut().unwrap();
        fields.remove("apiVersion");
        fields.remove("kind");
        let metadata = fields["metadata"].as_object_mut().unwrap();
        metadata.remove("name");
        metadata.remove("managedFields");
        if metadata.is_empty() {
            fields.remove("metadata");
        }
        object
    }

    /// `manager operation [subresource]` and the fields, in the order of the object.
    fn managers(&self) -> Vec<(String, Value)> {
        self.entries()
            .iter()
            .map(|entry| {
                let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
                let who = format!(
                    "{} {} {}",
                    text("manager"),
                    text("operation"),
                    text("subresource")
                );
                (who.trim_end().to_owned(), entry["fieldsV1"].clone())
            })
            .collect()
    }

    fn entries(&self) -> &[Value] {
        let live = self.live.as_ref().unwrap();
        live["metadata"]["managedFields"]
            .as_array()
            .map_or(&[], Vec::as_slice)
    }

    fn fields_of(&self, manager: &str) -> Value {
        let found = self.managers().into_iter().find(|(who, _)| who == manager);
        found.map_or(Value::Null, |(_, fields)| fields)
    }

    fn time_of(&self, manager: &str) -> Option<&str> {
        let entry = self
            .entries()
            .iter()
            .find(|entry| entry["manager"] == manager)?;
        entry["time"].as_str()
    }
}

fn named(object: &Value, api_version: &str) -> Value {
    let mut object = object.clone();
    object["apiVersion"] = json!(api_version);
    object["kind"] = json!("Thing");
    object["metadata"]["name"] = json!("a");
    object
}

fn drop_nulls(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.retain(|_, value| !value.is_null());
        fields.values_mut().for_each(drop_nulls);
    }
}

fn structure<const N: usize>(fields: [(&str, Schema); N]) -> Schema {
    Schema::of(Shape::Struct(Struct {
        fields: fields
            .into_iter()
            .map(|(name, schema)| (name.into(), Arc::new(schema)))
            .collect(),
        ..Struct::default()
    }))
}

fn text() -> Schema {
    Schema::of(Shape::Scalar(Scalar::String))
}

fn integer() -> Schema {
    Schema::of(Shape::Scalar(Scalar::Integer))
}

fn map(values: Schema, atomic: bool) -> Schema {
    Schema::of(Shape::Map {
        values: Arc::new(values),
        atomic,
    })
}

fn list(items: Schema, kind: ListKind) -> Schema {
    Schema::of(Shape::List {
        items: Arc::new(items),
        kind,
    })
}

fn keys<const N: usize>(keys: [(&str, Option<Value>); N]) -> ListKind {
    ListKind::Map(
        keys.into_iter()
            .map(|(name, default)| ListKey {
                name: name.into(),
                default,
            })
            .collect(),
    )
}

/// A type with one field of every sort.
fn everything() -> Schema {
    let item = || {
        structure([
            ("name", text()),
            ("value", text()),
            ("tags", list(text(), ListKind::Set)),
        ])
    };
    let port = structure([("port", integer()), ("protocol", text()), ("name", text())]);
    let spec = structure([
        ("text", text()),
        ("number", integer()),
        ("group", structure([("a", text()), ("b", text())])),
        ("map", map(text(), false)),
        ("nested", map(map(text(), false), false)),
        ("atomicMap", map(text(), true)),
        ("set", list(text(), ListKind::Set)),
        ("items", list(item(), keys([("name", None)]))),
        (
            "ports",
            list(
                port,
                keys([("port", None), ("protocol", Some(json!("TCP")))]),
            ),
        ),
        ("atomicList", list(item(), ListKind::Atomic)),
        ("any", Schema::of(Shape::Any)),
    ]);
    let metadata = structure([
        ("name", text()),
        ("labels", map(text(), false)),
        ("annotations", map(text(), false)),
    ]);
    structure([
        ("apiVersion", text()),
        ("kind", text()),
        ("metadata", metadata),
        ("spec", spec),
        ("status", structure([("text", text())])),
    ])
}

/// An empty object.
fn nothing() -> Value {
    Value::Object(Map::new())
}
