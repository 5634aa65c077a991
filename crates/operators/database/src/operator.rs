//! The loop of one Database: observe, decide, act, report.
//!
//! ```text
//! paused ─▶ nothing at all         deleted ─▶ farewell
//! else: finalizer ─▶ Secret ─▶ volumes ─▶ children ─▶ labels of pods ─▶ status
//! ```
//!
//! A stage that cannot go on says why and lets the others work: a Secret that waits for people
//! must not keep a volume from growing. Only without a Secret there are no servers.

use std::borrow::Cow;
use std::sync::Arc;

use evenkeel_ambient::Random;
use evenkeel_children::Children as Owned;
use evenkeel_controller::{Context, Key, Outcome, Ran, Reconciler, is_held};
use evenkeel_kubeset::{Manifests, SetPolicy};
use evenkeel_reconcile::Word;
use k8s_openapi::api::core::v1::Secret;

use crate::act;
use crate::children::Children;
use crate::credentials::{self, Exchange, Step as SecretStep, Stuck};
use crate::error::Error;
use crate::farewell::farewell;
use crate::findings::Findings;
use crate::names::FINALIZER;
use crate::observe::Observed;
use crate::passwords::Passwords;
use crate::report::{report, report_blind};
use crate::resource::Database;
use crate::roles::unlabelled;
use crate::storage::{self, Step as StorageStep, Storage};
use crate::stuck::in_the_way;
use crate::verdict::Credentials;

/// Reconciles Databases.
#[derive(Debug)]
pub struct DatabaseOperator<P> {
    pub(crate) owned: Arc<Owned>,
    pub(crate) passwords: P,
}

impl<P: Passwords> Reconciler for DatabaseOperator<P> {
    type Kind = Database;
    type Error = Error;

    async fn reconcile(&self, database: Arc<Database>, cx: Context) -> Ran<Error> {
        if database.metadata.deletion_timestamp.is_some() {
            return farewell(&database, &cx).await;
        }
        if database.spec.paused {
            return Ok(Outcome::wait("somebody to unpause it"));
        }
        let database = match is_held(&*database, FINALIZER) {
            true => database,
            false => Arc::new(cx.hold(&*database, FINALIZER).await?),
        };
        let observed = match Observed::of(&database, &cx).await {
            Ok(observed) => observed,
            Err(error) => {
                report_blind(&database, &error, &cx).await?;
                return Err(error.into());
            }
        };
        let findings = self.work(&database, &observed, &cx).await;
        match findings.error {
            // What was seen is out of date; so would be what is said about it.
            Some(error) if error.is_conflict() => return Err(error),
            _ => report(&database, &observed, &findings, &cx).await?,
        }
        Ok(findings.outcome())
    }

    fn gone(&self, key: &Key) {
        self.owned.forget(key);
    }
}

impl<P: Passwords> DatabaseOperator<P> {
    async fn work(&self, database: &Database, observed: &Observed, cx: &Context) -> Findings {
        let mut findings = Findings::at_first(observed);
        match self.credentials(database, observed, cx).await {
            Ok((credentials, rotated)) => {
                (findings.credentials, findings.rotated) = (credentials, rotated);
            }
            Err(error) => findings.note(Err(error)),
        }
        findings.storage = storage(database, observed);
        findings.note(grow(database, observed, &findings.storage, cx).await);
        // A StatefulSet cannot be changed to the new size; it is made again in the next run.
        let moving = !findings.storage.steps.is_empty();
        if !moving && may_serve(&findings.credentials) {
            let wanted = as_large_as_it_can_be(database, observed, &findings.storage);
            findings.note(self.children(&wanted).await);
        }
        findings.note(mind_pods(database, observed, cx).await);
        findings
    }

    /// Takes the next step with the Secret; how the credentials are then.
    async fn credentials(
        &self,
        database: &Database,
        observed: &Observed,
        cx: &Context,
    ) -> Result<(Credentials, Option<String>), Error> {
        let mut secret = match observed.secret.as_deref() {
            Some(secret) => Some(secret.clone()),
            // What is followed may be a moment old, and shows nothing that lost its label.
            None => act::secret_now(database, cx).await?,
        };
        // Announcing, changing and concluding are three steps; each is durable before the next.
        loop {
            let has_data = secret.is_some() || act::has_data(database, cx).await?;
            let step = credentials::decide(database, secret.as_ref(), &observed.given, has_data);
            let rotated = secret
                .as_ref()
                .and_then(credentials::rotated)
                .map(str::to_owned);
            match (step, secret) {
                (SecretStep::Nothing, _) => return Ok((Credentials::Ready, rotated)),
                (SecretStep::Stuck(stuck), _) => return Ok((Credentials::Stuck(stuck), rotated)),
                (SecretStep::Create { given }, _) => {
                    let new = credentials::create(database, given, dice(cx));
                    secret = Some(act::create_secret(database, &new, cx).await?);
                }
                (SecretStep::Change(exchange), Some(old)) => {
                    if let Err(why) = self.change(database, &exchange, cx).await? {
                        return Ok((Credentials::Changing(why), rotated));
                    }
                    secret = Some(write(database, credentials::conclude(database, old), cx).await?);
                }
                (SecretStep::Announce { given, request }, Some(old)) => {
                    let new = credentials::announce(old, given, request, dice(cx));
                    secret = Some(write(database, new, cx).await?);
                }
                (SecretStep::Refresh, Some(old)) => {
                    secret = Some(write(database, credentials::refresh(database, old), cx).await?);
                }
                (_, None) => return Ok((Credentials::Stuck(Stuck::Lost), None)),
            }
        }
    }

    /// Changes the password in the server; why not, if it cannot be done now. A server that never
    /// had data takes whatever the Secret says at its first start.
    async fn change(
        &self,
        database: &Database,
        exchange: &Exchange,
        cx: &Context,
    ) -> Result<Result<(), String>, Error> {
        if !act::has_data(database, cx).await? {
            return Ok(Ok(()));
        }
        if database.wanted_servers() == 0 {
            let why = "a new password waits for the Database to be started";
            return Ok(Err(why.to_owned()));
        }
        let changed = self.passwords.exchange(database, exchange).await;
        Ok(changed.map_err(|error| evenkeel_ambient::chain(&error)))
    }

    /// Brings the children to what they should be.
    async fn children(&self, database: &Database) -> Result<(), Error> {
        let documents = Children::of(database).documents()?;
        let wanted = Manifests::of(documents)?;
        let Some(set) = self.owned.of(database).await else {
            return Ok(());
        };
        let converged = set.converge(&wanted, &SetPolicy::default()).await;
        let refused = converged
            .changes()
            .iter()
            .find(|change| change.word == Word::Refused);
        if let Some(refused) = refused {
            return Err(Error::NotOurs(format!(
                "{} is left alone: {}",
                refused.key, refused.text
            )));
        }
        converged
            .result
            .map(drop)
            .map_err(|error| Box::new(error).into())
    }
}

fn dice(cx: &Context) -> &dyn Random {
    &**cx.dice()
}

async fn write(database: &Database, secret: Secret, cx: &Context) -> Result<Secret, Error> {
    Ok(act::replace_secret(database, &secret, cx).await?)
}

/// Whether servers may be made: never without a Secret to start from.
fn may_serve(credentials: &Credentials) -> bool {
    match credentials {
        Credentials::Ready | Credentials::Changing(_) => true,
        // Servers that run go on; new ones would start with what people have to bring first.
        Credentials::Stuck(_) | Credentials::Unknown => false,
    }
}

fn storage(database: &Database, observed: &Observed) -> Storage {
    storage::decide(
        database,
        &observed.claims,
        observed.servers.as_deref(),
        |class| observed.may_grow(class),
    )
}

/// Takes the next steps with the volumes.
async fn grow(
    database: &Database,
    observed: &Observed,
    storage: &Storage,
    cx: &Context,
) -> Result<(), Error> {
    for step in &storage.steps {
        match (step, &observed.servers) {
            (StorageStep::Grow { claim, .. }, _) => {
                if let Some(claim) = observed.claim(claim) {
                    act::grow(database, claim, cx).await?;
                }
            }
            (StorageStep::Recreate, Some(servers)) => {
                act::orphan_servers(database, servers, cx).await?;
            }
            (StorageStep::Recreate, None) => {}
        }
    }
    Ok(())
}

/// Tells pods what they are, and takes those away that keep the others from coming.
async fn mind_pods(database: &Database, observed: &Observed, cx: &Context) -> Result<(), Error> {
    for (pod, role) in unlabelled(database, &observed.pods) {
        act::label(database, pod, role, cx).await?;
    }
    let Some(servers) = &observed.servers else {
        return Ok(());
    };
    for pod in in_the_way(servers, &observed.pods) {
        act::take_away(database, pod, cx).await?;
    }
    Ok(())
}

/// The Database with the size that its servers have, where the class does not let volumes grow:
/// everything else of it goes on.
fn as_large_as_it_can_be<'d>(
    database: &'d Database,
    observed: &Observed,
    storage: &Storage,
) -> Cow<'d, Database> {
    let size = observed.servers.as_deref().and_then(storage::templated);
    match (&storage.rigid, size) {
        (Some(_), Some(size)) => {
            let mut smaller = database.clone();
            smaller.spec.storage.size = size.to_owned();
            Cow::Owned(smaller)
        }
        _ => Cow::Borrowed(database),
    }
}
