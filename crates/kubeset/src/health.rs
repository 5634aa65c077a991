//! How objects are doing, by the rules of kstatus for built-in kinds and by conditions for others.

use std::fmt::{self, Display};

use serde_json::Value;

use crate::error::Error;
use crate::key::{GroupKind, ObjectKey};
use crate::metadata::Metadata;
use crate::resource::Resource;
use crate::set::Set;

/// How an object is doing; the worst comes last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// It is as its spec says.
    Current,
    /// It is on its way out.
    Terminating,
    /// It is on its way to what its spec says: waiting, not failing.
    InProgress(String),
    /// It should exist and does not.
    Missing,
    /// It cannot get there by itself.
    Failed(String),
}

impl Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Current => f.write_str("current"),
            Self::Terminating => f.write_str("terminating"),
            Self::InProgress(why) => write!(f, "in progress: {why}"),
            Self::Missing => f.write_str("missing"),
            Self::Failed(why) => write!(f, "failed: {why}"),
        }
    }
}

/// How a set is doing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SetHealth {
    /// Every object, the worst first.
    pub objects: Vec<(ObjectKey, Health)>,
}

impl SetHealth {
    /// The object that is doing worst, unless all are well.
    pub fn worst(&self) -> Option<(&ObjectKey, &Health)> {
        let worst = self
            .objects
            .first()
            .filter(|(_, health)| *health != Health::Current);
        worst.map(|(key, health)| (key, health))
    }

    /// How many objects are as their spec says.
    pub fn current(&self) -> usize {
        self.objects
            .iter()
            .filter(|(_, health)| *health == Health::Current)
            .count()
    }

    fn of(mut objects: Vec<(ObjectKey, Health)>) -> Self {
        objects.sort_by(|(one_key, one), (other_key, other)| {
            other.cmp(one).then_with(|| one_key.cmp(other_key))
        });
        Self { objects }
    }
}

impl Display for SetHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} current", self.current(), self.objects.len())?;
        self.worst()
            .map_or(Ok(()), |(key, health)| write!(f, "; {key} is {health}"))
    }
}

impl Set {
    /// How the objects of the set are doing: one list for each of their kinds.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub async fn health(&self) -> Result<SetHealth, Error> {
        let mut missing = self.keys().await?;
        let kinds = self.kinds(&missing);
        let shared = self.shared();
        let selector = format!("{}={}", shared.settings.owner_key, self.owner());
        let mut objects = Vec::new();
        for kind in kinds {
            let Some(resource) = shared.find(&kind, None).await? else {
                continue;
            };
            for object in self.whole(&resource, &selector).await? {
                let metadata: Metadata =
                    serde_json::from_value(object["metadata"].clone()).unwrap_or_default();
                let name = metadata.name.as_deref().unwrap_or_default();
                let key = resource.key(metadata.namespace.as_deref(), name);
                if !self.owns(metadata) {
                    continue;
                }
                missing.remove(&key);
                objects.push((key, health(&kind, &object)));
            }
        }
        objects.extend(missing.into_iter().map(|key| (key, Health::Missing)));
        Ok(SetHealth::of(objects))
    }

    /// The objects of a kind, wherever the set may have any.
    async fn whole(&self, resource: &Resource, selector: &str) -> Result<Vec<Value>, Error> {
        let (shared, mut all) = (self.shared(), Vec::new());
        for place in shared.settings.places(resource) {
            let listed = shared
                .calls
                .list_whole(resource, place.as_deref(), selector);
            all.extend(listed.await?);
        }
        Ok(all)
    }
}

/// How one object is doing.
pub fn health(kind: &GroupKind, object: &Value) -> Health {
    if object.pointer("/metadata/deletionTimestamp").is_some() {
        return Health::Terminating;
    }
    let seen = Status(object);
    if let Some(behind) = seen.is_behind() {
        return Health::InProgress(behind);
    }
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("apps", "Deployment") => deployment(&seen),
        ("apps", "StatefulSet") => stateful_set(&seen),
        ("apps", "DaemonSet") => daemon_set(&seen),
        ("apps", "ReplicaSet") => replica_set(&seen),
        ("batch", "Job") => job(&seen),
        ("", "Pod") => pod(&seen),
        ("", "PersistentVolumeClaim") => phase(&seen, "Bound"),
        ("", "Namespace") => phase(&seen, "Active"),
        ("", "Service") => service(&seen),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition(&seen),
        _ => conditions(&seen),
    }
}

/// An object, asked for its status.
struct Status<'o>(&'o Value);

impl Status<'_> {
    fn number(&self, pointer: &str, default: i64) -> i64 {
        self.0
            .pointer(pointer)
            .and_then(Value::as_i64)
            .unwrap_or(default)
    }

    fn text(&self, pointer: &str) -> &str {
        self.0
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// A status that speaks of an older spec says nothing of this one.
    fn is_behind(&self) -> Option<String> {
        let seen = self
            .0
            .pointer("/status/observedGeneration")
            .and_then(Value::as_i64)?;
        let wanted = self.number("/metadata/generation", seen);
        (seen < wanted).then(|| format!("its controller has seen generation {seen} of {wanted}"))
    }

    /// The status and the explanation of a condition.
    fn condition(&self, name: &str) -> Option<(&str, String)> {
        let all = self.0.pointer("/status/conditions")?.as_array()?;
        let found = all.iter().find(|condition| condition["type"] == name)?;
        let (reason, message) = (found["reason"].as_str(), found["message"].as_str());
        let why = [reason, message]
            .into_iter()
            .flatten()
            .filter(|text| !text.is_empty());
        Some((
            found["status"].as_str()?,
            why.collect::<Vec<_>>().join(": "),
        ))
    }

    fn is(&self, name: &str, status: &str) -> Option<String> {
        self.condition(name)
            .filter(|(is, _)| *is == status)
            .map(|(_, why)| why)
    }
}

/// `have` of `want` are there: current when all are.
fn counted(what: &str, have: i64, want: i64) -> Option<Health> {
    (have < want).then(|| Health::InProgress(format!("{have} of {want} {what}")))
}

fn first(found: impl IntoIterator<Item = Option<Health>>) -> Health {
    found
        .into_iter()
        .flatten()
        .next()
        .unwrap_or(Health::Current)
}

fn unobserved(seen: &Status<'_>) -> Option<Health> {
    let observed = seen.0.pointer("/status/observedGeneration").is_some();
    (!observed).then(|| Health::InProgress("its controller has not seen it yet".to_owned()))
}

fn deployment(seen: &Status<'_>) -> Health {
    let want = seen.number("/spec/replicas", 1);
    let late = seen
        .condition("Progressing")
        .filter(|(_, why)| why.starts_with("ProgressDeadlineExceeded"));
    let (updated, all) = (
        seen.number("/status/updatedReplicas", 0),
        seen.number("/status/replicas", 0),
    );
    let old = (all > updated)
        .then(|| Health::InProgress(format!("{} old replicas are to go", all - updated)));
    first([
        unobserved(seen),
        late.map(|(_, why)| Health::Failed(why)),
        seen.is("ReplicaFailure", "True").map(Health::Failed),
        counted("replicas updated", updated, want),
        old,
        counted(
            "replicas available",
            seen.number("/status/availableReplicas", 0),
            want,
        ),
    ])
}

fn stateful_set(seen: &Status<'_>) -> Health {
    if seen.text("/spec/updateStrategy/type") == "OnDelete" {
        return Health::Current;
    }
    let want = seen.number("/spec/replicas", 1);
    let partition = seen.number("/spec/updateStrategy/rollingUpdate/partition", 0);
    let updated = seen.number("/status/updatedReplicas", 0);
    let rolled = seen.text("/status/currentRevision") == seen.text("/status/updateRevision");
    first([
        unobserved(seen),
        counted("replicas there", seen.number("/status/replicas", 0), want),
        counted(
            "replicas ready",
            seen.number("/status/readyReplicas", 0),
            want,
        ),
        (partition == 0 && !rolled)
            .then(|| Health::InProgress(format!("{updated} of {want} replicas updated"))),
        counted(
            "replicas updated",
            updated.max(if rolled { want } else { 0 }),
            (want - partition).max(0),
        ),
    ])
}

fn daemon_set(seen: &Status<'_>) -> Health {
    let want = seen.number("/status/desiredNumberScheduled", 0);
    first([
        unobserved(seen),
        counted(
            "pods scheduled",
            seen.number("/status/currentNumberScheduled", 0),
            want,
        ),
        counted(
            "pods updated",
            seen.number("/status/updatedNumberScheduled", 0),
            want,
        ),
        counted(
            "pods available",
            seen.number("/status/numberAvailable", 0),
            want,
        ),
    ])
}

fn replica_set(seen: &Status<'_>) -> Health {
    let want = seen.number("/spec/replicas", 1);
    first([
        unobserved(seen),
        seen.is("ReplicaFailure", "True").map(Health::Failed),
        counted(
            "replicas ready",
            seen.number("/status/readyReplicas", 0),
            want,
        ),
    ])
}

fn job(seen: &Status<'_>) -> Health {
    let started = !seen.text("/status/startTime").is_empty();
    first([
        seen.is("Failed", "True").map(Health::Failed),
        seen.is("Complete", "True").map(|_| Health::Current),
        (!started).then(|| Health::InProgress("it has not started".to_owned())),
    ])
}

fn pod(seen: &Status<'_>) -> Health {
    let stuck = [
        "ImagePullBackOff",
        "ErrImagePull",
        "CrashLoopBackOff",
        "CreateContainerConfigError",
    ];
    let containers = seen
        .0
        .pointer("/status/containerStatuses")
        .and_then(Value::as_array);
    let waits = containers
        .into_iter()
        .flatten()
        .filter_map(|container| container.pointer("/state/waiting"));
    let why = |wait: &Value| {
        wait["reason"]
            .as_str()
            .filter(|reason| stuck.contains(reason))
            .map(str::to_owned)
    };
    match seen.text("/status/phase") {
        "Succeeded" => Health::Current,
        "Failed" => Health::Failed("the pod failed".to_owned()),
        "Running" if seen.is("Ready", "True").is_some() => Health::Current,
        _ => waits.filter_map(why).next().map_or(
            Health::InProgress("it is not ready".to_owned()),
            Health::Failed,
        ),
    }
}

fn phase(seen: &Status<'_>, good: &str) -> Health {
    match seen.text("/status/phase") {
        phase if phase == good => Health::Current,
        "Lost" => Health::Failed("its volume is lost".to_owned()),
        "" => Health::InProgress("it has no phase yet".to_owned()),
        phase => Health::InProgress(format!("its phase is {phase}")),
    }
}

fn service(seen: &Status<'_>) -> Health {
    let balanced = seen.0.pointer("/status/loadBalancer/ingress").is_some();
    let waits = seen.text("/spec/type") == "LoadBalancer" && !balanced;
    first([waits.then(|| Health::InProgress("it has no address of a load balancer".to_owned()))])
}

fn definition(seen: &Status<'_>) -> Health {
    let established = seen.is("Established", "True").is_some();
    first([
        seen.is("NamesAccepted", "False").map(Health::Failed),
        (!established).then(|| Health::InProgress("it is not established".to_owned())),
    ])
}

/// What any other kind says of itself. A kind without conditions is well when it exists.
fn conditions(seen: &Status<'_>) -> Health {
    let unready = |name| seen.condition(name).filter(|(status, _)| *status != "True");
    let waiting = |(_, why): (&str, String)| Health::InProgress(why);
    first([
        seen.is("Stalled", "True").map(Health::Failed),
        seen.is("Reconciling", "True").map(Health::InProgress),
        unready("Ready").map(waiting),
        unready("Available").map(waiting),
    ])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(group: &str, kind: &str, object: &Value) -> Health {
        health(&GroupKind::new(group, kind), object)
    }

    fn deployment(status: &Value) -> Health {
        of(
            "apps",
            "Deployment",
            &json!({"metadata": {"generation": 2}, "spec": {"replicas": 3}, "status": status}),
        )
    }

    #[test]
    fn a_deployment_waits_rolls_and_fails() {
        let waits = |why: &str| Health::InProgress(why.into());
        assert_eq!(
            deployment(&json!({})),
            waits("its controller has not seen it yet")
        );
        assert_eq!(
            deployment(&json!({"observedGeneration": 1})),
            waits("its controller has seen generation 1 of 2")
        );
        assert_eq!(
            deployment(
                &json!({"observedGeneration": 2, "replicas": 4, "updatedReplicas": 3, "availableReplicas": 3})
            ),
            waits("1 old replicas are to go")
        );
        assert_eq!(
            deployment(
                &json!({"observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 2})
            ),
            waits("2 of 3 replicas available")
        );
        let late = json!([{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "late"}]);
        assert_eq!(
            deployment(&json!({"observedGeneration": 2, "conditions": late})),
            Health::Failed("ProgressDeadlineExceeded: late".into())
        );
        assert_eq!(
            deployment(
                &json!({"observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3})
            ),
            Health::Current
        );
    }

    #[test]
    fn other_kinds_speak_through_conditions() {
        let custom = |conditions: &Value| {
            of(
                "example.com",
                "Foo",
                &json!({"status": {"conditions": conditions}}),
            )
        };
        assert_eq!(custom(&json!([])), Health::Current);
        assert_eq!(
            custom(&json!([{"type": "Ready", "status": "True"}])),
            Health::Current
        );
        assert_eq!(
            custom(&json!([{"type": "Ready", "status": "False", "reason": "Pulling"}])),
            Health::InProgress("Pulling".into())
        );
        assert_eq!(
            custom(
                &json!([{"type": "Ready", "status": "False"}, {"type": "Stalled", "status": "True", "reason": "Bad"}])
            ),
            Health::Failed("Bad".into())
        );
    }

    #[test]
    fn jobs_pods_and_claims() {
        let done = json!({"status": {"startTime": "x", "conditions": [{"type": "Complete", "status": "True"}]}});
        assert_eq!(of("batch", "Job", &done), Health::Current);
        let broken = json!({"status": {"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}});
        assert_eq!(
            of("batch", "Job", &broken),
            Health::Failed("BackoffLimitExceeded".into())
        );
        let pulling = json!({"status": {"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]}});
        assert_eq!(
            of("", "Pod", &pulling),
            Health::Failed("ImagePullBackOff".into())
        );
        let claim = json!({"status": {"phase": "Pending"}});
        assert_eq!(
            of("", "PersistentVolumeClaim", &claim),
            Health::InProgress("its phase is Pending".into())
        );
        let leaving = json!({"metadata": {"deletionTimestamp": "x"}});
        assert_eq!(of("", "Namespace", &leaving), Health::Terminating);
    }

    #[test]
    fn a_summary_names_the_worst_and_why() {
        let key = |name: &str| ObjectKey::new(GroupKind::new("", "ConfigMap"), Some("n"), name);
        let set = SetHealth::of(vec![
            (key("a"), Health::Current),
            (key("b"), Health::InProgress("slow".into())),
            (key("c"), Health::Failed("broken".into())),
        ]);
        assert_eq!(
            set.to_string(),
            "1 of 3 current; ConfigMap n/c is failed: broken"
        );
    }
}
