//! Deleting a pod in a way that its disruption budget can refuse.

use serde_json::Value;

use super::pods::done;
use super::{Call, Change, Writing};
use crate::meta;
use crate::reply::Reply;
use crate::request::{self, DeleteOptions};
use crate::selectors::LabelSelector;
use crate::status::{ApiError, Cause, Details};
use crate::store::{Key, Object, ResourceId};
use crate::workloads;

impl Call<'_> {
    pub(super) fn evict(&self, name: &str) -> Result<Reply, ApiError> {
        let eviction = request::decode(&self.request.content_type, &self.request.body)?.value;
        let wanted = eviction
            .get("deleteOptions")
            .filter(|options| options.is_object());
        let options = DeleteOptions::read(&self.request.query, wanted.cloned())?;
        let pod = self
            .cluster
            .store()
            .get(&self.resource.stored, &self.key(name));
        let pod = pod.ok_or_else(|| ApiError::not_found(&self.resource.id, name))?;
        if counts(&pod) {
            self.ask_budget(&pod, options.dry_run)?;
        }
        self.deleting(options.dry_run)
            .delete(&self.key(name), &options)?;
        Ok(done())
    }

    fn ask_budget(&self, pod: &Value, dry_run: bool) -> Result<(), ApiError> {
        match self.budgets_of(pod).as_slice() {
            [] => Ok(()),
            [budget] if may_go_unhealthy(pod, budget) => Ok(()),
            [budget] => self.spend(&meta::key(budget), dry_run),
            _ => Err(ApiError::internal(
                "This pod has more than one PodDisruptionBudget, which the eviction subresource \
                 does not support.",
            )),
        }
    }

    fn budgets_of(&self, pod: &Value) -> Vec<Object> {
        let budgets = ResourceId::new("policy", "poddisruptionbudgets");
        let snapshot = self.cluster.store().snapshot(&budgets);
        let selects = |budget: &Object| {
            LabelSelector::of(&budget["spec"]["selector"]).matches(&pod["metadata"]["labels"])
        };
        snapshot
            .in_namespace(Some(meta::namespace(pod)))
            .map(|(_, budget)| budget.clone())
            .filter(selects)
            .collect()
    }

    /// Takes one disruption off what the budget allows. The controller counts again when the pod
    /// goes; until then nobody else can take the same one.
    fn spend(&self, key: &Key, dry_run: bool) -> Result<(), ApiError> {
        let registry = self.cluster.registry();
        let Some(budgets) = registry.find("policy", "v1", "poddisruptionbudgets") else {
            return Ok(());
        };
        let writing = Writing {
            resource: &budgets,
            subresource: "status",
            ..self.deleting(dry_run)
        };
        let spent = writing.update(key, |live| {
            let live = live.ok_or_else(|| ApiError::not_found(&budgets.id, key.name()))?;
            let allowed = allowed(live)?;
            let mut budget = live.clone();
            budget["status"]["disruptionsAllowed"] = (allowed - 1).into();
            Ok(Change::Replaced(budget))
        });
        spent.map(drop)
    }
}

/// Whether a budget cares: not for a pod that does no work (any more).
fn counts(pod: &Value) -> bool {
    let idle = matches!(
        pod["status"]["phase"].as_str(),
        Some("Pending" | "Succeeded" | "Failed")
    );
    !idle && !meta::is_deleting(pod)
}

/// A pod that is not ready may go if the others are enough, or if the budget does not mind.
fn may_go_unhealthy(pod: &Value, budget: &Value) -> bool {
    let status = |field: &str| budget["status"][field].as_i64().unwrap_or(0);
    let needed = status("desiredHealthy");
    let enough = needed > 0 && status("currentHealthy") >= needed;
    let always = budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow";
    !workloads::is_ready(pod) && (always || enough)
}

/// How many disruptions a budget allows; a refusal if none.
fn allowed(budget: &Value) -> Result<i64, ApiError> {
    let status = |field: &str| budget["status"][field].as_i64().unwrap_or(0);
    let name = meta::name(budget);
    if status("observedGeneration") < budget["metadata"]["generation"].as_i64().unwrap_or(0) {
        let why = format!("The disruption budget {name} is still being processed by the server.");
        return Err(refusal(why, 10));
    }
    match status("disruptionsAllowed") {
        0 => {
            let (needed, healthy) = (status("desiredHealthy"), status("currentHealthy"));
            Err(refusal(
                format!(
                    "The disruption budget {name} needs {needed} healthy pods and has {healthy} \
                     currently"
                ),
                0,
            ))
        }
        allowed => Ok(allowed),
    }
}

fn refusal(why: String, retry_after_seconds: u32) -> ApiError {
    let words = "Cannot evict pod as it would violate the pod's disruption budget.";
    let cause = Cause {
        reason: "DisruptionBudget",
        message: why,
        field: String::new(),
    };
    ApiError::new(429, "TooManyRequests", words).about(Details {
        causes: vec![cause],
        retry_after_seconds,
        ..Details::default()
    })
}
