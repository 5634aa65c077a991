//! One process works at a time.

use std::sync::Arc;
use std::time::Duration;

use evenkeel_controller::{Context, Ended, Error, Outcome, Ran};
use evenkeel_kubesim::Verb as Asked;
use evenkeel_kubesim::faults::{Fault, View, Which};
use evenkeel_kubesim::store::ResourceId;
use evenkeel_lease::LeaseName;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::bed::{Bed, Probe, Prober, Working, seconds, work};

fn lease() -> LeaseName {
    LeaseName {
        namespace: "default".to_owned(),
        name: "prober".to_owned(),
    }
}

fn led(bed: &Bed, prober: &Prober, who: &str) -> (View, Working) {
    let view = bed.cluster.view(who);
    let manager = bed.manager_through(&view).with(prober.with_children());
    (view, work(manager.under_lease(&lease(), who)))
}

#[tokio::test(start_paused = true)]
async fn a_standby_takes_over_without_listing() {
    let bed = Bed::new().await;
    bed.probe("a", 1).await;
    let (one, two) = (Prober::idle(), Prober::idle());
    let (_, first) = led(&bed, &one, "one");
    seconds(1).await;
    let (view, _second) = led(&bed, &two, "two");
    seconds(30).await;
    assert_eq!((one.runs_of("a"), two.runs_of("a")), (1, 0));
    view.reset_log();
    first.stop.cancel();
    assert_eq!(first.task.await.unwrap(), Ended::Stopped);
    seconds(5).await;
    assert_eq!(two.runs_of("a"), 1);
    let probes = ResourceId::new("test.evenkeel.io", "probes");
    assert_eq!(view.log().count(Asked::List, &probes), 0);
}

/// Writes for ever, slowly.
async fn busy(_: Arc<Probe>, cx: Context) -> Ran<Error> {
    let maps: Api<ConfigMap> = Api::namespaced(cx.client().clone(), "default");
    loop {
        let beat = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "beat"}});
        let apply = PatchParams::apply("busy").force();
        let _ = maps.patch("beat", &apply, &Patch::Apply(&beat)).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_lost_lease_nothing_is_written() {
    let bed = Bed::new().await;
    bed.probe("a", 1).await;
    let (view, first) = led(&bed, &Prober::doing(busy), "one");
    seconds(5).await;
    let maps = ResourceId::new("", "configmaps");
    assert!(view.log().count(Asked::Patch, &maps) > 10);
    // Only the lease is out of reach; the rest of the cluster is not.
    view.fault(
        Which::writes().of("coordination.k8s.io", "leases"),
        Fault::LoseRequest,
    );
    seconds(11).await;
    assert_eq!(first.task.await.unwrap(), Ended::LeaseLost);
    view.reset_log();
    seconds(60).await;
    assert_eq!(view.log().writes(), 0);
}

#[tokio::test(start_paused = true)]
async fn stopping_lets_runs_end_and_gives_the_lease_back() {
    let bed = Bed::new().await;
    bed.probe("a", 1).await;
    let prober = Prober::doing(|probe, cx| async move {
        tokio::time::sleep(Duration::from_secs(10)).await;
        let seen = probe.spec.value;
        cx.set_status(&*probe, [], |status| status.seen = Some(seen))
            .await?;
        Ok(Outcome::Done)
    });
    let (_, working) = led(&bed, &prober, "one");
    seconds(3).await;
    working.stop.cancel();
    assert_eq!(working.task.await.unwrap(), Ended::Stopped);
    assert_eq!(
        bed.probes().get("a").await.unwrap().status.unwrap().seen,
        Some(1)
    );
    let leases: Api<k8s_openapi::api::coordination::v1::Lease> =
        Api::namespaced(bed.admin(), "default");
    let holder = leases
        .get("prober")
        .await
        .unwrap()
        .spec
        .unwrap()
        .holder_identity;
    assert_eq!(holder, None);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_hangs_ends_at_its_limit() {
    let bed = Bed::new().await;
    bed.probe("hangs", 1).await;
    bed.probe("works", 1).await;
    let prober = Prober::doing(|probe, _| async move {
        match probe.metadata.name.as_deref() {
            Some("hangs") => std::future::pending().await,
            _ => Ok(Outcome::Done),
        }
    });
    let controller = prober.controller().settings(|settings| {
        settings.workers = 1;
        settings.timeout = Duration::from_secs(5);
    });
    let _working = bed.runs(controller);
    seconds(60).await;
    assert_eq!(prober.runs_of("works"), 1);
    assert!(prober.runs_of("hangs") > 1);
}
