//! The faults of the usual Rust controller loop, each by its number in the research notes, and that
//! ours does not have it.

use std::time::Duration;

use evenkeel_controller::{Outcome, connect};
use evenkeel_kubesim::Verb as Asked;
use evenkeel_kubesim::adapters::Server;
use evenkeel_kubesim::faults::{Cut, Fault, Refusal, Stale, Which};
use evenkeel_kubesim::store::ResourceId;
use evenkeel_reconcile::RetryPolicy;
use evenkeel_reconcile::runner::Debounce;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{DeleteParams, ListParams, ObjectMeta, PostParams};
use kube::{Api, Client, Config};
use tokio::net::TcpListener;

use crate::bed::{Bed, Prober, a_moment, seconds};

fn maps() -> ResourceId {
    ResourceId::new("", "configmaps")
}

fn probes() -> ResourceId {
    ResourceId::new("test.evenkeel.io", "probes")
}

fn watches_of(resource: &ResourceId) -> Which {
    Which::all()
        .verbs(&[Asked::Watch])
        .of(&resource.group, &resource.plural)
}

/// F1: under a concurrency limit some objects never run.
#[tokio::test(start_paused = true)]
async fn f1_no_object_starves_when_there_is_more_work_than_workers() {
    let bed = Bed::new().await;
    for number in 0..100 {
        bed.probe(&format!("p{number}"), 1).await;
    }
    let prober = Prober::doing(|_, _| async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Ok(Outcome::Done)
    });
    let hot = RetryPolicy::every(Duration::from_millis(20));
    let controller = prober.controller().settings(|settings| {
        settings.workers = 1;
        settings.delays.done = Some(hot);
    });
    let _working = bed.runs(controller);
    seconds(15).await;
    let counts = prober.counts();
    let (fewest, most) = (
        counts.values().min().unwrap(),
        counts.values().max().unwrap(),
    );
    assert_eq!(counts.len(), 100);
    assert!(most - fewest <= 2, "{fewest} to {most}");
}

/// T1: a list that is cut off before its end leaves phantoms.
#[tokio::test(start_paused = true)]
async fn t1_a_list_that_is_cut_off_leaves_no_phantom() {
    let bed = Bed::new().await;
    for number in 0..700 {
        bed.probe(&format!("p{number:03}"), 1).await;
    }
    let lists = Which::all()
        .verbs(&[Asked::List])
        .of("test.evenkeel.io", "probes");
    // The first page arrives late, the second not at all; then an object of the first page goes.
    bed.view
        .fault_times(lists.clone(), Fault::Delay(Duration::from_secs(1)), 1);
    let prober = Prober::idle();
    let working = bed.runs(prober.controller());
    tokio::time::sleep(Duration::from_millis(500)).await;
    bed.view.fault_times(lists, Fault::LoseReply, 1);
    tokio::time::sleep(Duration::from_millis(600)).await;
    bed.probes()
        .delete("p000", &DeleteParams::default())
        .await
        .unwrap();
    seconds(30).await;
    assert_eq!(prober.runs_of("p000"), 0, "nothing runs for what is gone");
    assert_eq!(prober.counts().len(), 699);
    drop(working);
}

/// T1b: after a reconnect to a server that lags, the store goes back in time.
#[tokio::test(start_paused = true)]
async fn t1b_a_server_that_lags_does_not_turn_back_time() {
    let bed = Bed::new().await;
    bed.probe("a", 1).await;
    let before = bed.cluster.store().revision();
    bed.probe("a", 2).await;
    let prober = Prober::idle();
    let _working = bed.runs(prober.controller());
    seconds(1).await;
    bed.view.freeze_at(before, Stale::AllReads).unwrap();
    bed.view
        .fault_times(watches_of(&probes()), Fault::Refuse(Refusal::code(410)), 1);
    bed.view.cut_watches(None, Cut::Reset);
    seconds(60).await;
    assert!(prober.runs().iter().all(|run| run.value == 2));
    let why = bed.checks.failing();
    assert!(why[0].1.contains("was seen before"), "{why:?}");
    bed.view.catch_up();
    bed.probe("a", 3).await;
    seconds(60).await;
    assert_eq!(prober.runs().last().unwrap().value, 3);
    assert!(bed.checks.all_pass());
}

/// T2: a watch that is refused with HTTP 410 is asked for again and again, and never listed.
#[tokio::test(start_paused = true)]
async fn t2_a_watch_refused_with_410_lists_anew() {
    let bed = Bed::new().await;
    bed.probe("a", 1).await;
    let prober = Prober::idle();
    let _working = bed.runs(prober.controller());
    seconds(1).await;
    bed.view.reset_log();
    bed.view
        .fault_times(watches_of(&probes()), Fault::Refuse(Refusal::code(410)), 1);
    bed.view.cut_watches(None, Cut::Reset);
    bed.probe("b", 1).await;
    seconds(10).await;
    assert_eq!(prober.runs_of("b"), 1);
    assert_eq!(bed.view.log().count(Asked::List, &probes()), 1);
}

/// T2b: the same as an error inside the stream; and neither becomes a storm when it stays.
#[tokio::test(start_paused = true)]
async fn t2b_a_410_inside_the_stream_lists_anew_and_never_storms() {
    let bed = Bed::new().await;
    bed.probe("a", 1).await;
    let prober = Prober::idle();
    let _working = bed.runs(prober.controller());
    seconds(1).await;
    bed.view.cut_watches(None, Cut::Reset);
    // What happened while the connection was down is older than the server remembers.
    bed.probe("b", 1).await;
    bed.cluster.store().compact();
    seconds(10).await;
    assert_eq!(prober.runs_of("b"), 1);

    bed.view.reset_log();
    bed.view
        .fault(watches_of(&probes()), Fault::Refuse(Refusal::code(410)));
    bed.view.cut_watches(None, Cut::Reset);
    seconds(600).await;
    let lists = bed.view.log().count(Asked::List, &probes());
    assert!((10..60).contains(&lists), "{lists} lists in ten minutes");
}

/// T3: what vanishes while its watch is down never wakes its owner.
#[tokio::test(start_paused = true)]
async fn t3_a_child_deleted_while_its_watch_is_down_wakes_its_owner() {
    let bed = Bed::new().await;
    let owner = bed.probe("owner", 1).await;
    bed.child("child", &owner).await;
    let prober = Prober::idle();
    let _working = bed.runs(prober.with_children());
    seconds(1).await;
    assert_eq!(prober.runs_of("owner"), 1);
    bed.view
        .fault_times(watches_of(&maps()), Fault::Refuse(Refusal::code(410)), 1);
    bed.view.cut_watches(Some(&maps()), Cut::Reset);
    bed.maps()
        .delete("child", &DeleteParams::default())
        .await
        .unwrap();
    seconds(10).await;
    assert_eq!(prober.runs_of("owner"), 2);
}

/// T4: a setting that is to read from the cache, and silently does not, or the other way round.
#[tokio::test(start_paused = true)]
async fn t4_lists_show_the_latest_state_even_from_a_server_whose_cache_hangs() {
    let bed = Bed::new().await;
    bed.probe("a", 1).await;
    bed.view.freeze(Stale::CachedReads);
    bed.probe("b", 1).await;
    let prober = Prober::idle();
    let _working = bed.runs(prober.controller());
    seconds(1).await;
    assert_eq!(prober.counts().len(), 2);
}

/// T5: a panic in one run ends the controller.
#[tokio::test(start_paused = true)]
async fn t5_a_panic_is_told_on_its_object_and_harms_no_other() {
    let bed = Bed::new().await;
    bed.probe("bad", 1).await;
    bed.probe("good", 1).await;
    let prober = Prober::doing(|probe, _| async move {
        assert_ne!(probe.metadata.name.as_deref(), Some("bad"), "I am bad");
        Ok(Outcome::Done)
    });
    let working = bed.runs(prober.controller());
    seconds(60).await;
    assert!(!working.task.is_finished());
    assert_eq!(prober.runs_of("good"), 1);
    assert!(prober.runs_of("bad") >= 3, "it is tried again");
    let events: Api<k8s_openapi::api::events::v1::Event> = Api::namespaced(bed.admin(), "default");
    let told = events.list(&ListParams::default()).await.unwrap().items;
    let about = |event: &k8s_openapi::api::events::v1::Event| event.regarding.clone().unwrap().name;
    assert!(
        told.iter()
            .all(|event| about(event).as_deref() == Some("bad"))
    );
    assert!(
        told[0].note.as_ref().unwrap().contains("I am bad"),
        "{told:?}"
    );
    bed.probe("good", 2).await;
    seconds(1).await;
    assert_eq!(prober.runs_of("good"), 2);
}

/// T6: one kind that may not be watched slows everything down.
#[tokio::test(start_paused = true)]
async fn t6_a_forbidden_kind_slows_nothing_and_is_told() {
    let bed = Bed::new().await;
    bed.probe("a", 0).await;
    bed.view
        .fault(Which::all().of("", "configmaps"), Fault::Forbid);
    let prober = Prober::idle();
    let _working = bed.runs(prober.with_children());
    seconds(5).await;
    for value in 1..=20 {
        bed.probe("a", value).await;
        seconds(1).await;
        assert_eq!(
            prober.runs().last().unwrap().value,
            value,
            "seen within the second"
        );
    }
    let failing = bed.checks.failing();
    assert!(
        failing[0].1.contains("configmaps") && failing[0].1.contains("forbidden"),
        "{failing:?}"
    );
    assert!(!failing[0].1.contains("probes"));
}

/// T8: debounce postpones for ever.
#[tokio::test(start_paused = true)]
async fn t8_debounce_does_not_postpone_for_ever() {
    let bed = Bed::new().await;
    let prober = Prober::idle();
    let gather = Debounce {
        quiet: Duration::from_secs(1),
        max_wait: Duration::from_secs(3),
    };
    let controller = prober
        .controller()
        .settings(|settings| settings.debounce = Some(gather));
    let _working = bed.runs(controller);
    for value in 0..34 {
        bed.probe("a", value).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    assert!(
        (3..=4).contains(&prober.runs_of("a")),
        "{}",
        prober.runs_of("a")
    );
}

/// T10: one create sends several.
#[tokio::test]
async fn t10_one_create_sends_one_request() {
    let bed = Bed::without_probes();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Server::start(listener, bed.view.clone()).unwrap();
    let gateway = Fault::RefuseAfterwards(Refusal::code(504));
    bed.view
        .fault_times(Which::writes().of("", "configmaps"), gateway, 3);
    let client: Client = connect(Config::new(server.url().parse().unwrap())).unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let metadata = ObjectMeta {
        generate_name: Some("one-".to_owned()),
        ..ObjectMeta::default()
    };
    let map = ConfigMap {
        metadata,
        ..ConfigMap::default()
    };
    assert!(maps.create(&PostParams::default(), &map).await.is_err());
    assert_eq!(bed.view.log().writes(), 1);
    let made = bed.maps().list(&ListParams::default()).await.unwrap().items;
    let ours = |map: &&ConfigMap| map.metadata.name.as_ref().unwrap().starts_with("one-");
    assert_eq!(made.iter().filter(ours).count(), 1);
}

/// T11: references that do not control, or to a namesake, wake the owner.
#[tokio::test(start_paused = true)]
async fn t11_only_the_owner_that_controls_and_has_that_uid_is_woken() {
    let bed = Bed::new().await;
    let owner = bed.probe("owner", 1).await;
    let prober = Prober::idle();
    let _working = bed.runs(prober.with_children());
    seconds(1).await;
    let right = kube::Resource::controller_owner_ref(&owner, &()).unwrap();
    let namesake = OwnerReference {
        uid: "00000000-0000-0000-0000-000000000001".to_owned(),
        ..right.clone()
    };
    let no_controller = OwnerReference {
        controller: None,
        ..right
    };
    for (name, reference) in [("namesake", namesake), ("shared", no_controller)] {
        let metadata = ObjectMeta {
            name: Some(name.to_owned()),
            owner_references: Some(vec![reference]),
            ..ObjectMeta::default()
        };
        bed.map(metadata).await;
        a_moment().await;
        assert_eq!(prober.runs_of("owner"), 1, "{name}");
    }
    bed.child("own", &owner).await;
    a_moment().await;
    assert_eq!(prober.runs_of("owner"), 2);
}
