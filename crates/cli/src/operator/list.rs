//! The operators that this program can run. A new one is a line here and a file beside it.

use anyhow::bail;
use evenkeel_agent_operator::operator::with_controllers;
use evenkeel_controller::Manager;
use evenkeel_database_operator::passwords::OverTheNetwork;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use prometheus_client::registry::Registry;

use super::running::Run;
use super::shape;

/// An operator that this program can run.
pub(crate) struct Operator {
    /// What people call it.
    pub(crate) name: &'static str,
    /// The definitions of the resources that it serves.
    pub(crate) definitions: fn() -> Vec<CustomResourceDefinition>,
    /// Something to try it with, as documents.
    pub(crate) samples: &'static str,
    /// Adds it to a manager, as the options say, and its numbers to a registry; leaves it out when
    /// they ask for no such thing.
    pub(crate) add: fn(Manager, &Run, &mut Registry) -> anyhow::Result<Manager>,
}

/// All of them.
pub(crate) const ALL: &[Operator] = &[
    Operator {
        name: "shape",
        definitions: evenkeel_shape_operator::definitions,
        samples: include_str!("samples/shape.yaml"),
        add: shape::add,
    },
    Operator {
        name: "database",
        definitions: evenkeel_database_operator::definitions,
        samples: include_str!("samples/database.yaml"),
        add: |manager, _, _| {
            let controller = evenkeel_database_operator::controller(OverTheNetwork);
            Ok(manager.with(controller))
        },
    },
    Operator {
        name: "agent",
        definitions: evenkeel_agent_operator::definitions,
        samples: include_str!("samples/agent.yaml"),
        add: |manager, run, registry| {
            let options = run.agents.options();
            options.numbers.register(registry);
            Ok(with_controllers(manager, options))
        },
    },
];

/// Those with these names; all of them when none is named.
pub(crate) fn named(names: &[String]) -> anyhow::Result<Vec<&'static Operator>> {
    for name in names {
        if !ALL.iter().any(|operator| operator.name == name) {
            let known: Vec<_> = ALL.iter().map(|operator| operator.name).collect();
            bail!(
                "there is no operator {name}; there are {}",
                known.join(", ")
            );
        }
    }
    let wanted =
        |operator: &&Operator| names.is_empty() || names.iter().any(|name| name == operator.name);
    Ok(ALL.iter().filter(wanted).collect())
}
