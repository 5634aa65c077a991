//! kube-rs itself at work on the simulator: discovery, the finalizer helper, a controller; in the
//! same process and over HTTP. Watchers and reflectors are in `watch`.

use std::sync::Arc;
use std::time::Duration;

use evenkeel_kubesim::Cluster;
use evenkeel_kubesim::adapters::Server;
use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::discovery::{Discovery, Scope};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::finalizer::{self, finalizer};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::watcher;
use kube::{Client, CustomResourceExt, Resource, ResourceExt};
use serde_json::json;
use tokio::net::TcpListener;

const PATIENCE: Duration = Duration::from_secs(20);

/// A client on each way into the cluster, and what keeps the ways open.
async fn clients(cluster: &Cluster) -> (Vec<Client>, Server) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let server = Server::start(listener, cluster.view("far")).expect("a server");
    let config = kube::Config::new(server.url().parse().expect("a URL"));
    let far = Client::try_from(config).expect("a client");
    (
        vec![Client::new(cluster.view("near"), "default"), far],
        server,
    )
}

fn map(name: &str, data: &[(&str, &str)]) -> ConfigMap {
    let data = data
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    ConfigMap {
        metadata: kube::core::ObjectMeta {
            name: Some(name.to_owned()),
            ..Default::default()
        },
        data: Some(data),
        ..ConfigMap::default()
    }
}

#[tokio::test]
async fn objects_are_written_and_read() {
    let cluster = Cluster::new();
    let (clients, _server) = clients(&cluster).await;
    for client in clients {
        let maps: Api<ConfigMap> = Api::default_namespaced(client);
        let created = maps
            .create(&PostParams::default(), &map("a", &[("x", "1")]))
            .await
            .expect("created");
        assert!(created.uid().is_some());
        let mut changed = created.clone();
        changed
            .data
            .get_or_insert_default()
            .insert("y".into(), "2".into());
        let changed = maps
            .replace("a", &PostParams::default(), &changed)
            .await
            .expect("replaced");
        assert_ne!(changed.resource_version(), created.resource_version());
        let intent = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "a"},
            "data": {"z": "3"},
        });
        let applied = maps
            .patch("a", &PatchParams::apply("m"), &Patch::Apply(intent))
            .await;
        assert_eq!(applied.expect("applied").data.expect("data").len(), 3);
        let listed = maps
            .list(&ListParams::default().fields("metadata.name=a"))
            .await
            .expect("listed");
        assert_eq!(listed.items.len(), 1);
        let stale = maps
            .replace("a", &PostParams::default(), &created)
            .await
            .expect_err("stale");
        assert!(matches!(stale, kube::Error::Api(status) if status.is_conflict()));
        maps.delete("a", &DeleteParams::default())
            .await
            .expect("deleted")
            .right()
            .expect("a status");
        assert!(maps.get_opt("a").await.expect("asked").is_none());
    }
}

#[tokio::test]
async fn both_forms_of_discovery_find_the_same() {
    let cluster = Cluster::new();
    let (clients, _server) = clients(&cluster).await;
    for client in clients {
        let mut found = Vec::new();
        for discovery in [
            Discovery::new(client.clone()).run().await.expect("legacy"),
            Discovery::new(client.clone())
                .run_aggregated()
                .await
                .expect("aggregated"),
        ] {
            let mut rows = Vec::new();
            for group in discovery.groups() {
                for (resource, capabilities) in group.recommended_resources() {
                    let subresources: Vec<_> = capabilities
                        .subresources
                        .iter()
                        .map(|(sub, _)| sub.plural.clone())
                        .collect();
                    let namespaced = capabilities.scope == Scope::Namespaced;
                    rows.push((
                        resource.api_version,
                        resource.kind,
                        resource.plural,
                        namespaced,
                        subresources,
                    ));
                }
            }
            rows.sort();
            found.push(rows);
        }
        assert!(found[0].len() > 60, "{}", found[0].len());
        assert!(found[0].iter().any(|row| row.1 == "Deployment" && row.3));
        assert_eq!(found[0], found[1]);
        assert_eq!(
            client.apiserver_version().await.expect("version").minor,
            "36"
        );
    }
}

#[derive(
    kube::CustomResource, serde::Serialize, serde::Deserialize, schemars::JsonSchema, Clone, Debug,
)]
#[kube(
    group = "ex.io",
    version = "v1",
    kind = "Greeting",
    namespaced,
    status = "Said"
)]
struct GreetingSpec {
    name: String,
}

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema, Clone, Debug, Default)]
struct Said {
    text: String,
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Failed(String);

/// Says hello in a map that goes with the greeting, and in the status; takes a trace away at the
/// end.
async fn greet(greeting: Arc<Greeting>, client: Arc<Client>) -> Result<Action, Failed> {
    let failed = |why: kube::Error| Failed(why.to_string());
    let greetings: Api<Greeting> = Api::namespaced((*client).clone(), "default");
    let maps: Api<ConfigMap> = Api::namespaced((*client).clone(), "default");
    let done = finalizer(&greetings, "ex.io/trace", greeting, |event| async {
        match event {
            finalizer::Event::Apply(greeting) => {
                let name = greeting.name_any();
                let mut said = map(&name, &[("hello", &greeting.spec.name)]);
                said.metadata.owner_references =
                    greeting.controller_owner_ref(&()).map(|owner| vec![owner]);
                let apply = PatchParams::apply("greeter").force();
                maps.patch(&name, &apply, &Patch::Apply(&said_in_full(&said)))
                    .await
                    .map_err(failed)?;
                let status = json!({"apiVersion": "ex.io/v1", "kind": "Greeting", "metadata": {"name": name}, "status": {"text": greeting.spec.name}});
                greetings
                    .patch_status(&name, &apply, &Patch::Apply(&status))
                    .await
                    .map_err(failed)?;
            }
            finalizer::Event::Cleanup(greeting) => {
                let gone = map(&format!("{}-gone", greeting.name_any()), &[]);
                maps.create(&PostParams::default(), &gone)
                    .await
                    .map_err(failed)?;
            }
        }
        Ok(Action::await_change())
    });
    done.await
        .map_err(|why: finalizer::Error<Failed>| Failed(why.to_string()))
}

fn said_in_full(said: &ConfigMap) -> serde_json::Value {
    let mut value = serde_json::to_value(said).expect("JSON");
    value["apiVersion"] = "v1".into();
    value["kind"] = "ConfigMap".into();
    value
}

async fn patient<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("in time")
}

#[tokio::test]
async fn a_controller_with_a_finalizer_does_its_work() {
    let cluster = Cluster::new();
    let (clients, _server) = clients(&cluster).await;
    let definitions = Api::all(clients[0].clone());
    definitions
        .create(&PostParams::default(), &Greeting::crd())
        .await
        .expect("defined");
    for client in clients {
        let greetings: Api<Greeting> = Api::default_namespaced(client.clone());
        let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
        let controller = Controller::new(greetings.clone(), watcher::Config::default())
            .owns(maps.clone(), watcher::Config::default())
            .run(
                greet,
                |_, _, _| Action::requeue(Duration::from_millis(10)),
                Arc::new(client),
            )
            .for_each(|_| async {});
        let running = tokio::spawn(controller);

        let greeting = Greeting::new(
            "g",
            GreetingSpec {
                name: "world".into(),
            },
        );
        greetings
            .create(&PostParams::default(), &greeting)
            .await
            .expect("created");
        let greeted = |found: Option<&Greeting>| found.is_some_and(|g| g.status.is_some());
        let greeted = patient(await_condition(greetings.clone(), "g", greeted))
            .await
            .expect("watched");
        let uid = greeted.and_then(|greeting| greeting.uid()).expect("a uid");
        assert_eq!(
            maps.get("g").await.expect("a map").data.expect("data")["hello"],
            "world"
        );

        // A map that somebody deletes comes back: the controller watches what it owns.
        maps.delete("g", &DeleteParams::default())
            .await
            .expect("deleted");
        let back = |found: Option<&ConfigMap>| found.is_some_and(|map| map.data.is_some());
        patient(await_condition(maps.clone(), "g", back))
            .await
            .expect("watched");

        greetings
            .delete("g", &DeleteParams::default())
            .await
            .expect("deleted");
        patient(await_condition(
            greetings.clone(),
            "g",
            conditions::is_deleted(&uid),
        ))
        .await
        .expect("watched");
        assert!(
            maps.get_opt("g").await.expect("asked").is_none(),
            "collected with its owner"
        );
        maps.delete("g-gone", &DeleteParams::default())
            .await
            .expect("the finalizer's trace");
        running.abort();
    }
}

#[tokio::test]
async fn a_namespace_is_waited_for() {
    let cluster = Cluster::new();
    let (clients, _server) = clients(&cluster).await;
    for client in clients {
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let shop = Namespace {
            metadata: kube::core::ObjectMeta {
                name: Some("shop".into()),
                ..Default::default()
            },
            ..Namespace::default()
        };
        let uid = namespaces
            .create(&PostParams::default(), &shop)
            .await
            .expect("created")
            .uid()
            .expect("a uid");
        let maps: Api<ConfigMap> = Api::namespaced(client, "shop");
        maps.create(&PostParams::default(), &map("a", &[]))
            .await
            .expect("created");
        namespaces
            .delete("shop", &DeleteParams::default())
            .await
            .expect("deleted");
        patient(await_condition(
            namespaces.clone(),
            "shop",
            conditions::is_deleted(&uid),
        ))
        .await
        .expect("gone");
        assert!(
            maps.list(&ListParams::default())
                .await
                .expect("listed")
                .items
                .is_empty()
        );
    }
}
