//! What views are for: a client dies at every one of its writes, in every way, and is started
//! again; the cluster must end up the same each time.

use evenkeel_kubesim::Cluster;
use evenkeel_kubesim::faults::{Moment, View};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::{Api, Client, ResourceExt};
use serde_json::json;

const MOMENTS: [Moment; 3] = [
    Moment::BeforeCommit,
    Moment::BeforeReply,
    Moment::AfterReply,
];

/// A small program that can be run again at any point: three maps applied, a stray one deleted.
async fn converge(view: &View) -> kube::Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(Client::new(view.clone(), "default"), "default");
    let params = PatchParams::apply("program").force();
    for name in ["a", "b", "c"] {
        let map = json!({ "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": name }, "data": { "x": "1" } });
        let live = maps.get_opt(name).await?;
        if live.is_none_or(|live| live.data.is_none_or(|data| data["x"] != "1")) {
            maps.patch(name, &params, &Patch::Apply(&map)).await?;
        }
    }
    if maps.get_opt("stray").await?.is_some() {
        maps.delete("stray", &DeleteParams::default()).await?;
    }
    Ok(())
}

/// A cluster with a stray map and a map that has gone wrong.
async fn disorder() -> Cluster {
    let cluster = Cluster::new();
    let maps: Api<ConfigMap> =
        Api::namespaced(Client::new(cluster.view("people"), "default"), "default");
    for name in ["stray", "b"] {
        let map = ConfigMap {
            metadata: kube::api::ObjectMeta {
                name: Some(name.into()),
                ..Default::default()
            },
            ..Default::default()
        };
        maps.create(&Default::default(), &map)
            .await
            .expect("an empty cluster takes a map");
    }
    cluster
}

async fn order(cluster: &Cluster) -> Vec<(String, Option<String>)> {
    let maps: Api<ConfigMap> =
        Api::namespaced(Client::new(cluster.view("people"), "default"), "default");
    let found = maps
        .list(&Default::default())
        .await
        .expect("people can list");
    let x = |map: &ConfigMap| map.data.as_ref().and_then(|data| data.get("x").cloned());
    let ours = found
        .iter()
        .filter(|map| map.name_any() != "kube-root-ca.crt");
    ours.map(|map| (map.name_any(), x(map))).collect()
}

#[tokio::test]
async fn a_program_that_dies_at_any_write_ends_the_same_and_then_rests() {
    let cluster = disorder().await;
    let view = cluster.view("program");
    converge(&view).await.expect("nothing is wrong yet");
    let (undisturbed, writes) = (order(&cluster).await, view.log().writes());
    assert_eq!(writes, 4);

    for write in 1..=writes {
        for moment in MOMENTS {
            let cluster = disorder().await;
            let view = cluster.view("program");
            view.crash_at(write, moment);
            tokio::select! {
                // The program dies with its connection, not when it next notices.
                biased;
                () = view.crashed() => {}
                ended = converge(&view) => assert!(ended.is_err() || write == writes),
            }
            view.heal();
            converge(&view).await.expect("nothing is wrong any more");
            assert_eq!(
                order(&cluster).await,
                undisturbed,
                "write {write}, {moment:?}"
            );
            view.reset_log();
            converge(&view).await.expect("nothing is wrong any more");
            assert_eq!(view.log().writes(), 0, "write {write}, {moment:?}");
        }
    }
}
