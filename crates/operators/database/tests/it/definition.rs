//! The resource's definition, simulated and real: defaults, what may not change, scale and columns.

use evenkeel_database_operator::Database;
use evenkeel_testkit::Cluster;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams, PostParams};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Api, Client, CustomResourceExt};
use serde_json::{Value, json};

use crate::sample::database;

pub(crate) async fn install(client: &Client) {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let (apply, crd) = (PatchParams::apply("test").force(), Database::crd());
    definitions
        .patch("databases.evenkeel.io", &apply, &Patch::Apply(&crd))
        .await
        .unwrap();
    let established = conditions::is_crd_established();
    await_condition(definitions, "databases.evenkeel.io", established)
        .await
        .unwrap();
}

/// Runs a test on the Databases of a namespace of its own, on a simulated server and on the real one.
async fn on_each(namespace: &str, test: impl AsyncFn(Api<Database>)) {
    test(databases(&Cluster::simulated(), namespace).await).await;
    if let Some(real) = Cluster::shared_real_alive_or_skip().await {
        test(databases(&real, namespace).await).await;
    }
}

async fn databases(cluster: &Cluster, namespace: &str) -> Api<Database> {
    let client = cluster.client().await;
    install(&client).await;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let wanted = serde_json::from_value(json!({"metadata": {"name": namespace}})).unwrap();
    namespaces
        .create(&PostParams::default(), &wanted)
        .await
        .unwrap();
    Api::namespaced(client, namespace)
}

async fn create(api: &Api<Database>, name: &str, spec: Value) -> Result<Database, String> {
    let mut wanted = database(spec);
    wanted.metadata.name = Some(name.to_owned());
    wanted.metadata.namespace = None;
    wanted.metadata.uid = None;
    let created = api.create(&PostParams::default(), &wanted).await;
    created.map_err(|error| error.to_string())
}

async fn change(api: &Api<Database>, name: &str, spec: Value) -> Result<Database, String> {
    let patch = Patch::Merge(json!({ "spec": spec }));
    let changed = api.patch(name, &PatchParams::default(), &patch).await;
    changed.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_bare_specification_gets_defaults() {
    on_each("database-defaults", async |api| {
        let made = create(&api, "orders", json!({})).await.unwrap();
        assert_eq!((made.spec.replicas, made.spec.port), (1, 5432));
        assert_eq!(
            (made.spec.database.as_str(), made.spec.owner.as_str()),
            ("app", "app")
        );
    })
    .await;
}

#[tokio::test]
async fn what_may_not_change_is_refused_with_a_way_out() {
    on_each("database-refusals", async |api| {
        let spec = json!({"version": "17.2", "storage": {"size": "10Gi", "class": "fast"}});
        create(&api, "orders", spec).await.unwrap();
        let refusals = [
            (json!({"version": "18.0"}), "major version in place"),
            (json!({"version": "16"}), "major version in place"),
            (json!({"version": "17.1"}), "downgrade"),
            (json!({"storage": {"size": "9Gi"}}), "cannot shrink"),
            (json!({"storage": {"class": "slow"}}), "storage class"),
            (json!({"storage": {"class": null}}), "storage class"),
            (
                json!({"storage": {"accessMode": "ReadWriteMany"}}),
                "access mode",
            ),
            (json!({"owner": "other"}), "made at the first start"),
            (json!({"database": "other"}), "made at the first start"),
            (json!({"settings": {"port": "1"}}), "made by the operator"),
            (
                json!({"settings": {"no-such name": "1"}}),
                "named like parameters",
            ),
            (
                json!({"podLabels": {"evenkeel.io/role": "x"}}),
                "set by the operator",
            ),
        ];
        for (spec, text) in refusals {
            let error = change(&api, "orders", spec.clone()).await.unwrap_err();
            assert!(error.contains(text), "{spec}: {error}");
        }
        let allowed = [
            json!({"version": "17.10"}),
            json!({"storage": {"size": "10240Mi"}}),
            json!({"storage": {"size": "11Gi"}}),
            json!({"settings": {"work_mem": "8MB", "auto_explain.log_analyze": "on"}}),
            json!({"replicas": 3, "stopped": true}),
        ];
        for spec in allowed {
            change(&api, "orders", spec.clone())
                .await
                .unwrap_or_else(|error| panic!("{spec}: {error}"));
        }
    })
    .await;
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_at_once() {
    on_each("database-nonsense", async |api| {
        let refusals = [
            ("orders", json!({"version": "seventeen"}), "spec.version"),
            ("orders", json!({"replicas": 17}), "spec.replicas"),
            (
                "orders",
                json!({"owner": "postgres"}),
                "belongs to PostgreSQL",
            ),
            (
                "orders",
                json!({"database": "template1"}),
                "belongs to PostgreSQL",
            ),
            (
                "orders",
                json!({"storage": {"size": "-1Gi"}}),
                "spec.storage.size",
            ),
            (
                "orders",
                json!({"settings": {"a": "x\ny"}}),
                "spec.settings",
            ),
            (
                "orders",
                json!({"disruptionBudget": {"maxUnavailable": 0}}),
                "maxUnavailable",
            ),
            (
                "a-name-that-is-far-too-long-for-all-that-is-made",
                json!({}),
                "45 characters",
            ),
        ];
        for (name, spec, text) in refusals {
            let error = create(&api, name, spec.clone()).await.unwrap_err();
            assert!(error.contains(text), "{spec}: {error}");
        }
    })
    .await;
}

#[tokio::test]
async fn it_scales_like_a_deployment() {
    on_each("database-scale", async |api| {
        create(&api, "orders", json!({})).await.unwrap();
        let patch = Patch::Merge(json!({"spec": {"replicas": 3}}));
        let scale = api
            .patch_scale("orders", &PatchParams::default(), &patch)
            .await
            .unwrap();
        assert_eq!(scale.spec.and_then(|spec| spec.replicas), Some(3));
        assert_eq!(api.get("orders").await.unwrap().spec.replicas, 3);
    })
    .await;
}
