//! The definitions and the operator on a real control plane.

use std::sync::Arc;
use std::time::Duration;

use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_controller::{Ended, Manager};
use evenkeel_shape_operator::{Marking, Settings, Shape, add_to, definitions, over_http};
use evenkeel_shapes_cloud::{Cloud, serve};
use evenkeel_testkit::Cluster;
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use prometheus_client::registry::Registry;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::bed::{by_labels, square, until};

async fn prepared(client: &Client, namespace: &str) -> Api<Shape> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    for definition in definitions() {
        let name = definition.metadata.name.clone().expect("a name");
        let apply = PatchParams::apply("test").force();
        crds.patch(&name, &apply, &Patch::Apply(&definition))
            .await
            .expect("a definition");
    }
    let metadata = ObjectMeta {
        name: Some(namespace.to_owned()),
        ..ObjectMeta::default()
    };
    let place = Namespace {
        metadata,
        ..Namespace::default()
    };
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces
        .create(&PostParams::default(), &place)
        .await
        .expect("a namespace");
    let shapes: Api<Shape> = Api::namespaced(client.clone(), namespace);
    until("Shapes are served", async || {
        shapes.list(&Default::default()).await.is_ok()
    })
    .await;
    shapes
}

#[tokio::test]
async fn a_real_server_refuses_what_makes_no_sense() {
    let Some(cluster) = Cluster::shared_real_or_skip().await else {
        return;
    };
    let shapes = prepared(&cluster.client().await, "shape-rules").await;
    let mut bad = Shape::new("bad", square("Very Red"));
    let refused = shapes
        .create(&PostParams::default(), &bad)
        .await
        .unwrap_err()
        .to_string();
    assert!(refused.contains("a word in small letters"), "{refused}");
    bad.spec.colour = "red".to_owned();
    bad.spec.adopt = Some("shape-1".to_owned());
    shapes.create(&PostParams::default(), &bad).await.unwrap();
    for change in [json!({"adopt": "shape-2"}), json!({"adopt": null})] {
        let patch = Patch::Merge(json!({ "spec": change }));
        let refused = shapes
            .patch("bad", &PatchParams::default(), &patch)
            .await
            .unwrap_err();
        assert!(
            refused.to_string().contains("adopt cannot be changed"),
            "{refused}"
        );
    }
    let patch = Patch::Merge(json!({"spec": {"type": "Blob"}}));
    assert!(
        shapes
            .patch("bad", &PatchParams::default(), &patch)
            .await
            .is_err()
    );
}

#[tokio::test]
async fn a_shape_lives_on_a_real_control_plane() {
    let Some(cluster) = Cluster::shared_real_or_skip().await else {
        return;
    };
    for (namespace, marking) in [
        ("shape-labels", by_labels()),
        ("shape-checkpoint", Marking::Checkpoint),
    ] {
        let client = cluster.client().await;
        let shapes = prepared(&client, namespace).await;
        let cloud = Arc::new(Cloud::new(Arc::new(SystemClock), Arc::new(SystemRandom)));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let stop = CancellationToken::new();
        let serving = tokio::spawn(serve(listener, cloud.clone(), stop.clone()));
        let mut settings = Settings::new(marking);
        settings.survey = Duration::from_millis(200);
        settings.window = SignedDuration::from_millis(300);
        let manager = Manager::new(
            client,
            Arc::new(SystemClock),
            Arc::new(SystemRandom),
            &mut Registry::default(),
        );
        let manager = add_to(manager, over_http(&address).unwrap(), settings);
        let running = tokio::spawn(manager.run(stop.clone()));

        shapes
            .create(&PostParams::default(), &Shape::new("foo", square("red")))
            .await
            .unwrap();
        let colours = || {
            cloud
                .shapes()
                .into_iter()
                .map(|shape| shape.colour)
                .collect::<Vec<_>>()
        };
        until("foo is made", async || colours() == ["red"]).await;
        let purple = Patch::Merge(json!({"spec": {"colour": "purple"}}));
        shapes
            .patch("foo", &PatchParams::default(), &purple)
            .await
            .unwrap();
        until("foo is purple", async || colours() == ["purple"]).await;
        cloud.delete(&cloud.shapes()[0].id, None).unwrap();
        until("foo is back", async || colours() == ["purple"]).await;
        shapes
            .delete("foo", &DeleteParams::default())
            .await
            .unwrap();
        until("the Shape is gone", async || {
            shapes.get_opt("foo").await.unwrap().is_none()
        })
        .await;
        assert!(colours().is_empty());
        stop.cancel();
        assert_eq!(running.await.unwrap(), Ended::Stopped);
        serving.await.unwrap().unwrap();
    }
}
