//! The Services: a name for each server, the way to the primary, the way to the standbys.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Service, ServicePort, ServiceSpec};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::children::named;
use crate::names::{Names, ROLE};
use crate::resource::Database;

/// The label that the StatefulSet controller gives every pod.
const POD_NAME: &str = "statefulset.kubernetes.io/pod-name";
/// The port, by name.
pub(super) const PORT: &str = "postgresql";

/// Gives each server a name. Servers that are not ready have one too: a standby must be able to
/// find a primary that is just starting.
pub(super) fn pods(database: &Database) -> Service {
    let names = Names::of(database);
    Service {
        metadata: named(database, names.pods()),
        spec: Some(ServiceSpec {
            cluster_ip: Some("None".to_owned()),
            publish_not_ready_addresses: Some(true),
            selector: Some(names.selector()),
            ports: Some(vec![port(database)]),
            ..ServiceSpec::default()
        }),
        status: None,
    }
}

/// The way to the primary, which is always the first server.
pub(super) fn primary(database: &Database) -> Service {
    let names = Names::of(database);
    let mut selector = names.selector();
    selector.insert(POD_NAME.to_owned(), names.pod(0));
    client_service(database, names.main(), selector)
}

/// The way to the standbys, when there can be any.
pub(super) fn read_only(database: &Database) -> Option<Service> {
    let names = Names::of(database);
    let mut selector = names.selector();
    selector.insert(ROLE.to_owned(), "standby".to_owned());
    (database.spec.replicas > 1).then(|| client_service(database, names.read_only(), selector))
}

fn client_service(
    database: &Database,
    name: String,
    selector: BTreeMap<String, String>,
) -> Service {
    let wish = database.spec.service.clone().unwrap_or_default();
    let mut metadata = named(database, name);
    metadata.annotations = Some(wish.annotations).filter(|all| !all.is_empty());
    Service {
        metadata,
        spec: Some(ServiceSpec {
            type_: Some(wish.kind.as_str().to_owned()),
            selector: Some(selector),
            ports: Some(vec![port(database)]),
            ..ServiceSpec::default()
        }),
        status: None,
    }
}

fn port(database: &Database) -> ServicePort {
    ServicePort {
        name: Some(PORT.to_owned()),
        port: database.spec.port,
        protocol: Some("TCP".to_owned()),
        target_port: Some(IntOrString::String(PORT.to_owned())),
        ..ServicePort::default()
    }
}
