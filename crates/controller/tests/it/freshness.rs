//! A run sees what earlier runs of its object wrote.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use evenkeel_controller::{Context, Error, Metadata, Outcome, Ran};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{ListParams, ObjectMeta, PostParams};
use kube::{Resource, ResourceExt};

use crate::bed::{Bed, Probe, Prober, seconds};

/// Makes one child with a name that the server chooses, unless it knows of one.
async fn one_child(probe: Arc<Probe>, cx: Context) -> Ran<Error> {
    let children = cx.known::<Metadata<ConfigMap>>()?;
    if children.controlled_by(&*probe).is_empty() {
        let maps: Api<ConfigMap> = Api::namespaced(cx.client().clone(), "default");
        let metadata = ObjectMeta {
            generate_name: Some("child-".to_owned()),
            owner_references: probe.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        };
        let map = ConfigMap {
            metadata,
            ..ConfigMap::default()
        };
        maps.create(&PostParams::default(), &map)
            .await
            .map_err(Error::kube("make a child"))?;
    }
    Ok(Outcome::Done)
}

async fn children(bed: &Bed) -> usize {
    let maps = bed
        .maps()
        .list(&ListParams::default())
        .await
        .expect("maps")
        .items;
    let is_child = |map: &&ConfigMap| map.name_any().starts_with("child-");
    maps.iter().filter(is_child).count()
}

#[tokio::test(start_paused = true)]
async fn a_run_on_a_cache_older_than_its_own_write_waits() {
    let bed = Bed::new().await;
    let prober = Prober::doing(one_child);
    let _working = bed.runs(prober.with_children());
    seconds(1).await;
    bed.view.delay_events(std::time::Duration::from_secs(2));
    bed.probe("a", 1).await;
    for value in 2..12 {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        bed.probe("a", value).await;
    }
    seconds(30).await;
    assert_eq!(children(&bed).await, 1);
    assert_eq!(prober.runs().last().unwrap().value, 11);
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_never_shows_the_write_is_listed_anew() {
    let bed = Bed::new().await;
    let prober = Prober::doing(one_child);
    let _working = bed.runs(prober.with_children());
    seconds(1).await;
    let maps = evenkeel_kubesim::store::ResourceId::new("", "configmaps");
    bed.view.drop_events(Some(&maps), 1);
    bed.probe("a", 1).await;
    seconds(1).await;
    bed.probe("a", 2).await;
    seconds(30).await;
    assert_eq!(
        prober.runs().last().unwrap().value,
        2,
        "it does not wait for ever"
    );
    assert_eq!(children(&bed).await, 1);
    assert_eq!(bed.view.log().count(evenkeel_kubesim::Verb::List, &maps), 2);
}

#[tokio::test(start_paused = true)]
async fn a_run_never_meets_what_it_deleted() {
    let bed = Bed::new().await;
    let owner = bed.probe("a", 1).await;
    bed.child("child-1", &owner).await;
    let deletes = Arc::new(AtomicU32::new(0));
    let counted = deletes.clone();
    let prober = Prober::doing(move |probe, cx| {
        let counted = counted.clone();
        async move {
            for child in cx.known::<Metadata<ConfigMap>>()?.controlled_by(&*probe) {
                counted.fetch_add(1, Ordering::SeqCst);
                let maps: Api<ConfigMap> = Api::namespaced(cx.client().clone(), "default");
                let name = child.metadata.name.clone().unwrap_or_default();
                maps.delete(&name, &Default::default())
                    .await
                    .map_err(Error::kube("delete"))?;
            }
            Ok(Outcome::Done)
        }
    });
    bed.view.delay_events(std::time::Duration::from_secs(2));
    let _working = bed.runs(prober.with_children());
    seconds(1).await;
    bed.probe("a", 2).await;
    seconds(30).await;
    assert_eq!(prober.runs().last().unwrap().value, 2);
    assert_eq!(deletes.load(Ordering::SeqCst), 1, "once is enough");
}
