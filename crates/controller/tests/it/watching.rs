//! What wakes a controller, and what does not.

use std::time::Duration;

use evenkeel_controller::{Error, Metadata, Outcome, Watch};
use evenkeel_kubesim::Verb as Asked;
use evenkeel_kubesim::faults::{Cut, Fault, Refusal, Which};
use evenkeel_kubesim::store::ResourceId;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ObjectMeta, Patch, PatchParams};
use serde_json::json;

use crate::bed::{Bed, ProbeSpec, Prober, a_moment, seconds};

#[tokio::test(start_paused = true)]
async fn each_object_that_exists_at_the_start_runs_once() {
    for many in [0, 1, 1_200] {
        let bed = Bed::new().await;
        for number in 0..many {
            bed.probe(&format!("p{number}"), 1).await;
        }
        let prober = Prober::idle();
        let _working = bed.runs(prober.with_children());
        seconds(60).await;
        let counts = prober.counts();
        assert_eq!(counts.len(), many);
        assert!(counts.values().all(|runs| *runs == 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_wakes_and_a_report_does_not() {
    let bed = Bed::new().await;
    bed.probe("a", 1).await;
    let prober = Prober::idle();
    let _working = bed.runs(prober.controller());
    seconds(1).await;
    let report = Patch::Merge(json!({"status": {"seen": 7}}));
    bed.probes()
        .patch_status("a", &PatchParams::default(), &report)
        .await
        .unwrap();
    a_moment().await;
    assert_eq!(prober.runs_of("a"), 1);
    let label = Patch::Merge(json!({"metadata": {"labels": {"a": "b"}}}));
    bed.probes()
        .patch("a", &PatchParams::default(), &label)
        .await
        .unwrap();
    a_moment().await;
    bed.probe("a", 2).await;
    a_moment().await;
    assert_eq!(prober.runs_of("a"), 3);
}

#[tokio::test(start_paused = true)]
async fn what_a_run_looked_at_wakes_it_until_it_looks_elsewhere_or_is_gone() {
    let bed = Bed::new().await;
    bed.probe("a", 1).await;
    bed.probe("b", 2).await;
    let prober = Prober::doing(|probe, cx| async move {
        let words = format!("words{}", probe.spec.value);
        cx.looks_at::<Metadata<ConfigMap>>([cx.key().beside(words)]);
        Ok(Outcome::Done)
    });
    let follows = prober
        .controller()
        .follows(Watch::<Metadata<ConfigMap>>::all());
    let _working = bed.runs(follows);
    seconds(1).await;
    let named = |name: &str| ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    };
    bed.map(named("words1")).await;
    a_moment().await;
    assert_eq!(["a", "b"].map(|name| prober.runs_of(name)), [2, 1]);
    bed.probe("a", 2).await;
    a_moment().await;
    let gone = DeleteParams::default();
    bed.maps().delete("words1", &gone).await.unwrap();
    a_moment().await;
    assert_eq!(["a", "b"].map(|name| prober.runs_of(name)), [3, 1]);
    bed.probes().delete("b", &gone).await.unwrap();
    a_moment().await;
    bed.map(named("words2")).await;
    a_moment().await;
    assert_eq!(["a", "b"].map(|name| prober.runs_of(name)), [4, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_reference_wakes_its_referrers_also_when_it_comes_later() {
    let bed = Bed::new().await;
    let refers = |to: &str| ProbeSpec {
        value: 1,
        refers_to: Some(to.to_owned()),
    };
    bed.declare("a", refers("words")).await;
    bed.declare("b", refers("words")).await;
    bed.declare("c", refers("others")).await;
    let prober = Prober::idle();
    let _working = bed.runs(prober.with_children());
    seconds(1).await;
    let words = ObjectMeta {
        name: Some("words".to_owned()),
        ..ObjectMeta::default()
    };
    bed.map(words).await;
    a_moment().await;
    let counts = ["a", "b", "c"].map(|name| prober.runs_of(name));
    assert_eq!(counts, [2, 2, 1]);
    bed.declare("a", refers("others")).await;
    a_moment().await;
    bed.maps()
        .delete("words", &DeleteParams::default())
        .await
        .unwrap();
    a_moment().await;
    let counts = ["a", "b", "c"].map(|name| prober.runs_of(name));
    assert_eq!(counts, [3, 3, 1]);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_gone_is_forgotten() {
    let bed = Bed::new().await;
    bed.probe("a", 1).await;
    let prober = Prober::idle();
    let _working = bed.runs(prober.controller());
    seconds(1).await;
    bed.probes()
        .delete("a", &DeleteParams::default())
        .await
        .unwrap();
    seconds(3_600).await;
    assert_eq!(prober.runs_of("a"), 1);
    assert_eq!(prober.gone().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn everything_is_looked_at_again_and_not_all_at_once() {
    let bed = Bed::new().await;
    for number in 0..100 {
        bed.probe(&format!("p{number}"), 1).await;
    }
    let prober = Prober::idle();
    let _working = bed.runs(prober.controller());
    seconds(1_000).await;
    let again: Vec<_> = prober
        .runs()
        .into_iter()
        .skip(100)
        .map(|run| run.at)
        .collect();
    assert!(again.len() >= 100);
    let (first, last) = (again.iter().min().unwrap(), again.iter().max().unwrap());
    assert!(*last - *first > Duration::from_secs(60), "spread over time");
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_does_not_exist_yet_is_waited_for() {
    let bed = Bed::without_probes();
    let prober = Prober::idle();
    let _working = bed.runs(prober.controller());
    seconds(60).await;
    let failing = bed.checks.failing();
    assert!(
        failing[0].1.contains("probes.test.evenkeel.io"),
        "{failing:?}"
    );
    bed.serve_probes().await;
    bed.probe("a", 1).await;
    seconds(60).await;
    assert_eq!(prober.runs_of("a"), 1);
    assert!(bed.checks.all_pass());
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_forbidden_is_not_taken_for_empty_and_heals() {
    let bed = Bed::new().await;
    let owner = bed.probe("a", 1).await;
    bed.child("child", &owner).await;
    bed.view
        .fault(Which::all().of("", "configmaps"), Fault::Forbid);
    let prober = Prober::doing(|probe, cx| async move {
        let children = cx.known::<Metadata<ConfigMap>>().map_err(Error::from)?;
        assert_eq!(children.controlled_by(&*probe).len(), 1);
        Ok(Outcome::Done)
    });
    let _working = bed.runs(prober.with_children());
    seconds(60).await;
    assert!(prober.runs_of("a") > 1, "it fails and is tried again");
    bed.view.heal();
    seconds(40).await;
    let runs = prober.runs_of("a");
    seconds(300).await;
    assert_eq!(prober.runs_of("a"), runs, "done: no failure follows");
    assert!(bed.checks.all_pass());
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_breaks_off_goes_on_where_it_was() {
    let bed = Bed::new().await;
    bed.probe("a", 1).await;
    let prober = Prober::idle();
    let _working = bed.runs(prober.controller());
    seconds(1).await;
    bed.view.reset_log();
    let probes = ResourceId::new("test.evenkeel.io", "probes");
    for (cut, value) in [(Cut::Reset, 2), (Cut::Close, 3)] {
        bed.view.cut_watches(None, cut);
        bed.probe("a", value).await;
        seconds(5).await;
        assert_eq!(prober.runs().last().unwrap().value, value);
    }
    assert_eq!(bed.view.log().count(Asked::List, &probes), 0);
}

#[tokio::test(start_paused = true)]
async fn at_rest_nothing_is_asked_but_to_go_on_watching() {
    let bed = Bed::new().await;
    bed.probe("a", 1).await;
    let prober = Prober::idle();
    let _working = bed.runs(prober.with_children());
    seconds(10).await;
    bed.view.reset_log();
    seconds(3_600).await;
    let log = bed.view.log();
    let watches: u64 = log
        .counts()
        .iter()
        .filter(|((verb, _), _)| *verb == Asked::Watch)
        .map(|(_, n)| n)
        .sum();
    assert_eq!(log.requests(), watches);
    assert!(watches <= 26, "{watches}");
}

/// A watch that keeps silent about an event tells nobody that it did.
#[tokio::test(start_paused = true)]
async fn what_no_watch_told_is_found_by_a_list_every_six_hours() {
    let bed = Bed::new().await;
    bed.probe("a", 1).await;
    let prober = Prober::idle();
    let _working = bed.runs(prober.controller());
    seconds(10).await;
    bed.view.drop_events(None, 1);
    bed.probe("a", 2).await;
    seconds(3_600).await;
    assert_eq!(prober.runs().last().unwrap().value, 1, "nobody heard");
    seconds(5 * 3_600 + 600).await;
    assert_eq!(prober.runs().last().unwrap().value, 2);
}

#[tokio::test(start_paused = true)]
async fn what_is_made_anew_under_an_old_name_is_another_object() {
    let bed = Bed::new().await;
    bed.probe("a", 1).await;
    let prober = Prober::idle();
    let _working = bed.runs(prober.controller());
    seconds(1).await;
    bed.view.hold_events();
    bed.probes()
        .delete("a", &DeleteParams::default())
        .await
        .unwrap();
    bed.probe("a", 9).await;
    bed.view.release_events();
    seconds(1).await;
    assert_eq!(prober.runs().last().unwrap().value, 9);
}

#[tokio::test(start_paused = true)]
async fn a_busy_server_is_left_alone_for_as_long_as_it_asks() {
    let bed = Bed::new().await;
    bed.probe("a", 1).await;
    let busy = Fault::Refuse(Refusal::retry_after(429, 90));
    bed.view.fault(Which::all().verbs(&[Asked::Get]), busy);
    let prober = Prober::doing(|_, cx| async move {
        let maps: kube::Api<ConfigMap> = kube::Api::default_namespaced(cx.client().clone());
        maps.get_opt("any")
            .await
            .map_err(Error::kube("read a map"))?;
        Ok(Outcome::Done)
    });
    let _working = bed.runs(prober.controller());
    seconds(85).await;
    assert!(prober.runs_of("a") <= 4, "{}", prober.runs_of("a"));
}
