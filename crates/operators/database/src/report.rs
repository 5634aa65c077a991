//! The status, written in one place and only when it changed.

use evenkeel_controller::{Context, Error};

use crate::credentials::service_host;
use crate::names::Names;
use crate::observe::Observed;
use crate::operator::Findings;
use crate::resource::Database;
use crate::status::DatabaseStatus;
use crate::verdict::Seen;

/// Says how the Database is.
pub(crate) async fn report(
    database: &Database,
    observed: &Observed,
    findings: &Findings,
    cx: &Context,
) -> Result<(), Error> {
    let seen = Seen {
        database,
        servers: observed.servers.as_deref(),
        pods: &observed.pods,
        storage: &findings.storage,
        credentials: &findings.credentials,
        objection: findings.objection.as_ref(),
    };
    let write = |status: &mut DatabaseStatus| fill(status, &seen, findings);
    cx.set_status(database, seen.verdicts(), write).await?;
    Ok(())
}

fn fill(status: &mut DatabaseStatus, seen: &Seen<'_>, findings: &Findings) {
    let (database, names) = (seen.database, Names::of(seen.database));
    let port = database.spec.port;
    let at = |service: &str| format!("{}:{port}", service_host(database, service));
    let servers = seen.servers.and_then(|servers| servers.status.as_ref());
    status.phase = Some(seen.phase());
    status.replicas = servers.map_or(0, |servers| servers.replicas);
    status.ready_replicas = seen.ready_servers();
    status.selector = Some(names.selector_text());
    status.endpoint = Some(at(&names.main()));
    status.read_only_endpoint = (database.spec.replicas > 1).then(|| at(&names.read_only()));
    status.secret_name = Some(names.secret());
    status.rotated.clone_from(&findings.rotated);
    if seen.is_settled() && !database.spec.stopped {
        status.version = Some(database.spec.version.clone());
    }
}
