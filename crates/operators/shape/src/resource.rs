//! The custom resources: `Shape`, which people declare, and `ShapeRef`, which the operator keeps.
#![expect(
    unreachable_pub,
    reason = "the derive of the schema repeats the structs where nobody can reach them"
)]

use evenkeel_controller::{Condition, Conditions, Status, conditions_schema};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpoint;

/// What a shape can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Form {
    /// Four corners.
    Square,
    /// None.
    Circle,
    /// Three.
    Triangle,
    /// Many, pointed.
    Star,
    /// Six.
    Hexagon,
}

impl Form {
    /// The word that the cloud uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Square => "Square",
            Self::Circle => "Circle",
            Self::Triangle => "Triangle",
            Self::Star => "Star",
            Self::Hexagon => "Hexagon",
        }
    }
}

/// What becomes of the cloud's shape when its resource is deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DeletionPolicy {
    /// It is removed.
    #[default]
    Delete,
    /// It stays, and is nobody's.
    Retain,
}

/// A shape that should exist in the cloud.
#[derive(CustomResource, KubeSchema, Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "shapes.evenkeel.io",
    version = "v1",
    kind = "Shape",
    namespaced,
    status = "ShapeStatus",
    category = "evenkeel",
    doc = "A shape that should exist in the cloud",
    printcolumn = r#"{"name": "Type", "type": "string", "jsonPath": ".spec.type"}"#,
    printcolumn = r#"{"name": "Colour", "type": "string", "jsonPath": ".spec.colour"}"#,
    printcolumn = r#"{"name": "Id", "type": "string", "jsonPath": ".status.id"}"#,
    printcolumn = r#"{"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"}"#,
    printcolumn = r#"{"name": "Why", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].reason"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("!has(oldSelf.adopt) || (has(self.adopt) && self.adopt == oldSelf.adopt)", "adopt cannot be changed or removed once it is set"))]
pub struct ShapeSpec {
    /// What it is.
    #[serde(rename = "type")]
    pub form: Form,
    /// Its colour: a word in small letters.
    #[x_kube(validation = ("self.matches('^[a-z]+(-[a-z]+)*$')", "colour must be a word in small letters, such as purple or sky-blue"))]
    #[schemars(length(min = 1, max = 32))]
    pub colour: String,
    /// What becomes of the cloud's shape when this is deleted.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
    /// While true nothing is done about it, not even when it is deleted.
    #[serde(default)]
    pub paused: bool,
    /// The id of a cloud shape that belongs to nobody and shall become this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub adopt: Option<String>,
}

/// What the operator says of a shape.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShapeStatus {
    /// Accepted: it can be made. Synced: the cloud is as declared. Ready: it is there.
    #[serde(default)]
    #[schemars(schema_with = "conditions_schema")]
    pub conditions: Vec<Condition>,
    /// The generation that this was said about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The cloud's id of the shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How far its making has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
}

impl Conditions for ShapeStatus {
    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.conditions
    }

    fn observed_generation(&mut self) -> Option<&mut Option<i64>> {
        Some(&mut self.observed_generation)
    }
}

impl ShapeStatus {
    /// Whether all is well and said about this generation.
    pub(crate) fn is_settled(&self, generation: i64) -> bool {
        let well = |one: &Condition| one.status == Status::True && one.is_current(generation);
        let made = self.checkpoint.as_ref().and_then(Checkpoint::made_id);
        self.observed_generation == Some(generation)
            && self.conditions.len() == 3
            && self.conditions.iter().all(well)
            && made.is_some()
            && made == self.id.as_deref()
    }
}

/// Which Shape a ShapeRef is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Of {
    /// Its name, in the same namespace.
    #[schemars(length(max = 253))]
    pub name: String,
    /// Its uid; a namesake that is made later is another Shape.
    #[schemars(length(max = 64))]
    pub uid: String,
}

/// What the operator knows of a cloud shape, kept apart from the Shape so that it outlives it.
#[derive(CustomResource, KubeSchema, Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "shapes.evenkeel.io",
    version = "v1",
    kind = "ShapeRef",
    namespaced,
    category = "evenkeel",
    doc = "What the operator knows of a cloud shape; do not edit",
    printcolumn = r#"{"name": "Shape", "type": "string", "jsonPath": ".spec.shape.name"}"#,
    printcolumn = r#"{"name": "Progress", "type": "string", "jsonPath": ".spec.checkpoint.progress"}"#,
    printcolumn = r#"{"name": "Id", "type": "string", "jsonPath": ".spec.checkpoint.id"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("self.shape.uid == oldSelf.shape.uid && self.shape.name == oldSelf.shape.name", "a ShapeRef stays with its Shape"))]
pub struct ShapeRefSpec {
    /// Which Shape it is of.
    pub shape: Of,
    /// What becomes of the cloud's shape when the Shape is gone.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
    /// How far the making of the cloud's shape has come.
    pub checkpoint: Checkpoint,
}
