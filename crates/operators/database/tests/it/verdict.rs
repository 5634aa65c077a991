//! What is said about a Database: never more than is true.

use evenkeel_database_operator::credentials::Stuck;
use evenkeel_database_operator::storage::Storage;
use evenkeel_database_operator::verdict::{Credentials, Remark, Seen};
use evenkeel_database_operator::{Children, Database, Phase};
use evenkeel_reconcile::{ReasonWord, Status};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use serde_json::json;

use crate::sample::database;

/// A scene in which everything is fine until a test says otherwise.
struct Scene {
    database: Database,
    servers: Option<StatefulSet>,
    pods: Vec<Pod>,
    storage: Storage,
    credentials: Credentials,
    objection: Option<Remark>,
    trouble: Option<Remark>,
}

fn scene(replicas: i32) -> Scene {
    let database = database(json!({"replicas": replicas}));
    let mut servers = Children::of(&database).servers;
    servers.metadata.generation = Some(4);
    servers.status = Some(
        serde_json::from_value(json!({
            "observedGeneration": 4, "replicas": replicas, "readyReplicas": replicas,
            "updatedReplicas": replicas, "currentRevision": "a", "updateRevision": "a",
        }))
        .unwrap(),
    );
    Scene {
        pods: (0..replicas).map(|ordinal| pod(ordinal, true)).collect(),
        servers: Some(servers),
        database,
        storage: Storage::default(),
        credentials: Credentials::Ready,
        objection: None,
        trouble: None,
    }
}

fn pod(ordinal: i32, ready: bool) -> Pod {
    let ready = if ready { "True" } else { "False" };
    serde_json::from_value(json!({
        "metadata": {"name": format!("orders-{ordinal}")},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }))
    .unwrap()
}

impl Scene {
    fn seen(&self) -> Seen<'_> {
        Seen {
            database: &self.database,
            servers: self.servers.as_ref(),
            pods: &self.pods,
            storage: &self.storage,
            credentials: &self.credentials,
            objection: self.objection.as_ref(),
            trouble: self.trouble.as_ref(),
        }
    }

    fn says(&self, kind: &str) -> (Status, String, String) {
        let verdicts = self.seen().verdicts();
        let verdict = verdicts.into_iter().find(|v| v.kind == kind).unwrap();
        (verdict.status, verdict.reason.to_string(), verdict.message)
    }

    fn set_ready(&mut self, count: i32) {
        let status = self.servers.as_mut().unwrap().status.as_mut().unwrap();
        status.ready_replicas = Some(count);
    }
}

#[test]
fn all_servers_ready_is_ready() {
    let scene = scene(3);
    let (status, reason, message) = scene.says("Ready");
    assert_eq!((status, reason.as_str()), (Status::True, "AllServersReady"));
    assert_eq!(message, "3/3 servers are ready");
    assert_eq!(scene.seen().phase(), Phase::Ready);
}

#[test]
fn a_lost_primary_is_said_and_not_hidden_by_standbys() {
    let mut scene = scene(3);
    scene.pods[0] = pod(0, false);
    scene.set_ready(2);
    let (status, reason, message) = scene.says("Ready");
    assert_eq!(
        (status, reason.as_str()),
        (Status::False, "PrimaryNotReady")
    );
    assert!(
        message.contains("2/3") && message.contains("orders-0"),
        "{message}"
    );
    assert_eq!(scene.seen().phase(), Phase::Degraded);
}

#[test]
fn a_missing_standby_is_not_ready() {
    let mut scene = scene(2);
    scene.set_ready(1);
    assert_eq!(scene.says("Ready").1, "StandbysNotReady");
}

#[test]
fn a_status_of_an_older_generation_is_not_believed() {
    let mut scene = scene(1);
    scene.servers.as_mut().unwrap().metadata.generation = Some(5);
    assert_eq!(scene.says("Progressing").0, Status::True);
    assert_eq!(scene.says("Ready").1, "RollingOut");
}

#[test]
fn before_anything_exists_it_is_progressing() {
    let mut scene = scene(1);
    scene.servers = None;
    scene.pods.clear();
    assert_eq!(scene.seen().phase(), Phase::Progressing);
    assert_eq!(scene.says("Ready").0, Status::False);
}

#[test]
fn lost_credentials_block_and_say_what_to_do() {
    let mut scene = scene(1);
    scene.credentials = Credentials::Stuck(Stuck::Lost);
    let (status, reason, message) = scene.says("CredentialsReady");
    assert_eq!(
        (status, reason.as_str()),
        (Status::False, "CredentialsLost")
    );
    assert!(message.contains("restore"), "{message}");
    assert_eq!(scene.seen().phase(), Phase::Blocked);
    assert_eq!(scene.says("Ready").0, Status::False);
}

#[test]
fn a_rigid_class_is_explained() {
    let mut scene = scene(1);
    scene.storage.rigid = Some("slow".to_owned());
    let (status, reason, message) = scene.says("StorageResizing");
    assert_eq!(
        (status, reason.as_str()),
        (Status::False, "ExpansionNotAllowed")
    );
    assert!(message.contains("\"slow\""), "{message}");
}

#[test]
fn growing_volumes_are_named() {
    let mut scene = scene(1);
    scene.storage.growing = vec!["data-orders-0".to_owned()];
    let (status, _, message) = scene.says("StorageResizing");
    assert_eq!(status, Status::True);
    assert!(message.contains("data-orders-0"), "{message}");
}

#[test]
fn an_objection_is_the_reason_why_nothing_happens() {
    let mut scene = scene(1);
    scene.objection = Some(Remark {
        reason: ReasonWord::of("Conflict"),
        message: "Service orders is not ours".to_owned(),
    });
    assert_eq!(
        scene.says("Accepted"),
        (
            Status::False,
            "Conflict".to_owned(),
            "Service orders is not ours".to_owned()
        )
    );
    assert_eq!(scene.seen().phase(), Phase::Blocked);
}

#[test]
fn a_stopped_database_says_so() {
    let mut scene = scene(1);
    scene.database.spec.stopped = true;
    assert_eq!(scene.says("Ready").1, "Stopped");
    assert_eq!(scene.seen().phase(), Phase::Stopped);
}

/// What could not be found out is not said to be wrong.
#[test]
fn unknown_is_neither_true_nor_false() {
    let mut scene = scene(1);
    scene.credentials = Credentials::Unknown;
    assert_eq!(scene.says("CredentialsReady").0, Status::Unknown);
    assert_eq!(scene.says("Ready").0, Status::True, "the servers answer");
}

#[test]
fn what_is_tried_again_is_said_with_its_class() {
    let mut scene = scene(1);
    scene.trouble = Some(Remark {
        reason: ReasonWord::of("TransientError"),
        message: "create Service orders: quota exceeded (403)".to_owned(),
    });
    let (status, reason, message) = scene.says("Progressing");
    assert_eq!((status, reason.as_str()), (Status::True, "TransientError"));
    assert!(message.contains("quota"), "{message}");
    assert_eq!(scene.says("Accepted").0, Status::True, "it may yet work");
}

#[test]
fn a_pod_that_does_not_start_is_named_with_the_reason() {
    let mut scene = scene(1);
    scene.set_ready(0);
    scene.pods[0] = serde_json::from_value(json!({
        "metadata": {"name": "orders-0"},
        "status": {"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"},
        ]},
    }))
    .unwrap();
    let (_, _, message) = scene.says("Ready");
    assert!(
        message.contains("orders-0 does not start: Unschedulable"),
        "{message}"
    );
}
