//! The life of a Database in a cluster, simulated and real.

use evenkeel_database_operator::{Database, Phase};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, Service, ServiceAccount};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::ResourceExt;
use kube::api::{DeleteParams, ObjectMeta, Patch, PatchParams};
use serde_json::json;

use crate::bed::{Bed, on_each};

/// The metadata of everything that a Database owns.
async fn children(bed: &Bed) -> Vec<(&'static str, ObjectMeta)> {
    let mut all = Vec::new();
    macro_rules! gather {
        ($($kind:ident),*) => {$(
            let objects = bed.api::<$kind>().list(&Default::default()).await.unwrap();
            let owned = objects.items.into_iter().filter(|o| !o.owner_references().is_empty());
            all.extend(owned.map(|object| (stringify!($kind), object.metadata)));
        )*};
    }
    gather!(
        ServiceAccount,
        ConfigMap,
        Service,
        StatefulSet,
        PodDisruptionBudget
    );
    all
}

#[tokio::test]
async fn a_database_comes_to_life_and_rests() {
    on_each("database-life", async |bed| {
        let operator = bed.operate();
        bed.declare(json!({"replicas": 2})).await;
        bed.until_ready().await;
        let database = bed.database().await.unwrap();

        let children_made = children(&bed).await;
        let kinds: Vec<_> = children_made.iter().map(|(kind, _)| *kind).collect();
        let wanted = [
            "ServiceAccount",
            "ConfigMap",
            "Service",
            "Service",
            "Service",
            "StatefulSet",
            "PodDisruptionBudget",
        ];
        assert_eq!(kinds, wanted);
        for (_, child) in &children_made {
            let owner = &child.owner_references.as_ref().unwrap()[0];
            assert_eq!(Some(&owner.uid), database.metadata.uid.as_ref());
            assert_eq!(
                (owner.controller, owner.block_owner_deletion),
                (Some(true), Some(true))
            );
        }

        let status = database.status.unwrap();
        let endpoint = format!("orders.{}.svc:5432", bed.namespace);
        assert_eq!(status.endpoint.as_deref(), Some(endpoint.as_str()));
        assert_eq!(status.secret_name.as_deref(), Some("orders-credentials"));
        assert_eq!(
            (status.phase, status.ready_replicas),
            (Some(Phase::Ready), 2)
        );
        assert_eq!(status.observed_generation, database.metadata.generation);
        assert_eq!(status.version.as_deref(), Some("17.2"));

        // Another operator finds nothing to do: not one version changes.
        operator.stop().await;
        let before = children(&bed).await;
        let operator = bed.operate();
        bed.annotate("example.com/nothing", "to do").await;
        let generation = bed.database().await.unwrap().metadata.generation;
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        let after = bed.database().await.unwrap();
        assert_eq!(after.status.unwrap().observed_generation, generation);
        assert_eq!(children(&bed).await, before);
        operator.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_roles_of_pods_follow_their_ordinals() {
    on_each("database-roles", async |bed| {
        let _operator = bed.operate();
        bed.declare(json!({"replicas": 2})).await;
        let role = async |pod: &str| {
            let pod = bed.api::<Pod>().get_opt(pod).await.unwrap()?;
            pod.labels().get("evenkeel.io/role").cloned()
        };
        let labelled = async || {
            role("orders-0").await.as_deref() == Some("primary")
                && role("orders-1").await.as_deref() == Some("standby")
        };
        bed.until("each pod says what it is", labelled).await;
    })
    .await;
}

#[tokio::test]
async fn a_child_that_was_edited_or_deleted_comes_back() {
    on_each("database-drift", async |bed| {
        let _operator = bed.operate();
        bed.declare(json!({})).await;
        bed.until_ready().await;

        let how = PatchParams::default();
        let edit = Patch::Merge(json!({"data": {"postgresql.conf": "port = 1"}}));
        bed.api::<ConfigMap>()
            .patch("orders-config", &how, &edit)
            .await
            .unwrap();
        let foreign = Patch::Merge(json!({"metadata": {"annotations": {"mine": "stays"}}}));
        bed.api::<Service>()
            .patch("orders", &how, &foreign)
            .await
            .unwrap();
        bed.api::<Service>()
            .delete("orders-pods", &DeleteParams::default())
            .await
            .unwrap();

        let restored = async || {
            let config: ConfigMap = bed.api().get("orders-config").await.unwrap();
            let pods = bed.api::<Service>().get_opt("orders-pods").await.unwrap();
            config.data.unwrap()["postgresql.conf"].contains("port = 5432") && pods.is_some()
        };
        bed.until("both are as they were", restored).await;
        let service: Service = bed.api().get("orders").await.unwrap();
        assert_eq!(
            service.annotations().get("mine").map(String::as_str),
            Some("stays")
        );
    })
    .await;
}

#[tokio::test]
async fn a_service_of_somebody_else_is_refused_and_left_alone() {
    on_each("database-foreign", async |bed| {
        let service = json!({"metadata": {"name": "orders"}, "spec": {"ports": [{"name": "http", "port": 80}]}});
        bed.create::<Service>(service).await;
        let _operator = bed.operate();
        bed.declare(json!({})).await;
        bed.until_it_says("Accepted", "False", "Conflict").await;
        let database = bed.database().await.unwrap();
        assert_eq!(database.status.unwrap().phase, Some(Phase::Blocked));
        let service: Service = bed.api().get("orders").await.unwrap();
        assert!(service.owner_references().is_empty());
        assert_eq!(service.spec.unwrap().ports.unwrap()[0].port, 80);

        // When it is out of the way, the Database goes on, at the latest half a minute later.
        bed.api::<Service>()
            .delete("orders", &DeleteParams::default())
            .await
            .unwrap();
        bed.declare(json!({"podLabels": {"try": "again"}})).await;
        bed.until_ready().await;
    })
    .await;
}

#[tokio::test]
async fn a_lost_secret_is_reported_and_never_made_up() {
    on_each("database-lost-secret", async |bed| {
        let _operator = bed.operate();
        bed.declare(json!({})).await;
        bed.until_ready().await;
        let kept = bed.secret().await.unwrap();
        bed.api::<Secret>()
            .delete("orders-credentials", &DeleteParams::default())
            .await
            .unwrap();
        bed.until_it_says("CredentialsReady", "False", "CredentialsLost")
            .await;
        assert_eq!(bed.secret().await, None);

        // Brought back from a backup.
        let mut backup = Secret {
            data: kept.data.clone(),
            ..Secret::default()
        };
        backup.metadata.name = kept.metadata.name.clone();
        backup.metadata.labels = kept.metadata.labels.clone();
        bed.create::<Secret>(serde_json::to_value(&backup).unwrap())
            .await;
        bed.until_ready().await;
        assert_eq!(bed.secret().await.unwrap().data, kept.data);
    })
    .await;
}

#[tokio::test]
async fn a_given_secret_is_watched_and_never_owned() {
    on_each("database-given", async |bed| {
        let _operator = bed.operate();
        bed.declare(json!({"passwordSecretRef": {"name": "mine"}}))
            .await;
        bed.until_it_says("CredentialsReady", "False", "SecretNotFound")
            .await;
        assert_eq!(
            bed.servers().await,
            None,
            "no server starts without a password"
        );

        bed.create::<Secret>(
            json!({"metadata": {"name": "mine"}, "stringData": {"password": "one"}}),
        )
        .await;
        bed.until_ready().await;
        assert_eq!(bed.credential("password").await.as_deref(), Some("one"));

        let how = PatchParams::default();
        let change = Patch::Merge(json!({"stringData": {"password": "two"}}));
        bed.api::<Secret>()
            .patch("mine", &how, &change)
            .await
            .unwrap();
        let changed = async || bed.credential("password").await.as_deref() == Some("two");
        bed.until("the new password is in use", changed).await;
        assert_eq!(bed.server.password().as_deref(), Some("two"));
        let given: Secret = bed.api().get("mine").await.unwrap();
        assert!(given.owner_references().is_empty() && given.labels().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_password_is_rotated_on_request_and_once() {
    on_each("database-rotation", async |bed| {
        let _operator = bed.operate();
        bed.declare(json!({})).await;
        bed.until_ready().await;
        let first = bed.credential("password").await.unwrap();
        bed.annotate("evenkeel.io/rotate-password", "monday").await;
        let echoed = async || {
            let status = bed.database().await.unwrap().status.unwrap();
            status.rotated.as_deref() == Some("monday")
        };
        bed.until("the request is echoed", echoed).await;
        let second = bed.credential("password").await.unwrap();
        assert_ne!(first, second);
        assert_eq!(bed.server.password(), Some(second.clone()));
        assert_eq!(bed.credential("next-password").await, None);

        bed.annotate("example.com/again", "please").await;
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        assert_eq!(bed.credential("password").await, Some(second));
    })
    .await;
}

#[tokio::test]
async fn a_paused_database_is_left_alone_and_a_stopped_one_keeps_its_data() {
    on_each("database-pause", async |bed| {
        let _operator = bed.operate();
        bed.declare(json!({})).await;
        bed.until_ready().await;
        bed.declare(json!({"paused": true, "stopped": true})).await;
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        assert_eq!(bed.servers().await.unwrap().spec.unwrap().replicas, Some(1));

        bed.declare(json!({"stopped": true})).await;
        bed.until_it_says("Ready", "False", "Stopped").await;
        let stopped = async || bed.servers().await.unwrap().spec.unwrap().replicas == Some(0);
        bed.until("no server is wanted", stopped).await;
        assert_eq!(bed.claims().await.len(), 1);

        bed.declare(json!({})).await;
        bed.until_ready().await;
    })
    .await;
}

#[tokio::test]
async fn what_is_retained_is_taken_up_again() {
    on_each("database-retain", async |bed| {
        let operator = bed.operate();
        bed.declare(json!({})).await;
        bed.until_ready().await;
        let (secret, claims) = (bed.secret().await.unwrap(), bed.claims().await);
        bed.api::<Database>()
            .delete("orders", &DeleteParams::background())
            .await
            .unwrap();
        bed.until("the Database is gone", async || {
            bed.database().await.is_none()
        })
        .await;
        bed.until("its servers are gone", async || {
            bed.servers().await.is_none()
        })
        .await;
        assert_eq!(bed.secret().await.unwrap().data, secret.data);
        assert_eq!(bed.claims().await.len(), claims.len());

        bed.declare(json!({})).await;
        bed.until_ready().await;
        assert_eq!(bed.secret().await.unwrap().uid(), secret.uid());
        assert_eq!(bed.claims().await[0].uid(), claims[0].uid());
        operator.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_is_to_be_deleted_goes_volumes_and_secret_alike() {
    on_each("database-delete", async |bed| {
        let _operator = bed.operate();
        bed.declare(json!({"deletionPolicy": "Delete"})).await;
        bed.until_ready().await;
        bed.api::<Database>()
            .delete("orders", &DeleteParams::background())
            .await
            .unwrap();
        let gone = async || {
            bed.database().await.is_none()
                && bed.secret().await.is_none()
                && bed.claims().await.is_empty()
                && bed.servers().await.is_none()
        };
        bed.until("everything is gone", gone).await;
    })
    .await;
}

#[tokio::test]
async fn the_policy_may_change_until_the_last_moment() {
    on_each("database-last-moment", async |bed| {
        let operator = bed.operate();
        bed.declare(json!({"deletionPolicy": "Delete"})).await;
        bed.until_ready().await;
        operator.stop().await;
        bed.api::<Database>()
            .delete("orders", &DeleteParams::background())
            .await
            .unwrap();
        let keep = Patch::Merge(json!({"spec": {"deletionPolicy": "Retain"}}));
        bed.api::<Database>()
            .patch("orders", &PatchParams::default(), &keep)
            .await
            .unwrap();
        let _operator = bed.operate();
        bed.until("the Database is gone", async || {
            bed.database().await.is_none()
        })
        .await;
        assert!(bed.secret().await.is_some());
        assert_eq!(bed.claims().await.len(), 1);
    })
    .await;
}
