//! What goes over the wire.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A shape as the cloud shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shape {
    /// What the cloud calls it.
    pub id: String,
    /// What people call it; need not be unique.
    pub name: String,
    /// `Square`, `Circle` and so on.
    #[serde(rename = "type")]
    pub form: String,
    /// Its colour.
    pub colour: String,
    /// Whatever people want to remember with it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The token with which it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Grows with every change; a change or removal may insist on it with `If-Match`.
    pub version: u64,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A shape to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewShape {
    /// What people call it.
    pub name: String,
    /// `Square`, `Circle` and so on.
    #[serde(rename = "type")]
    pub form: String,
    /// Its colour.
    pub colour: String,
    /// Whatever people want to remember with it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// A second call with the same token makes no second shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// A change to a shape; what is not said stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Another form.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Another colour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
    /// Other labels, all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
}

/// Some of the shapes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// In the order in which they were made.
    pub items: Vec<Shape>,
    /// Asks for the page after this one, as `after`; missing on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Why a call was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// A word for programs.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}
