//! The status, written in one place and only when it changed.

use evenkeel_controller::{Context, Error, ReasonWord, Status};

use crate::credentials::service_host;
use crate::findings::Findings;
use crate::names::Names;
use crate::observe::Observed;
use crate::resource::Database;
use crate::status::{DatabaseStatus, Phase};
use crate::verdict::{NOT_KNOWN, Seen, verdict};

/// Says how the Database is.
pub(crate) async fn report(
    database: &Database,
    observed: &Observed,
    findings: &Findings,
    cx: &Context,
) -> Result<(), Error> {
    let (objection, trouble) = (findings.objection(), findings.trouble());
    let seen = Seen {
        database,
        servers: observed.servers.as_deref(),
        pods: &observed.pods,
        storage: &findings.storage,
        credentials: &findings.credentials,
        objection: objection.as_ref(),
        trouble: trouble.as_ref(),
    };
    let write = |status: &mut DatabaseStatus| fill(status, &seen, findings);
    cx.set_status(database, seen.verdicts(), write).await?;
    Ok(())
}

/// Says that nobody can tell how the Database is.
pub(crate) async fn report_blind(
    database: &Database,
    error: &Error,
    cx: &Context,
) -> Result<(), Error> {
    let message = evenkeel_ambient::chain(error);
    let unknown = verdict("Ready", Status::Unknown, NOT_KNOWN, message);
    let write = |status: &mut DatabaseStatus| status.phase = Some(Phase::Unknown);
    cx.set_status(database, [unknown], write).await?;
    Ok(())
}

/// Says that the Database goes away, and what that waits for.
pub(crate) async fn report_farewell(
    database: &Database,
    waits_for: &str,
    cx: &Context,
) -> Result<(), Error> {
    let message = format!("it is being deleted and waits for {waits_for}");
    let reason = ReasonWord::of("Deleting");
    let going = verdict("Ready", Status::False, reason, message);
    let write = |status: &mut DatabaseStatus| status.phase = Some(Phase::Deleting);
    cx.set_status(database, [going], write).await?;
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
    let wanted = database.wanted_servers();
    if seen.is_settled() && wanted > 0 && seen.ready_servers() == wanted {
        status.version = Some(database.spec.version.clone());
    }
}
