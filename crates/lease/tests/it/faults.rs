//! Who leads when the way to the cluster is bad.

use std::time::Duration;

use evenkeel_kubesim::Verb;
use evenkeel_kubesim::faults::{Fault, Refusal, Stale, Which};
use evenkeel_lease::{Led, fence};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client};
use tokio_util::sync::CancellationToken;

use crate::stage::{Stage, elector, seconds};

fn updates() -> Which {
    Which::writes().verbs(&[Verb::Update])
}

#[tokio::test(start_paused = true)]
async fn a_holder_that_is_cut_off_stops_before_another_begins() {
    let stage = Stage::new();
    let one = stage.stands("one");
    seconds(1).await;
    let _two = stage.stands("two");
    seconds(60).await;
    one.view.fault(Which::all(), Fault::LoseRequest);
    seconds(11).await;
    assert!(stage.leaders().is_empty(), "the holder stopped by itself");
    seconds(8).await;
    assert_eq!(stage.leaders(), ["two"]);
    one.view.heal();
    seconds(60).await;
    assert_eq!(
        stage.leaders(),
        ["two"],
        "the old holder does not come back"
    );
    assert!(stage.was_never_led_by_two());
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_arrives_too_late_is_no_renewal() {
    let stage = Stage::new();
    let one = stage.stands("one");
    seconds(60).await;
    one.view
        .fault(updates(), Fault::Delay(Duration::from_secs(12)));
    seconds(11).await;
    assert!(stage.leaders().is_empty());
}

#[tokio::test(start_paused = true)]
async fn slow_renewals_within_the_deadline_keep_the_lease() {
    let stage = Stage::new();
    let one = stage.stands("one");
    seconds(1).await;
    let _two = stage.stands("two");
    one.view
        .fault(updates(), Fault::Delay(Duration::from_secs(3)));
    seconds(600).await;
    assert_eq!(stage.history().len(), 1);
    assert_eq!(stage.leaders(), ["one"]);
}

#[tokio::test(start_paused = true)]
async fn a_lost_reply_to_the_first_write_does_not_lock_anybody_out() {
    let stage = Stage::new();
    let one = stage.cluster.view("one");
    one.fault_times(Which::writes(), Fault::LoseReply, 1);
    let elector = elector(
        Client::new(one, "default"),
        "one",
        jiff::SignedDuration::ZERO,
    );
    let never = CancellationToken::new();
    let led = elector.lead(&never, |_| async {});
    let led = tokio::time::timeout(Duration::from_secs(10), led);
    assert_eq!(led.await.expect("in time"), Led::Finished(()));
}

#[tokio::test(start_paused = true)]
async fn lost_replies_and_refusals_now_and_then_do_not_lose_the_lease() {
    let stage = Stage::new();
    let one = stage.stands("one");
    seconds(1).await;
    let _two = stage.stands("two");
    for _ in 0..20 {
        one.view.fault_times(updates(), Fault::LoseReply, 1);
        seconds(15).await;
        let gave_up = Fault::RefuseAfterwards(Refusal::code(504));
        one.view.fault_times(updates(), gave_up, 1);
        seconds(15).await;
    }
    assert_eq!(stage.history().len(), 1);
    assert_eq!(stage.leaders(), ["one"]);
}

#[tokio::test(start_paused = true)]
async fn whoever_looks_at_an_old_replica_takes_nothing() {
    let stage = Stage::new();
    let _one = stage.stands("one");
    seconds(1).await;
    let two = stage.stands("two");
    two.view.freeze(Stale::AllReads);
    // Silent for long enough in the eyes of `two`, which then writes on what it saw.
    seconds(120).await;
    assert_eq!(stage.leaders(), ["one"]);
    assert_eq!(stage.history().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_fenced_client_asks_nothing_after_the_term() {
    let stage = Stage::new();
    let view = stage.cluster.view("one");
    let client = Client::new(view.clone(), "default");
    let (elector, stop) = (
        elector(client.clone(), "one", jiff::SignedDuration::ZERO),
        CancellationToken::new(),
    );
    let mut kept = None;
    let led = elector
        .lead(&stop, |term| {
            let fenced = fence(&client, &term);
            kept = Some(fenced.clone());
            async move {
                let maps: Api<ConfigMap> = Api::default_namespaced(fenced);
                maps.get_opt("any").await.is_ok()
            }
        })
        .await;
    assert_eq!(led, Led::Finished(true));
    view.reset_log();
    let maps: Api<ConfigMap> = Api::default_namespaced(kept.expect("a client"));
    let refused = maps.get_opt("any").await.unwrap_err().to_string();
    assert!(refused.contains("no longer held"), "{refused}");
    assert_eq!(view.log().requests(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_request_under_way_is_given_up_when_the_term_ends() {
    let stage = Stage::new();
    let view = stage.cluster.view("one");
    let client = Client::new(view.clone(), "default");
    let elector = elector(client.clone(), "one", jiff::SignedDuration::ZERO);
    let hour = Duration::from_secs(3_600);
    view.fault(Which::all().of("", "configmaps"), Fault::Delay(hour));
    let (ended, result) = tokio::sync::oneshot::channel();
    let stop = CancellationToken::new();
    let work = |term: evenkeel_lease::Term| {
        let maps: Api<ConfigMap> = Api::default_namespaced(fence(&client, &term));
        // Spawned, so that cutting off the work alone would not reach it.
        tokio::spawn(async move { ended.send(maps.get_opt("any").await.is_err()) });
        view.fault(updates(), Fault::LoseRequest);
        std::future::pending::<()>()
    };
    assert_eq!(elector.lead(&stop, work).await, Led::Lost);
    assert_eq!(result.await, Ok(true));
}
