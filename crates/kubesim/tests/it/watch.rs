//! kube-rs watchers and reflectors against kubesim: in the process, over HTTP and over TLS, with
//! both of their strategies.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

use std::collections::BTreeMap;
use std::time::Duration;

use evenkeel_kubesim::adapters::{Identity, Kubeconfig, Server};
use evenkeel_kubesim::faults::{Cut, Fault, Refusal, Stale, View, Which};
use evenkeel_kubesim::store::ResourceId;
use evenkeel_kubesim::{Cluster, Verb};
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::config::KubeConfigOptions;
use kube::core::PartialObjectMeta;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::json;
use tokio::net::TcpListener;

const PATIENCE: Duration = Duration::from_secs(20);

fn maps() -> ResourceId {
    ResourceId::new("", "configmaps")
}

/// A client, and what keeps its way to the cluster open.
struct Connected {
    view: View,
    maps: Api<ConfigMap>,
    _server: Option<Server>,
}

impl Connected {
    fn new(view: View, client: Client, server: Option<Server>) -> Self {
        Self {
            view,
            maps: Api::namespaced(client, "default"),
            _server: server,
        }
    }

    fn in_process(cluster: &Cluster) -> Self {
        let view = cluster.view("test");
        Self::new(view.clone(), Client::new(view, "default"), None)
    }

    async fn over_http(cluster: &Cluster) -> Self {
        let view = cluster.view("test");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server::start(listener, view.clone()).unwrap();
        let config = kube::Config::new(server.url().parse().unwrap());
        Self::new(view, Client::try_from(config).unwrap(), Some(server))
    }

    async fn over_tls(cluster: &Cluster) -> Self {
        let view = cluster.view("test");
        let identity = Identity::generate(&["localhost", "127.0.0.1"]).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server::start_tls(listener, view.clone(), &identity).unwrap();
        let client = client_by_file(&server, &identity).await;
        Self::new(view, client, Some(server))
    }

    async fn in_every_way(cluster: &Cluster) -> [Self; 3] {
        [
            Self::in_process(cluster),
            Self::over_http(cluster).await,
            Self::over_tls(cluster).await,
        ]
    }

    async fn create(&self, name: &str, app: &str) {
        self.maps
            .create(&PostParams::default(), &map(name, app))
            .await
            .unwrap();
    }

    async fn label(&self, name: &str, app: &str) {
        let patch = Patch::Merge(json!({ "metadata": { "labels": { "app": app } } }));
        self.maps
            .patch(name, &PatchParams::default(), &patch)
            .await
            .unwrap();
    }

    async fn delete(&self, name: &str) {
        self.maps
            .delete(name, &DeleteParams::default())
            .await
            .unwrap();
    }

    fn watch(&self, config: watcher::Config) -> Told {
        Told(summaries(watcher(self.maps.clone(), config)))
    }
}

/// A client that knows of the server only what the kubeconfig says.
async fn client_by_file(server: &Server, identity: &Identity) -> Client {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("config");
    let file = Kubeconfig {
        name: "sim".into(),
        server: server.url(),
        authority: Some(identity.authority.clone()),
        token: None,
    };
    file.write(&path).unwrap();
    let read = kube::config::Kubeconfig::read_from(&path).unwrap();
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(read, &options)
        .await
        .unwrap();
    Client::try_from(config).unwrap()
}

fn map(name: &str, app: &str) -> ConfigMap {
    let labels = BTreeMap::from([("app".to_owned(), app.to_owned())]);
    let metadata = ObjectMeta {
        name: Some(name.into()),
        labels: Some(labels),
        ..ObjectMeta::default()
    };
    ConfigMap {
        metadata,
        ..ConfigMap::default()
    }
}

/// What a watcher tells, in a few letters: `init`, `+a` (there at the start), `done`, `a`
/// (applied), `-a` (deleted), `error`.
struct Told(BoxStream<'static, String>);

impl Told {
    /// Waits until exactly these have been told, ignoring the map that every namespace has.
    async fn expect(&mut self, expected: &[&str]) {
        for expected in expected {
            let next = tokio::time::timeout(PATIENCE, self.0.next()).await;
            assert_eq!(next.expect(expected).unwrap(), *expected);
        }
    }

    async fn expect_nothing(&mut self) {
        let next = tokio::time::timeout(Duration::from_millis(100), self.0.next()).await;
        assert!(next.is_err(), "{next:?}");
    }
}

fn summaries<K>(
    events: impl Stream<Item = watcher::Result<Event<K>>> + Send + 'static,
) -> BoxStream<'static, String>
where
    K: Resource + Send + 'static,
{
    let summary = |event: watcher::Result<Event<K>>| async {
        let (mark, object) = match event {
            Err(_) => return Some("error".to_owned()),
            Ok(Event::Init) => return Some("init".to_owned()),
            Ok(Event::InitDone) => return Some("done".to_owned()),
            Ok(Event::InitApply(object)) => ("+", object),
            Ok(Event::Apply(object)) => ("", object),
            Ok(Event::Delete(object)) => ("-", object),
        };
        let name = object.name_any();
        (name != "kube-root-ca.crt").then(|| format!("{mark}{name}"))
    };
    events.filter_map(summary).boxed()
}

fn strategies() -> [watcher::Config; 2] {
    [
        watcher::Config::default(),
        watcher::Config::default().streaming_lists(),
    ]
}

#[tokio::test]
async fn a_watcher_sees_what_is_there_and_then_what_happens() {
    let cluster = Cluster::new();
    for client in Connected::in_every_way(&cluster).await {
        client.create("a", "web").await;
        client.create("b", "web").await;
        for strategy in strategies() {
            let mut told = client.watch(strategy);
            told.expect(&["init", "+a", "+b", "done"]).await;
            client.create("c", "web").await;
            client.label("c", "db").await;
            client.delete("c").await;
            told.expect(&["c", "c", "-c"]).await;
        }
        client.delete("a").await;
        client.delete("b").await;
    }
}

#[tokio::test]
async fn leaving_the_selection_is_a_deletion_and_entering_it_is_not_a_surprise() {
    let cluster = Cluster::new();
    for client in Connected::in_every_way(&cluster).await {
        client.create("a", "web").await;
        for strategy in strategies() {
            let mut told = client.watch(strategy.labels("app=web"));
            told.expect(&["init", "+a", "done"]).await;
            client.label("a", "db").await;
            client.label("a", "web").await;
            told.expect(&["-a", "a"]).await;
        }
        client.delete("a").await;
    }
}

#[tokio::test]
async fn a_long_list_comes_in_pages() {
    let client = Connected::in_process(&Cluster::new());
    for name in ["a", "b", "c", "d", "e"] {
        client.create(name, "web").await;
    }
    client.view.reset_log();
    let mut told = client.watch(watcher::Config::default().labels("app").page_size(2));
    told.expect(&["init", "+a", "+b", "+c", "+d", "+e", "done"])
        .await;
    assert_eq!(client.view.log().count(Verb::List, &maps()), 3);
}

#[tokio::test]
async fn a_watch_that_is_cut_goes_on_where_it_was_without_a_new_list() {
    for strategy in strategies() {
        let cluster = Cluster::new();
        let client = Connected::in_process(&cluster);
        client.create("a", "web").await;
        let mut told = client.watch(strategy);
        told.expect(&["init", "+a", "done"]).await;
        client.create("b", "web").await;
        told.expect(&["b"]).await;
        client.view.reset_log();
        client.view.cut_watches(None, Cut::Close);
        client.create("c", "web").await;
        told.expect(&["c"]).await;
        assert_eq!(client.view.log().count(Verb::List, &maps()), 0);
        assert_eq!(client.view.log().count(Verb::Watch, &maps()), 1);
    }
}

#[tokio::test]
async fn a_watch_that_comes_back_too_late_lists_again_and_finds_what_is_gone() {
    let cluster = Cluster::new();
    let client = Connected::in_process(&cluster);
    client.create("a", "web").await;
    client.create("b", "web").await;
    let mut told = client.watch(watcher::Config::default());
    told.expect(&["init", "+a", "+b", "done"]).await;
    client.view.fault_times(
        Which::all().verbs(&[Verb::Watch]),
        Fault::Refuse(Refusal::code(503)),
        1,
    );
    client.view.cut_watches(None, Cut::Close);
    told.expect(&["error"]).await;
    client.delete("a").await;
    cluster.store().compact();
    told.expect(&["error", "init", "+b", "done"]).await;
}

#[tokio::test]
async fn metadata_is_watched_without_the_rest() {
    let cluster = Cluster::new();
    for client in Connected::in_every_way(&cluster).await {
        client.create("a", "web").await;
        for (strategy, app) in strategies().into_iter().zip(["db", "web"]) {
            let metadata: Api<PartialObjectMeta<ConfigMap>> =
                Api::namespaced(client.maps.clone().into_client(), "default");
            let mut told = Told(summaries(watcher(metadata, strategy)));
            told.expect(&["init", "+a", "done"]).await;
            client.label("a", app).await;
            told.expect(&["a"]).await;
        }
        client.delete("a").await;
    }
}

#[tokio::test]
async fn a_frozen_view_hides_news_from_its_watcher_only() {
    let cluster = Cluster::new();
    let (frozen, clear) = (
        Connected::in_process(&cluster),
        Connected::in_process(&cluster),
    );
    let (mut late, mut soon) = (
        frozen.watch(watcher::Config::default()),
        clear.watch(watcher::Config::default()),
    );
    late.expect(&["init", "done"]).await;
    soon.expect(&["init", "done"]).await;
    frozen.view.freeze(Stale::AllReads);
    clear.create("a", "web").await;
    soon.expect(&["a"]).await;
    late.expect_nothing().await;
    frozen.view.catch_up();
    late.expect(&["a"]).await;
}

#[tokio::test]
async fn a_reflector_holds_what_a_list_shows_however_rough_the_way() {
    let cluster = Cluster::new();
    for (client, strategy) in Connected::in_every_way(&cluster)
        .await
        .into_iter()
        .zip(strategies().into_iter().cycle())
    {
        let (reader, writer) = reflector::store();
        let events = watcher(client.maps.clone(), strategy).default_backoff();
        let following = tokio::spawn(
            reflector(writer, events)
                .applied_objects()
                .for_each(|_| async {}),
        );
        reader.wait_until_ready().await.unwrap();
        for round in 0..30 {
            let name = format!("o{}", round % 7);
            match round % 3 {
                2 => client.delete(&format!("o{}", (round - 1) % 7)).await,
                _ => drop(
                    client
                        .maps
                        .create(&PostParams::default(), &map(&name, "web"))
                        .await,
                ),
            }
            if round % 10 == 5 {
                client.view.cut_watches(None, Cut::Reset);
            }
        }
        client.create("last", "web").await;
        let last = ObjectRef::new("last").within("default");
        let caught_up = async {
            while reader.get(&last).is_none() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, caught_up)
            .await
            .expect("the reflector catches up");
        assert_eq!(held(&reader), listed(&client).await);
        following.abort();
        for name in listed(&client)
            .await
            .keys()
            .filter(|name| *name != "kube-root-ca.crt")
        {
            client.delete(name).await;
        }
    }
}

fn held(reader: &reflector::Store<ConfigMap>) -> BTreeMap<String, Option<String>> {
    reader
        .state()
        .iter()
        .map(|map| (map.name_any(), map.resource_version()))
        .collect()
}

async fn listed(client: &Connected) -> BTreeMap<String, Option<String>> {
    let list = client.maps.list(&Default::default()).await.unwrap();
    list.iter()
        .map(|map| (map.name_any(), map.resource_version()))
        .collect()
}

#[tokio::test]
async fn raw_watches_carry_bookmarks_that_move_on_while_nothing_happens() {
    tokio::time::pause();
    let cluster = Cluster::new();
    let client = Connected::in_process(&cluster);
    client.create("a", "web").await;
    let revision = listed(&client).await["a"].clone().unwrap();
    let params = kube::api::WatchParams::default().timeout(130);
    let events = client.maps.watch(&params, &revision).await.unwrap();
    let events: Vec<_> = events.try_collect().await.unwrap();
    let bookmarks = events
        .iter()
        .filter(|event| matches!(event, kube::api::WatchEvent::Bookmark(_)));
    assert_eq!(bookmarks.count(), 3, "{events:?}");
}
