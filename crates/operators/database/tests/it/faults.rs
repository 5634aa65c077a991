//! A crash before, after and with a lost reply at every write; old views; lost events.

use std::collections::BTreeMap;
use std::time::Duration;

use evenkeel_database_operator::Database;
use evenkeel_kubesim as kubesim;
use evenkeel_kubesim::faults::View;
use evenkeel_testkit::faults::{
    Explored, Subject, World, crash_everywhere, lost_events, old_views,
};
use evenkeel_testkit::{Cluster, note};
use futures::future::BoxFuture;
use kube::ResourceExt;
use kube::api::DeleteParams;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::bed::Bed;
use crate::world::children;

const A_WHILE: Duration = Duration::from_secs(120);

/// What people do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tale {
    /// Declare a Database.
    Create,
    /// Change its settings and its size, then take a setting back.
    Update,
    /// Ask for larger volumes.
    Grow,
    /// Ask for a new password.
    Rotate,
    /// Delete it with everything.
    Delete,
    /// Delete it and keep the data.
    Retain,
    /// Send its pods where no node is, then take that back.
    TakeBack,
}

/// A Database, and what happens to it.
struct Told {
    bed: Bed,
    view: View,
    tale: Tale,
    /// The Secret and the volumes from before the tale, by uid.
    keepsakes: Vec<Option<String>>,
}

/// What is left, without what differs from run to run.
#[derive(Debug, PartialEq)]
struct End {
    children: BTreeMap<String, Value>,
    claims: BTreeMap<String, Value>,
    secret: Option<Vec<String>>,
    conditions: Option<Vec<String>>,
}

impl Told {
    async fn begin(tale: Tale) -> Self {
        let bed = Bed::on(&Cluster::simulated_alive(), "faults").await;
        let view = bed.simulated().view("operator");
        let mut told = Self {
            bed,
            view,
            tale,
            keepsakes: Vec::new(),
        };
        if tale != Tale::Create {
            let policy = if tale == Tale::Delete {
                "Delete"
            } else {
                "Retain"
            };
            told.bed.declare(json!({"deletionPolicy": policy})).await;
            let operator = told.bed.operate();
            sleep(A_WHILE).await;
            operator.stop().await;
            told.keepsakes = told.keepsakes().await;
        }
        told
    }

    async fn keepsakes(&self) -> Vec<Option<String>> {
        let secret = self.bed.secret().await.and_then(|secret| secret.uid());
        let claims = self.bed.claims().await;
        std::iter::once(secret)
            .chain(claims.iter().map(ResourceExt::uid))
            .collect()
    }

    /// What must never happen: data or credentials that are lost or replaced, a Secret that does
    /// not open the server.
    async fn is_safe(&self) {
        if !matches!(self.tale, Tale::Create | Tale::Delete) {
            let kept = self.keepsakes().await;
            let lost = self
                .keepsakes
                .iter()
                .find(|keepsake| !kept.contains(keepsake));
            assert_eq!(lost, None, "a keepsake was lost");
        }
        if let Some(taken) = self.bed.server.password() {
            assert_eq!(self.bed.credential("password").await, Some(taken));
        }
    }
}

impl Subject for Told {
    type End = End;
    const SETTLES_IN: Duration = Duration::from_secs(400);

    fn worlds(&self) -> Vec<&dyn World> {
        vec![&self.view]
    }

    fn cluster(&self) -> (&kubesim::Cluster, &View) {
        (self.bed.simulated(), &self.view)
    }

    fn operator(&self) -> BoxFuture<'static, ()> {
        self.bed.process_through(&self.view)
    }

    async fn story(&self) {
        let bed = &self.bed;
        match self.tale {
            Tale::Create => {
                bed.declare(json!({})).await;
            }
            Tale::Update => {
                bed.declare(json!({"replicas": 2, "settings": {"work_mem": "8MB"}}))
                    .await;
                sleep(A_WHILE).await;
                bed.declare(json!({"replicas": 2})).await;
            }
            Tale::Grow => {
                bed.declare(json!({"storage": {"size": "3Gi", "class": "growing"}}))
                    .await;
            }
            Tale::TakeBack => {
                bed.declare(json!({"nodeSelector": {"disk": "none"}})).await;
                sleep(A_WHILE).await;
                bed.declare(json!({})).await;
            }
            Tale::Rotate => bed.annotate("evenkeel.io/rotate-password", "monday").await,
            Tale::Delete | Tale::Retain => {
                let how = DeleteParams::background();
                bed.api::<Database>().delete("orders", &how).await.unwrap();
            }
        }
        sleep(A_WHILE).await;
    }

    async fn end(&self) -> End {
        self.is_safe().await;
        let claims = self.bed.claims().await.into_iter();
        let conditions = self.bed.database().await.map(|database| {
            let conditions = database.status.unwrap_or_default().conditions.into_iter();
            conditions
                .map(|c| format!("{}={:?} {}", c.kind, c.status, c.reason))
                .collect()
        });
        let keys = |secret: k8s_openapi::api::core::v1::Secret| {
            secret.data.unwrap_or_default().into_keys().collect()
        };
        End {
            children: children(&self.bed).await,
            claims: claims
                .map(|claim| (claim.name_any(), json!(claim.spec.unwrap().resources)))
                .collect(),
            secret: self.bed.secret().await.map(keys),
            conditions,
        }
    }
}

async fn crashes(tale: Tale) -> Explored {
    let explored = crash_everywhere(async || Told::begin(tale).await).await;
    note(&format_args!(
        "Database, {tale:?}: {} runs with a crash",
        explored.runs
    ));
    explored
}

#[tokio::test(start_paused = true)]
async fn a_creation_survives_a_crash_at_every_write() {
    assert!(crashes(Tale::Create).await.writes > 10);
}

#[tokio::test(start_paused = true)]
async fn an_update_survives_a_crash_at_every_write() {
    assert!(crashes(Tale::Update).await.writes > 5);
}

#[tokio::test(start_paused = true)]
async fn growing_survives_a_crash_at_every_write() {
    assert!(crashes(Tale::Grow).await.writes > 3);
}

#[tokio::test(start_paused = true)]
async fn a_rotation_survives_a_crash_at_every_write() {
    assert!(crashes(Tale::Rotate).await.writes > 2);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_survives_a_crash_at_every_write() {
    assert!(crashes(Tale::Delete).await.writes > 3);
    assert!(crashes(Tale::Retain).await.writes > 0);
}

#[tokio::test(start_paused = true)]
async fn a_change_that_is_taken_back_survives_a_crash_at_every_write() {
    assert!(crashes(Tale::TakeBack).await.writes > 4);
}

const TALES: [Tale; 7] = [
    Tale::Create,
    Tale::Update,
    Tale::Grow,
    Tale::Rotate,
    Tale::Delete,
    Tale::Retain,
    Tale::TakeBack,
];

#[tokio::test(start_paused = true)]
async fn old_views_do_no_harm() {
    for tale in TALES {
        let explored = old_views(async || Told::begin(tale).await).await;
        assert!(explored.runs > 4, "{tale:?}: {explored:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn lost_events_are_made_up_for() {
    for tale in TALES {
        let explored = lost_events(async || Told::begin(tale).await, 2).await;
        assert!(explored.runs > 2, "{tale:?}: {explored:?}");
    }
}
