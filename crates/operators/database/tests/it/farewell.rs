//! What a deletion leaves behind, from wherever it begins and however it is asked for.

use evenkeel_database_operator::{Database, Phase};
use k8s_openapi::api::core::v1::{Namespace, PersistentVolumeClaim, Pod};
use kube::api::{DeleteParams, Patch, PatchParams, PropagationPolicy};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use crate::bed::{Bed, on_each};

async fn delete(bed: &Bed, propagation: PropagationPolicy) {
    let how = DeleteParams {
        propagation_policy: Some(propagation),
        ..DeleteParams::default()
    };
    bed.api::<Database>().delete("orders", &how).await.unwrap();
}

async fn pods(bed: &Bed) -> Vec<Pod> {
    bed.api().list(&Default::default()).await.unwrap().items
}

async fn until_all_is_gone(bed: &Bed) {
    let gone = async || {
        bed.database().await.is_none()
            && bed.servers().await.is_none()
            && pods(bed).await.is_empty()
            && bed.claims().await.is_empty()
            && bed.secret().await.is_none()
    };
    bed.until("everything is gone", gone).await;
}

#[tokio::test]
async fn in_the_foreground_and_in_the_background_all_goes_that_shall() {
    let ways = [
        (PropagationPolicy::Foreground, "database-foreground"),
        (PropagationPolicy::Background, "database-background"),
    ];
    for (propagation, namespace) in ways {
        on_each(namespace, async |bed| {
            let _operator = bed.operate();
            bed.declare(json!({"replicas": 2, "deletionPolicy": "Delete"}))
                .await;
            bed.until_ready().await;
            delete(&bed, propagation.clone()).await;
            until_all_is_gone(&bed).await;
        })
        .await;
    }
}

/// Who deletes a Database and wants to keep what belongs to it means the data, too.
#[tokio::test]
async fn orphaned_servers_keep_their_volumes_and_credentials() {
    on_each("database-orphaned", async |bed| {
        let operator = bed.operate();
        bed.declare(json!({"deletionPolicy": "Delete"})).await;
        bed.until_ready().await;
        delete(&bed, PropagationPolicy::Orphan).await;
        bed.until("the Database is gone", async || {
            bed.database().await.is_none()
        })
        .await;
        operator.stop().await;
        let servers = bed.servers().await.unwrap();
        assert!(servers.owner_references().is_empty());
        assert!(servers.metadata.deletion_timestamp.is_none());
        assert!(bed.secret().await.is_some());
        let claims = bed.claims().await;
        let is_live = |claim: &PersistentVolumeClaim| claim.metadata.deletion_timestamp.is_none();
        assert!(claims.len() == 1 && claims.iter().all(is_live));
    })
    .await;
}

/// A Database whose StatefulSet is gone and whose pods run on, as in the midst of growth.
async fn between_two_stateful_sets(bed: &Bed, policy: &str) {
    let operator = bed.operate();
    bed.declare(json!({"deletionPolicy": policy})).await;
    bed.until_ready().await;
    operator.stop().await;
    let how = DeleteParams {
        propagation_policy: Some(PropagationPolicy::Orphan),
        ..DeleteParams::default()
    };
    let servers = bed.api::<k8s_openapi::api::apps::v1::StatefulSet>();
    servers.delete("orders", &how).await.unwrap();
    bed.until("only the pods are left", async || {
        let free = |pod: &Pod| pod.owner_references().is_empty();
        bed.servers().await.is_none() && pods(bed).await.iter().all(free)
    })
    .await;
    assert_eq!(pods(bed).await.len(), 1);
    delete(bed, PropagationPolicy::Background).await;
}

#[tokio::test]
async fn a_deletion_in_the_midst_of_growth_leaves_no_server_behind() {
    on_each("database-strays", async |bed| {
        between_two_stateful_sets(&bed, "Delete").await;
        let _operator = bed.operate();
        until_all_is_gone(&bed).await;
    })
    .await;
}

#[tokio::test]
async fn servers_without_a_stateful_set_stop_and_their_data_stays() {
    on_each("database-strays-kept", async |bed| {
        between_two_stateful_sets(&bed, "Retain").await;
        let _operator = bed.operate();
        bed.until("the Database and its pods are gone", async || {
            bed.database().await.is_none() && pods(&bed).await.is_empty()
        })
        .await;
        assert_eq!(bed.claims().await.len(), 1);
        assert!(bed.secret().await.is_some());
    })
    .await;
}

async fn hold_claim(bed: &Bed, finalizers: Value) {
    let patch = Patch::Merge(json!({"metadata": {"finalizers": finalizers}}));
    bed.api::<PersistentVolumeClaim>()
        .patch("data-orders-0", &PatchParams::default(), &patch)
        .await
        .unwrap();
}

#[tokio::test]
async fn the_secret_stays_for_as_long_as_the_data_that_it_opens() {
    on_each("database-held-volume", async |bed| {
        let _operator = bed.operate();
        bed.declare(json!({"deletionPolicy": "Delete"})).await;
        bed.until_ready().await;
        hold_claim(&bed, json!(["example.com/backup"])).await;
        delete(&bed, PropagationPolicy::Background).await;
        bed.until("the volume is on its way out", async || {
            let claims = bed.claims().await;
            claims
                .iter()
                .any(|c| c.metadata.deletion_timestamp.is_some())
        })
        .await;
        bed.until_it_says("Ready", "False", "Deleting").await;
        let status = bed.database().await.unwrap().status.unwrap();
        assert_eq!(status.phase, Some(Phase::Deleting));
        assert!(bed.secret().await.is_some());
        hold_claim(&bed, Value::Null).await;
        until_all_is_gone(&bed).await;
    })
    .await;
}

#[tokio::test]
async fn a_namespace_takes_its_databases_along() {
    on_each("database-namespace", async |bed| {
        let _operator = bed.operate();
        bed.declare(json!({"deletionPolicy": "Delete"})).await;
        bed.until_ready().await;
        let namespaces: Api<Namespace> = Api::all(bed.cluster.client().await);
        namespaces
            .delete(&bed.namespace, &DeleteParams::default())
            .await
            .unwrap();
        // The namespace itself takes its time with pods.
        bed.until("the Database is gone", async || {
            bed.database().await.is_none()
        })
        .await;
    })
    .await;
}

/// Made again behind the operator's back, under the old name: another Database, the same data.
#[tokio::test]
async fn a_database_that_is_made_anew_unseen_takes_up_the_old_data() {
    on_each("database-anew", async |bed| {
        let operator = bed.operate();
        bed.declare(json!({})).await;
        bed.until_ready().await;
        operator.stop().await;
        let (old, secret) = (bed.database().await.unwrap(), bed.secret().await.unwrap());
        let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        bed.api::<Database>()
            .patch("orders", &PatchParams::default(), &free)
            .await
            .unwrap();
        delete(&bed, PropagationPolicy::Background).await;
        bed.until("the old one is gone", async || {
            bed.database().await.is_none()
        })
        .await;
        let new = bed.declare(json!({})).await;
        assert_ne!(new.uid(), old.uid());
        let _operator = bed.operate();
        bed.until("the servers are the new one's", async || {
            let servers = bed.servers().await;
            let owners = servers
                .iter()
                .flat_map(|servers| servers.owner_references());
            owners
                .into_iter()
                .any(|owner| Some(&owner.uid) == new.uid().as_ref())
        })
        .await;
        bed.until_ready().await;
        assert_eq!(bed.secret().await.unwrap().uid(), secret.uid());
        assert_eq!(bed.secret().await.unwrap().data, secret.data);
    })
    .await;
}
