//! Where a service leads: its EndpointSlices, and the older Endpoints.

use serde_json::{Value, json};

use super::desk::{Desk, ENDPOINTS, PODS, SERVICES, SLICES};
use super::{Again, controlled, pod};
use crate::meta;
use crate::selectors::LabelSelector;
use crate::status::ApiError;
use crate::store::{Key, Object};

const SERVICE_NAME: &str = "kubernetes.io/service-name";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const HEADLESS: &str = "service.kubernetes.io/headless";
/// How many endpoints fit into one slice.
const SLICE: usize = 100;

pub(super) fn reconcile(desk: &Desk<'_>, key: &Key) -> Again {
    let Some(service) = desk.get(SERVICES, key) else {
        if let Some(endpoints) = desk.get(ENDPOINTS, key) {
            desk.delete(ENDPOINTS, &endpoints)?;
        }
        return Ok(None);
    };
    let selects = service["spec"]["selector"]
        .as_object()
        .is_some_and(|map| !map.is_empty());
    if !selects || service["spec"]["type"] == "ExternalName" || meta::is_deleting(&service) {
        return Ok(None);
    }
    let selector = LabelSelector::of(&service["spec"]["selector"]);
    let mut pods = desk.list(PODS, key.namespace());
    pods.retain(|pod| {
        let addressed = pod["status"]["podIP"].is_string() && !pod::has_ended(pod);
        addressed && selector.matches(&pod["metadata"]["labels"])
    });
    let backends = Backends {
        desk,
        service: &service,
        pods,
    };
    backends.write_slices()?;
    backends.write_endpoints(key)?;
    Ok(None)
}

/// A service and the pods behind it.
struct Backends<'a> {
    desk: &'a Desk<'a>,
    service: &'a Value,
    pods: Vec<Object>,
}

impl Backends<'_> {
    fn is_headless(&self) -> bool {
        self.service["spec"]["clusterIP"] == "None"
    }

    fn publishes_unready(&self) -> bool {
        self.service["spec"]["publishNotReadyAddresses"] == true
    }

    /// The service's ports as they are on a pod. Named ones may differ from pod to pod.
    fn ports(&self, pod: Option<&Value>) -> Vec<Value> {
        let ports = self.service["spec"]["ports"]
            .as_array()
            .into_iter()
            .flatten();
        let found = ports.filter_map(|port| {
            let mut found = json!({
                "name": port["name"].as_str().unwrap_or_default(),
                "port": number(port, pod)?,
                "protocol": port["protocol"],
            });
            if let Some(protocol) = port.get("appProtocol") {
                found["appProtocol"] = protocol.clone();
            }
            Some(found)
        });
        found.collect()
    }

    fn slice_labels(&self) -> Value {
        let mut labels = self.labels();
        labels[SERVICE_NAME] = meta::name(self.service).into();
        labels[MANAGED_BY] = "endpointslice-controller.k8s.io".into();
        labels
    }

    fn labels(&self) -> Value {
        let labels = &self.service["metadata"]["labels"];
        let mut labels = if labels.is_object() {
            labels.clone()
        } else {
            json!({})
        };
        if self.is_headless() {
            labels[HEADLESS] = "".into();
        }
        labels
    }

    /// Pods with the same ports share slices.
    fn write_slices(&self) -> Result<(), ApiError> {
        let mut groups: Vec<(Vec<Value>, Vec<Value>)> = Vec::new();
        for pod in &self.pods {
            let ports = self.ports(Some(pod));
            let endpoint = self.endpoint(pod);
            match groups.iter_mut().find(|(known, _)| *known == ports) {
                Some((_, endpoints)) => endpoints.push(endpoint),
                None => groups.push((ports, vec![endpoint])),
            }
        }
        if groups.is_empty() {
            groups.push((Vec::new(), Vec::new()));
        }
        let chunks = groups.iter().flat_map(|(ports, endpoints)| {
            let none = endpoints.is_empty().then_some(&[][..]);
            none.into_iter()
                .chain(endpoints.chunks(SLICE))
                .map(move |chunk| (ports, chunk))
        });
        let namespace = Some(meta::namespace(self.service));
        let slices = self.desk.list(SLICES, namespace);
        let mut mine = slices.iter().filter(|slice| {
            controlled::is_controlled_by(slice, self.service) && !meta::is_deleting(slice)
        });
        for (ports, endpoints) in chunks {
            self.write_slice(mine.next(), ports, endpoints)?;
        }
        mine.try_for_each(|slice| self.desk.delete(SLICES, slice))
    }

    fn write_slice(
        &self,
        known: Option<&Object>,
        ports: &[Value],
        endpoints: &[Value],
    ) -> Result<(), ApiError> {
        let fill = |slice: &mut Value| {
            slice["metadata"]["labels"] = self.slice_labels();
            slice["ports"] = ports.into();
            slice["endpoints"] = endpoints.into();
        };
        if let Some(known) = known {
            return self.desk.update(SLICES, &meta::key(known), fill);
        }
        let mut slice = json!({
            "metadata": {
                "generateName": format!("{}-", meta::name(self.service)),
                "namespace": meta::namespace(self.service),
                "ownerReferences": [pod::controller_reference(SERVICES, self.service)],
            },
            "addressType": "IPv4",
        });
        fill(&mut slice);
        self.desk.create(SLICES, slice).map(drop)
    }

    fn endpoint(&self, pod: &Value) -> Value {
        let (serving, terminating) = (pod::is_ready(pod), meta::is_deleting(pod));
        let ready = self.publishes_unready() || (serving && !terminating);
        let mut endpoint = json!({
            "addresses": [pod["status"]["podIP"]],
            "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
            "targetRef": reference(pod),
        });
        if let Some(node) = pod::node(pod) {
            endpoint["nodeName"] = node.into();
        }
        if self.is_headless() && pod["spec"]["subdomain"] == self.service["metadata"]["name"] {
            endpoint["hostname"] = pod["spec"]["hostname"].clone();
        }
        endpoint
    }

    fn write_endpoints(&self, key: &Key) -> Result<(), ApiError> {
        let subsets = self.subsets();
        let mut labels = self.labels();
        labels["endpoints.kubernetes.io/managed-by"] = "endpoint-controller".into();
        let fill = |endpoints: &mut Value| {
            endpoints["metadata"]["labels"] = labels.clone();
            endpoints["subsets"] = subsets.clone();
        };
        if self.desk.get(ENDPOINTS, key).is_some() {
            return self.desk.update(ENDPOINTS, key, fill);
        }
        let namespace = key.namespace().unwrap_or_default();
        let mut endpoints = json!({"metadata": {"name": key.name(), "namespace": namespace}});
        fill(&mut endpoints);
        self.desk.create(ENDPOINTS, endpoints).map(drop)
    }

    fn subsets(&self) -> Value {
        let mut subsets: Vec<Value> = Vec::new();
        for pod in self.pods.iter().filter(|pod| !meta::is_deleting(pod)) {
            let mut ports = self.ports(Some(pod));
            for port in &mut ports {
                if port["name"] == "" {
                    drop(port.as_object_mut().map(|port| port.remove("name")));
                }
            }
            let address = json!({
                "ip": pod["status"]["podIP"],
                "nodeName": pod["spec"]["nodeName"],
                "targetRef": reference(pod),
            });
            let ready = self.publishes_unready() || pod::is_ready(pod);
            let list = if ready {
                "addresses"
            } else {
                "notReadyAddresses"
            };
            let known = subsets
                .iter_mut()
                .find(|subset| subset["ports"] == json!(ports));
            match known {
                Some(subset) => match subset[list].as_array_mut() {
                    Some(addresses) => addresses.push(address),
                    None => subset[list] = json!([address]),
                },
                None => subsets.push(json!({list: [address], "ports": ports})),
            }
        }
        subsets.into()
    }
}

fn reference(pod: &Value) -> Value {
    json!({
        "kind": "Pod",
        "namespace": meta::namespace(pod),
        "name": meta::name(pod),
        "uid": meta::uid(pod),
    })
}

/// The number of a port on a pod.
fn number(port: &Value, pod: Option<&Value>) -> Option<i64> {
    let target = port.get("targetPort").unwrap_or(&port["port"]);
    let Some(name) = target.as_str() else {
        return target.as_i64();
    };
    let containers = pod?["spec"]["containers"].as_array()?;
    let mut ports = containers
        .iter()
        .flat_map(|container| container["ports"].as_array().into_iter().flatten());
    let named = ports.find(|one| one["name"] == name && one["protocol"] == port["protocol"])?;
    named["containerPort"].as_i64()
}
