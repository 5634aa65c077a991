//! The operators that this program can run. A new one is a line here and a file beside it.

use evenkeel_controller::Manager;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::running::Run;
use super::shape;

/// An operator that this program can run.
pub(crate) struct Operator {
    /// What people call it.
    pub(crate) name: &'static str,
    /// The definitions of the resources that it serves.
    pub(crate) definitions: fn() -> Vec<CustomResourceDefinition>,
    /// Adds it to a manager, as the options say; leaves it out when they ask for no such thing.
    pub(crate) add: fn(Manager, &Run) -> anyhow::Result<Manager>,
}

/// All of them.
pub(crate) const ALL: &[Operator] = &[Operator {
    name: "shape",
    definitions: evenkeel_shape_operator::definitions,
    add: shape::add,
}];
