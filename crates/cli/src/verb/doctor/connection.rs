//! Between a person and the broker: contexts, address, version, key.

use evenkeel_client::ClientError;
use tokio::time::Instant;

use super::trouble;
use crate::noun::check::Check;
use crate::remote::contexts::{self, Contexts};
use crate::remote::{Session, failure};
use crate::verb::login::role;

/// Can the contexts be read, by their owner and by nobody else?
pub(super) fn contexts_file() -> Check {
    let what = "contexts";
    let path = match contexts::file() {
        Ok(path) => path,
        Err(error) => return Check::warning(what, error.to_string(), "set HOME"),
    };
    let shown = path.display();
    match (Contexts::load(), contexts::is_exposed(&path)) {
        (Err(error), _) => {
            let text = failure::text(&error.into());
            Check::fault(what, text, format!("mend or remove {shown}"))
        }
        (Ok(_), Some(true)) => {
            let text = format!("others can read {shown}");
            Check::warning(what, text, format!("chmod 600 {shown}"))
        }
        (Ok(contexts), Some(false)) => {
            let current = contexts.current.as_deref().unwrap_or("none");
            Check::ok(
                what,
                format!("{} in {shown}, current: {current}", contexts.contexts.len()),
            )
        }
        (Ok(_), None) => Check::ok(what, "none yet; flags and variables count"),
    }
}

/// Does the broker answer, is it of this version, does it know the key? And may one go on?
pub(super) async fn broker(session: &Session) -> (Vec<Check>, bool) {
    let begun = Instant::now();
    if let Err(error) = session.client.ready().await {
        return (vec![not_ready(session, error)], false);
    }
    let took = begun.elapsed().as_millis();
    let answers = Check::ok(
        "broker",
        format!("{} is ready ({took} ms)", session.broker()),
    );
    let version = version(session.client.version().await);
    match session.client.auth_pak().await {
        Ok(bearer) => {
            let key = Check::ok("key", format!("accepted: {}", role(bearer)));
            (vec![answers, version, key], bearer.admin || bearer.readonly)
        }
        Err(error) => (vec![answers, version, trouble("key", &error.into())], false),
    }
}

fn not_ready(session: &Session, error: ClientError) -> Check {
    let error = failure::at(error.into(), session.broker());
    trouble("broker", &error)
}

fn version(found: Result<String, ClientError>) -> Check {
    let what = "version";
    let ours = env!("CARGO_PKG_VERSION");
    match found {
        Ok(theirs) if theirs == ours => Check::ok(what, format!("both {ours}")),
        Ok(theirs) => {
            let text = format!("the broker is {theirs}, this command {ours}");
            Check::warning(what, text, "use the same version on both sides")
        }
        Err(error) => Check::warning(what, error.to_string(), "is it an Evenkeel broker?"),
    }
}
