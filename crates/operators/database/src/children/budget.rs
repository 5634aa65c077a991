//! The limit for drains.

use k8s_openapi::api::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::children::named;
use crate::names::Names;
use crate::resource::Database;

/// How many servers may be down at once. It is counted in unavailable ones, so that a Database
/// with one server never blocks the drain of its node.
pub(super) fn budget(database: &Database) -> Option<PodDisruptionBudget> {
    let wish = database.spec.disruption_budget.clone().unwrap_or_default();
    let names = Names::of(database);
    wish.enabled.then(|| PodDisruptionBudget {
        metadata: named(database, names.main()),
        spec: Some(PodDisruptionBudgetSpec {
            max_unavailable: Some(IntOrString::Int(wish.max_unavailable)),
            selector: Some(LabelSelector {
                match_labels: Some(names.selector()),
                ..LabelSelector::default()
            }),
            ..PodDisruptionBudgetSpec::default()
        }),
        status: None,
    })
}
