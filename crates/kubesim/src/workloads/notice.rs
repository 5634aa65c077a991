//! Who has to look after a write.

use serde_json::Value;

use super::agenda::{Agenda, Controller};
use super::desk::{self, Noun};
use super::{controlled, pod, volume};
use crate::cluster::Cluster;
use crate::selectors::LabelSelector;
use crate::store::{Key, Object, ResourceId};

/// The controllers of objects, by what they look after.
const OWN: &[(Noun, Controller)] = &[
    (desk::DEPLOYMENTS, Controller::Deployment),
    (desk::REPLICA_SETS, Controller::ReplicaSet),
    (desk::REPLICATION_CONTROLLERS, Controller::Replication),
    (desk::STATEFUL_SETS, Controller::StatefulSet),
    (desk::DAEMON_SETS, Controller::DaemonSet),
    (desk::JOBS, Controller::Job),
    (desk::CRON_JOBS, Controller::CronJob),
    (desk::SERVICES, Controller::Endpoints),
    (desk::BUDGETS, Controller::Disruption),
    (desk::QUOTAS, Controller::Quota),
    (desk::CLAIMS, Controller::Claim),
    (desk::VOLUMES, Controller::Volume),
    (desk::NODES, Controller::Node),
    (desk::PODS, Controller::Kubelet),
];

/// Those that adopt pods which fit their selector.
const ADOPTERS: &[Noun] = &[
    desk::REPLICA_SETS,
    desk::REPLICATION_CONTROLLERS,
    desk::STATEFUL_SETS,
    desk::DAEMON_SETS,
];

/// Puts those on the agenda whom a write may give work.
pub(crate) fn notice(
    cluster: &Cluster,
    resource: &ResourceId,
    key: &Key,
    before: Option<&Object>,
    after: Option<&Object>,
) {
    let Some(agenda) = cluster.agenda() else {
        return;
    };
    wake_quotas(cluster, agenda, resource, key);
    let noun = OWN.iter().find(|(noun, _)| is(resource, *noun));
    let relevant = noun.is_some() || is(resource, desk::SLICES) || is(resource, desk::CLASSES);
    if !relevant {
        return;
    }
    if let Some((_, controller)) = noun {
        agenda.add(*controller, key);
    }
    for object in before.into_iter().chain(after) {
        wake_owner(agenda, object, key);
    }
    let ear = Ear {
        cluster,
        agenda,
        before: before.map(|v| &**v),
        after: after.map(|v| &**v),
    };
    match noun.map(|(_, controller)| *controller) {
        Some(Controller::Kubelet) => ear.pod(key),
        Some(Controller::Node) => ear.node(key),
        Some(Controller::Claim) => ear.claim(key),
        Some(Controller::Volume) => ear.volume(),
        // A class may be what claims have waited for.
        None if is(resource, desk::CLASSES) => ear.all(desk::CLAIMS, None, Controller::Claim),
        Some(_) | None => {}
    }
}

/// Puts everything on the agenda, as after a start.
pub(super) fn everything(cluster: &Cluster) {
    let Some(agenda) = cluster.agenda() else {
        return;
    };
    for (noun, controller) in OWN {
        for key in cluster.store().snapshot(&noun.id()).objects.keys() {
            agenda.add(*controller, key);
            if *controller == Controller::Kubelet {
                agenda.add(Controller::Scheduler, key);
            }
        }
    }
}

fn is(resource: &ResourceId, noun: Noun) -> bool {
    &*resource.plural == noun.plural && &*resource.group == noun.group
}

/// Whatever is written in a namespace with quotas may count.
fn wake_quotas(cluster: &Cluster, agenda: &Agenda, resource: &ResourceId, key: &Key) {
    if key.namespace().is_none() || is(resource, desk::EVENTS) {
        return;
    }
    let quotas = cluster.store().snapshot(&desk::QUOTAS.id());
    for (quota, _) in quotas.in_namespace(key.namespace()) {
        agenda.add(Controller::Quota, quota);
    }
}

fn wake_owner(agenda: &Agenda, object: &Value, key: &Key) {
    let Some(owner) = controlled::controller_of(object) else {
        return;
    };
    let found = OWN.iter().find(|(noun, _)| owner["kind"] == noun.kind);
    if let (Some((_, controller)), Some(name)) = (found, owner["name"].as_str()) {
        agenda.add(*controller, &Key::new(key.namespace(), name));
    }
}

/// One write, for those who listen to more than their own.
struct Ear<'a> {
    cluster: &'a Cluster,
    agenda: &'a Agenda,
    before: Option<&'a Value>,
    after: Option<&'a Value>,
}

impl Ear<'_> {
    fn sides(&self) -> impl Iterator<Item = &Value> {
        self.before.into_iter().chain(self.after)
    }

    /// Whether a part of the object is not what it was.
    fn differs(&self, part: impl Fn(&Value) -> &Value) -> bool {
        self.before.map(&part) != self.after.map(&part)
    }

    fn all(&self, noun: Noun, namespace: Option<&str>, controller: Controller) {
        let snapshot = self.cluster.store().snapshot(&noun.id());
        for (key, _) in snapshot.in_namespace(namespace) {
            self.agenda.add(controller, key);
        }
    }

    fn pod(&self, key: &Key) {
        let namespace = key.namespace();
        let unplaced = |pod: &Value| pod::node(pod).is_none() && pod::is_active(pod);
        if self.after.is_some_and(unplaced) {
            self.agenda.add(Controller::Scheduler, key);
        }
        let room = |pod: Option<&Value>| pod.is_none_or(pod::has_ended);
        if self.before.is_some_and(|pod| pod::node(pod).is_some()) && room(self.after) {
            self.wake_waiting_pods();
        }
        self.selecting(desk::SERVICES, namespace, Controller::Endpoints);
        self.selecting(desk::BUDGETS, namespace, Controller::Disruption);
        let metadata = |object: &Value| object["metadata"]["labels"].clone();
        let changed = self.before.map(metadata) != self.after.map(metadata);
        let orphan = self
            .after
            .is_some_and(|pod| controlled::controller_of(pod).is_none());
        if changed && orphan {
            for noun in ADOPTERS {
                let own = OWN.iter().find(|(known, _)| known == noun);
                if let Some((_, controller)) = own {
                    self.selecting(*noun, namespace, *controller);
                }
            }
        }
        for claim in self.sides().flat_map(volume::claims_of) {
            self.agenda
                .add(Controller::Claim, &Key::new(namespace, claim));
        }
    }

    /// Wakes those of a namespace whose selector fits the object, now or before.
    fn selecting(&self, noun: Noun, namespace: Option<&str>, controller: Controller) {
        let snapshot = self.cluster.store().snapshot(&noun.id());
        for (key, object) in snapshot.in_namespace(namespace) {
            let selector = &object["spec"]["selector"];
            if selector.is_null() {
                continue;
            }
            let selector = LabelSelector::of(selector);
            if self
                .sides()
                .any(|object| selector.matches(&object["metadata"]["labels"]))
            {
                self.agenda.add(controller, key);
            }
        }
    }

    fn wake_waiting_pods(&self) {
        let snapshot = self.cluster.store().snapshot(&desk::PODS.id());
        let waits = |pod: &Object| pod::node(pod).is_none() && pod::is_active(pod);
        for (key, _) in snapshot.objects.iter().filter(|(_, pod)| waits(pod)) {
            self.agenda.add(Controller::Scheduler, key);
        }
    }

    fn node(&self, key: &Key) {
        let spec_or_labels =
            self.differs(|node| &node["spec"]) || self.differs(|node| &node["metadata"]["labels"]);
        if !spec_or_labels && self.after.is_some() {
            return;
        }
        self.wake_waiting_pods();
        self.all(desk::DAEMON_SETS, None, Controller::DaemonSet);
        let snapshot = self.cluster.store().snapshot(&desk::PODS.id());
        for (pod_key, pod) in &snapshot.objects {
            if pod::node(pod) == Some(key.name()) {
                self.agenda.add(Controller::Kubelet, pod_key);
            }
        }
    }

    fn claim(&self, key: &Key) {
        let bound = |claim: &&Value| claim["status"]["phase"] == "Bound";
        if self.after.filter(bound).is_some() != self.before.filter(bound).is_some() {
            self.wake_waiting_pods();
        }
        let volumes = self
            .sides()
            .filter_map(|claim| claim["spec"]["volumeName"].as_str());
        for volume in volumes.filter(|volume| !volume.is_empty()) {
            self.agenda.add(Controller::Volume, &Key::cluster(volume));
        }
        if self.after.is_none() {
            self.agenda.forget(Controller::Claim, key);
        }
    }

    fn volume(&self) {
        for volume in self.sides() {
            let reference = &volume["spec"]["claimRef"];
            match (reference["namespace"].as_str(), reference["name"].as_str()) {
                (Some(namespace), Some(name)) => {
                    self.agenda
                        .add(Controller::Claim, &Key::namespaced(namespace, name));
                }
                // A free volume may be what a claim has waited for.
                _ => self.all(desk::CLAIMS, None, Controller::Claim),
            }
        }
    }
}
