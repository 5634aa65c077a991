//! A cluster with a namespace for one test, and the sets in it.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use evenkeel_ambient::{ManualClock, SeededRandom};
use evenkeel_kubeset::{
    Cluster, Converged, GroupKind, Manifests, ObjectKey, Owner, Set, SetPolicy, Settings,
};
use evenkeel_kubesim::faults::View;
use evenkeel_reconcile::{RetryPolicy, Word};
use evenkeel_testkit as testkit;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client};

pub(crate) const OWNER_KEY: &str = "example.com/set";

/// One process that keeps sets in a cluster.
pub(crate) struct Bed {
    pub(crate) client: Client,
    pub(crate) sets: Cluster,
    pub(crate) clock: ManualClock,
    /// A name that no other test uses, for namespaces and owners.
    pub(crate) name: String,
}

impl Bed {
    pub(crate) async fn on(cluster: &testkit::Cluster, name: &str) -> Self {
        Self::with(cluster.client().await, name)
    }

    /// A process whose connection to the simulator can be made to fail.
    pub(crate) fn seen_through(view: View, name: &str) -> Self {
        Self::with(Client::new(view, "default"), name)
    }

    pub(crate) fn with(client: Client, name: &str) -> Self {
        let settings = Settings {
            owner_key: OWNER_KEY.into(),
            inventory_namespace: "default".into(),
            child_kinds: [
                GroupKind::new("", "ConfigMap"),
                GroupKind::new("", "Secret"),
                GroupKind::new("apps", "Deployment"),
            ]
            .into(),
            patience: Duration::from_secs(20),
            retry: RetryPolicy {
                first: Duration::from_millis(5),
                total: Some(Duration::from_millis(100)),
                cap: Duration::from_millis(50),
                ..RetryPolicy::CALLS
            },
            ..Settings::default()
        };
        let clock = ManualClock::default();
        let dice = Arc::new(SeededRandom::new(1));
        Self {
            sets: Cluster::new(client.clone(), settings, Arc::new(clock.clone()), dice),
            clock,
            client,
            name: name.into(),
        }
    }

    /// The same process after a restart.
    pub(crate) fn restarted(&self) -> Self {
        Self::with(self.client.clone(), &self.name)
    }

    /// A set; its owner is called after the test.
    pub(crate) fn set(&self, owner: &str) -> Set {
        self.sets.set(self.owner(owner))
    }

    pub(crate) fn owner(&self, owner: &str) -> Owner {
        Owner::new(format!("{}-{owner}", self.name)).expect("a name that fits a label")
    }

    pub(crate) fn of<'a>(
        &self,
        api_version: &str,
        kind: &str,
        namespaced: impl Into<Option<&'a str>>,
    ) -> Api<DynamicObject> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        match namespaced.into() {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &resource),
            None => Api::all_with(self.client.clone(), &resource),
        }
    }

    pub(crate) fn maps(&self) -> Api<DynamicObject> {
        self.of("v1", "ConfigMap", self.name.as_str())
    }

    /// The text of the test's namespace.
    pub(crate) fn namespace(&self) -> String {
        format!(
            "---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {}}}\n",
            self.name
        )
    }

    /// The text of a config map in the test's namespace.
    pub(crate) fn map(&self, name: &str, value: &str) -> String {
        let namespace = &self.name;
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: {namespace}}}\n\
             data: {{value: '{value}', other: same}}\n"
        )
    }

    /// The text of a deployment in the test's namespace.
    pub(crate) fn deployment(&self, name: &str, replicas: usize) -> String {
        let namespace = &self.name;
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: {namespace}}}\n\
             spec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    \
             metadata: {{labels: {{app: {name}}}}}\n    spec:\n      containers:\n      \
             - {{name: main, image: 'main:1', ports: [{{containerPort: 80}}]}}\n"
        )
    }
}

/// What the text says.
pub(crate) fn read(text: &str) -> Manifests {
    Manifests::parse(text).expect("readable manifests")
}

/// What became of each object, by kind and name.
pub(crate) fn told(converged: &Converged) -> BTreeMap<String, Word> {
    let changes = converged.changes().iter();
    changes
        .map(|change| (short(&change.key), change.word))
        .collect()
}

pub(crate) fn short(key: &ObjectKey) -> String {
    format!("{} {}", key.kind.kind, key.name)
}

/// Converges and insists that every object is as it should be.
pub(crate) async fn settle(set: &Set, text: &str, policy: &SetPolicy) -> Converged {
    let converged = set.converge(&read(text), policy).await;
    assert!(converged.is_settled(), "{}", why(&converged));
    converged
}

pub(crate) fn why(converged: &Converged) -> String {
    let failures = converged
        .result
        .as_ref()
        .err()
        .into_iter()
        .flat_map(|failed| &failed.failures);
    let failures: Vec<_> = failures
        .map(|failed| format!("{}: {}", failed.attempt, failed.error))
        .collect();
    format!("{failures:?}\n{:#?}", converged.changes())
}

/// Tries again until it holds; fails after a while.
pub(crate) async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    for _ in 0..400 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("never: {what}");
}

/// Waits until the set has heard of a change by somebody else.
pub(crate) async fn hears(set: &mut Set) {
    tokio::time::timeout(Duration::from_secs(20), set.changed())
        .await
        .expect("a change is heard of");
}
