//! How each type is kept in a column.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use evenkeel_model as model;
use jiff::Timestamp;
use uuid::Uuid;

use super::query::{Row, Value};
use crate::{Error, Result};

/// A type that fits in a column.
pub(crate) trait Stored: Sized {
    /// The typed absence of a value: PostgreSQL wants to know what is not there.
    const NULL: Value;

    /// As a value to bind.
    fn store(&self) -> Value;

    /// From a column that is not null.
    fn load(row: &Row, column: &str) -> Result<Self>;
}

macro_rules! plain {
    ($($type:ty => $variant:ident),+ $(,)?) => {$(
        impl Stored for $type {
            const NULL: Value = Value::$variant(None);

            fn store(&self) -> Value {
                Value::$variant(Some(self.clone()))
            }

            fn load(row: &Row, column: &str) -> Result<Self> {
                row.plain(column)
            }
        }
    )+};
}

plain! {
    i64 => Integer,
    bool => Boolean,
    String => Text,
    Uuid => Uuid,
    Vec<u8> => Bytes,
}

impl<T: Stored> Stored for Option<T> {
    const NULL: Value = T::NULL;

    fn store(&self) -> Value {
        self.as_ref().map_or(T::NULL, T::store)
    }

    fn load(row: &Row, column: &str) -> Result<Self> {
        if row.is_null(column)? {
            Ok(None)
        } else {
            T::load(row, column).map(Some)
        }
    }
}

/// Types that wrap a plain one.
macro_rules! wrapped {
    ($($plain:ty: $($type:ident),+;)+) => {$($(
        impl Stored for model::$type {
            const NULL: Value = <$plain>::NULL;

            fn store(&self) -> Value {
                self.0.store()
            }

            fn load(row: &Row, column: &str) -> Result<Self> {
                <$plain>::load(row, column).map(Self)
            }
        }
    )+)+};
}

wrapped! {
    Uuid: GeneratorId, AgentId, RegistrationId, StackId, DeploymentId, TargetId, EventId,
        WebhookId, DeliveryId, AuditId, KeyId, DiffId;
    i64: SequenceId, ChangeNumber, ReconcileToken;
    model::Checksum: KeyHash;
}

/// Types that are kept as the text they are written as.
macro_rules! written {
    ($($type:ident),+ $(,)?) => {$(
        impl Stored for model::$type {
            const NULL: Value = Value::Text(None);

            fn store(&self) -> Value {
                Value::Text(Some(self.to_string()))
            }

            fn load(row: &Row, column: &str) -> Result<Self> {
                parse(column, &String::load(row, column)?)
            }
        }
    )+};
}

written! {
    Name, Label, AnnotationKey, AnnotationValue, Checksum, AgentStatus, ObjectKind, Order,
    EventStatus, HealthStatus, ActorKind, Action, FleetEvent, DeliveryStatus, DriftMode,
}

fn parse<T: FromStr<Err: Display>>(column: &str, text: &str) -> Result<T> {
    text.parse().map_err(|error: T::Err| Error::Unreadable {
        column: column.to_owned(),
        source: Arc::from(Box::<dyn std::error::Error + Send + Sync>::from(
            error.to_string(),
        )),
    })
}

impl Stored for Timestamp {
    const NULL: Value = Value::Integer(None);

    fn store(&self) -> Value {
        self.as_microsecond().store()
    }

    fn load(row: &Row, column: &str) -> Result<Self> {
        Self::from_microsecond(i64::load(row, column)?).map_err(|error| Error::Unreadable {
            column: column.to_owned(),
            source: Arc::new(error),
        })
    }
}

impl Stored for serde_json::Value {
    const NULL: Value = Value::Text(None);

    fn store(&self) -> Value {
        Value::Text(Some(self.to_string()))
    }

    fn load(row: &Row, column: &str) -> Result<Self> {
        parse(column, &String::load(row, column)?)
    }
}
