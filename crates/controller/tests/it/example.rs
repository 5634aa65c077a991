//! The example that strangers copy, run as they would run it.

#[allow(dead_code, unreachable_pub, reason = "it is a program of its own")]
#[path = "../../examples/greeting.rs"]
mod greeting;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_controller::{Ended, Manager, Status};
use evenkeel_testkit::{Cluster, on_each_cluster};
use greeting::{Greeting, GreetingSpec};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, ObjectMeta, PostParams};
use kube::{Api, Client, CustomResourceExt};
use tokio_util::sync::CancellationToken;

const PLACE: &str = "greetings";

async fn prepare(client: &Client) {
    let put = PostParams::default();
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    crds.create(&put, &Greeting::crd())
        .await
        .expect("a definition");
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let metadata = ObjectMeta {
        name: Some(PLACE.to_owned()),
        ..ObjectMeta::default()
    };
    let namespace = Namespace {
        metadata,
        ..Namespace::default()
    };
    namespaces
        .create(&put, &namespace)
        .await
        .expect("a namespace");
}

async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..600 {
        if let Some(seen) = look().await {
            return seen;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("never: {what}");
}

#[tokio::test]
async fn the_example_greets() {
    on_each_cluster(async |cluster: &Cluster| {
        let client = cluster.client().await;
        let (clock, dice) = (Arc::new(SystemClock), Arc::new(SystemRandom));
        let manager = Manager::new(client.clone(), clock, dice, &mut Default::default());
        let stop = CancellationToken::new();
        // It starts before its kind exists.
        let running = tokio::spawn(manager.with(greeting::controller()).run(stop.clone()));
        prepare(&client).await;

        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), PLACE);
        let greetings: Api<Greeting> = Api::namespaced(client, PLACE);
        let spec = GreetingSpec {
            whom: "Ada".to_owned(),
            words_from: "words".to_owned(),
        };
        let created = eventually("the kind is served", async || {
            greetings
                .create(&PostParams::default(), &Greeting::new("ada", spec.clone()))
                .await
                .ok()
        });
        created.await;
        let ready = async |wanted: Status| {
            let status = greetings.get("ada").await.ok()?.status?;
            let ready = status.conditions.first()?;
            (ready.status == wanted).then(|| ready.reason.to_string())
        };
        let why = eventually("it misses the words", || ready(Status::False)).await;
        assert_eq!(why, "WordsMissing");

        let words = ConfigMap {
            metadata: ObjectMeta {
                name: Some("words".to_owned()),
                ..ObjectMeta::default()
            },
            data: Some(BTreeMap::from([(
                "words".to_owned(),
                "Good morning".to_owned(),
            )])),
            ..ConfigMap::default()
        };
        maps.create(&PostParams::default(), &words).await.unwrap();
        eventually("it greets", || ready(Status::True)).await;
        let text = async || maps.get("ada").await.ok()?.data?.remove("greeting");
        assert_eq!(text().await.as_deref(), Some("Good morning, Ada!"));

        // Somebody deletes the card behind its back.
        maps.delete("ada", &DeleteParams::default()).await.unwrap();
        eventually("the card comes back", text).await;

        stop.cancel();
        assert_eq!(running.await.unwrap(), Ended::Stopped);
    })
    .await;
}
