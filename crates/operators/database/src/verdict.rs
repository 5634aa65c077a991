//! What is said about a Database: conditions from what was seen, and the phase from the conditions.

use std::borrow::Cow;

use evenkeel_reconcile::{ReasonWord, Status, Verdict};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;

use crate::credentials::Stuck;
use crate::names::Names;
use crate::resource::Database;
use crate::status::Phase;
use crate::storage::{Step, Storage};
use crate::stuck::why_not_started;

/// How the credentials are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials {
    /// The Secret opens the server.
    Ready,
    /// A new password is on its way; the text says what it waits for.
    Changing(String),
    /// Nothing can be done until people do something.
    Stuck(Stuck),
    /// Nobody could find out.
    Unknown,
}

/// Something that people and machines should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// For machines.
    pub reason: ReasonWord,
    /// For people.
    pub message: String,
}

/// Everything that a judgement rests on.
#[derive(Debug, Clone)]
pub struct Seen<'a> {
    /// What is asked for.
    pub database: &'a Database,
    /// The servers, if they were made.
    pub servers: Option<&'a StatefulSet>,
    /// Their pods.
    pub pods: &'a [Pod],
    /// The volumes.
    pub storage: &'a Storage,
    /// The Secret.
    pub credentials: &'a Credentials,
    /// Why the Database is not taken as it is.
    pub objection: Option<&'a Remark>,
    /// What went wrong and is tried again.
    pub trouble: Option<&'a Remark>,
}

impl Seen<'_> {
    /// All conditions; every one of them is always set.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        vec![
            self.accepted(),
            self.credentials_ready(),
            self.storage_resizing(),
            self.progressing(),
            self.ready(),
        ]
    }

    /// The conditions in one word.
    #[must_use]
    pub fn phase(&self) -> Phase {
        let holds = |verdict: Verdict| verdict.status == Status::True;
        if self.database.metadata.deletion_timestamp.is_some() {
            Phase::Deleting
        } else if self.objection.is_some() || matches!(self.credentials, Credentials::Stuck(_)) {
            Phase::Blocked
        } else if self.database.spec.stopped {
            Phase::Stopped
        } else if holds(self.ready()) {
            Phase::Ready
        } else if holds(self.progressing()) || self.ready_servers() == 0 {
            Phase::Progressing
        } else {
            Phase::Degraded
        }
    }

    /// How many servers answer.
    #[must_use]
    pub fn ready_servers(&self) -> i32 {
        let status = self.servers.and_then(|servers| servers.status.as_ref());
        status.and_then(|status| status.ready_replicas).unwrap_or(0)
    }

    /// Whether all servers are made as they are asked for; not whether they answer.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let Some(servers) = self.servers else {
            return false;
        };
        let Some(status) = &servers.status else {
            return false;
        };
        let current = status.observed_generation >= servers.metadata.generation;
        let wanted = self.database.wanted_servers();
        let replicas = servers
            .spec
            .as_ref()
            .and_then(|spec| spec.replicas)
            .unwrap_or(1);
        let updated = match &status.update_revision {
            revision if *revision == status.current_revision => status.replicas,
            _ => status.updated_replicas.unwrap_or(0),
        };
        current && replicas == wanted && status.replicas == wanted && updated == wanted
    }

    fn accepted(&self) -> Verdict {
        match self.objection {
            Some(objection) => remarked("Accepted", Status::False, objection),
            None => said(
                "Accepted",
                Status::True,
                ACCEPTED,
                "the Database is taken as it is",
            ),
        }
    }

    fn credentials_ready(&self) -> Verdict {
        let secret = Names::of(self.database).secret();
        let (status, reason, message) = match self.credentials {
            Credentials::Ready => (
                Status::True,
                ReasonWord::of("SecretReady"),
                format!("Secret {secret} has everything that a client needs"),
            ),
            Credentials::Changing(why) => (Status::False, ReasonWord::of("Rotating"), why.clone()),
            Credentials::Stuck(stuck) => {
                let (reason, message) = explain(stuck, &secret);
                (Status::False, reason, message)
            }
            Credentials::Unknown => (
                Status::Unknown,
                NOT_KNOWN,
                "it could not be found out; see Progressing".to_owned(),
            ),
        };
        verdict("CredentialsReady", status, reason, message)
    }

    fn storage_resizing(&self) -> Verdict {
        let kind = "StorageResizing";
        let storage = self.storage;
        if let Some(class) = &storage.rigid {
            let message = format!(
                "storage class {class:?} does not let volumes grow; set the size back, or move the data to a Database of another class"
            );
            return verdict(
                kind,
                Status::False,
                ReasonWord::of("ExpansionNotAllowed"),
                message,
            );
        }
        let asked = |step: &Step| match step {
            Step::Grow { claim, .. } => Some(claim.clone()),
            Step::Recreate => None,
        };
        let mut claims: Vec<_> = storage.steps.iter().filter_map(asked).collect();
        claims.extend(storage.growing.iter().cloned());
        if claims.is_empty() && storage.steps.is_empty() {
            return said(
                kind,
                Status::False,
                UP_TO_DATE,
                "all volumes have the size that is asked for",
            );
        }
        claims.sort();
        claims.dedup();
        let message = format!(
            "growing to {}: {}",
            self.database.spec.storage.size,
            claims.join(", ")
        );
        verdict(kind, Status::True, ReasonWord::of("Resizing"), message)
    }

    fn progressing(&self) -> Verdict {
        if let Some(trouble) = self.trouble {
            return remarked("Progressing", Status::True, trouble);
        }
        if self.is_settled() {
            return said(
                "Progressing",
                Status::False,
                SETTLED,
                "all servers are made as they are asked for",
            );
        }
        let message = format!(
            "bringing {} to what is asked for",
            servers(self.database.wanted_servers())
        );
        verdict(
            "Progressing",
            Status::True,
            ReasonWord::of("RollingOut"),
            message,
        )
    }

    fn ready(&self) -> Verdict {
        let (ready, wanted) = (self.ready_servers(), self.database.wanted_servers());
        let message = format!("{ready}/{wanted} servers are ready{}", self.not_started());
        let no = |reason, message| verdict("Ready", Status::False, reason, message);
        if self.database.spec.stopped || wanted == 0 {
            return no(ReasonWord::of("Stopped"), "stopped on request".to_owned());
        }
        if let Credentials::Stuck(_) = self.credentials {
            let message = format!("{message}, but see CredentialsReady");
            return no(ReasonWord::of("CredentialsNotReady"), message);
        }
        if !self.primary_is_ready() {
            let message = format!(
                "{message}; the primary {} is not",
                Names::of(self.database).pod(0)
            );
            return no(ReasonWord::of("PrimaryNotReady"), message);
        }
        if ready < wanted {
            return no(ReasonWord::of("StandbysNotReady"), message);
        }
        if !self.is_settled() {
            return no(ReasonWord::of("RollingOut"), message);
        }
        verdict(
            "Ready",
            Status::True,
            ReasonWord::of("AllServersReady"),
            message,
        )
    }

    /// The pods that do not start, and why.
    fn not_started(&self) -> String {
        let told = |pod: &Pod| {
            let why = why_not_started(pod)?;
            Some(format!("; {} does not start: {why}", pod.name_any()))
        };
        self.pods.iter().filter_map(told).collect()
    }

    fn primary_is_ready(&self) -> bool {
        let primary = Names::of(self.database).pod(0);
        let pod = self.pods.iter().find(|pod| pod.name_any() == primary);
        let conditions = pod
            .and_then(|pod| pod.status.as_ref())
            .and_then(|status| status.conditions.as_deref())
            .unwrap_or_default();
        conditions
            .iter()
            .any(|condition| condition.type_ == "Ready" && condition.status == "True")
    }
}

const ACCEPTED: ReasonWord = ReasonWord::of("Accepted");
const UP_TO_DATE: ReasonWord = ReasonWord::of("UpToDate");
const SETTLED: ReasonWord = ReasonWord::of("Settled");
pub(crate) const NOT_KNOWN: ReasonWord = ReasonWord::of("NotKnown");

pub(crate) fn verdict(
    kind: &'static str,
    status: Status,
    reason: ReasonWord,
    message: String,
) -> Verdict {
    Verdict {
        kind: Cow::Borrowed(kind),
        status,
        reason,
        message,
    }
}

fn remarked(kind: &'static str, status: Status, remark: &Remark) -> Verdict {
    verdict(kind, status, remark.reason.clone(), remark.message.clone())
}

fn said(kind: &'static str, status: Status, reason: ReasonWord, message: &str) -> Verdict {
    verdict(kind, status, reason, message.to_owned())
}

fn servers(count: i32) -> String {
    match count {
        1 => "1 server".to_owned(),
        count => format!("{count} servers"),
    }
}

/// What is wrong with the credentials, and what people can do about it.
fn explain(stuck: &Stuck, secret: &str) -> (ReasonWord, String) {
    match stuck {
        Stuck::Lost => (
            ReasonWord::of("CredentialsLost"),
            format!(
                "Secret {secret} is gone but the data it opens is there; restore the Secret from a backup, or write one with password and replication-password by hand and label it evenkeel.io/database"
            ),
        ),
        Stuck::Foreign(owner) => (
            ReasonWord::of("SecretNotOurs"),
            format!(
                "Secret {secret} belongs to {owner}; rename the Database, or give the Secret up"
            ),
        ),
        Stuck::Unreadable(why) => (ReasonWord::of("SecretNotFound"), why.clone()),
        Stuck::Damaged(key) => (
            ReasonWord::of("CredentialsLost"),
            format!("Secret {secret} has lost its key {key}; restore it, nothing is invented here"),
        ),
    }
}
