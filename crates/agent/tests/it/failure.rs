//! Validation, failure in the middle, namespaces taken back, and trying again.

use evenkeel_kubesim::Verb;
use evenkeel_kubesim::faults::{Fault, Refusal, Which};
use evenkeel_model::EventStatus;
use evenkeel_testfleet::{Ground, map, maps, on_every_ground, space, until};
use serde_json::json;

on_every_ground! {
    everywhere {
        what_the_server_would_refuse_is_found_before_anything_is_applied,
        a_namespace_that_a_failed_attempt_made_is_taken_back,
        a_namespace_that_was_there_before_stays_when_an_attempt_fails,
        unknown_kinds_and_missing_namespaces_are_named,
    }
    simulated {
        what_was_applied_stays_and_the_next_cycle_tries_again,
        busy_servers_are_asked_again_and_nobody_hears_of_it,
        other_refusals_fail_at_once_and_are_reported,
        a_stack_that_hangs_delays_no_other,
    }
}

/// Nothing can be a Service with this port.
fn invalid(namespace: &str) -> String {
    let head = format!("metadata: {{name: bad, namespace: {namespace}}}");
    format!("---\napiVersion: v1\nkind: Service\n{head}\nspec: {{ports: [{{port: 70000}}]}}\n")
}

fn service(namespace: &str) -> String {
    invalid(namespace)
        .replace("70000", "80")
        .replace("bad", "good")
}

async fn what_the_server_would_refuse_is_found_before_anything_is_applied(
    Ground { fleet, cluster }: Ground,
) {
    let (east, shop) = (
        fleet.site("validates", &cluster).await,
        fleet.stack("shop").await,
    );
    east.spaces().make("validated", json!({})).await;
    east.serves(&shop).await;
    let one = shop
        .submit(&(map("validated", "a", "1") + &invalid("validated")))
        .await;
    let event = east.fails_with(&one).await;
    let message = event.message.unwrap();
    assert!(
        message.contains("Service validated/bad") && message.contains("70000"),
        "{message}"
    );
    assert_eq!(east.maps("validated").get("a").await, None);
    let status = east.status_of(&shop).await.unwrap();
    assert_eq!(status.last_error, Some(message));
    east.stop().await;
}

async fn a_namespace_that_a_failed_attempt_made_is_taken_back(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("takes-back", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let one = shop
        .submit(&(space("taken-back") + &invalid("taken-back")))
        .await;
    east.fails_with(&one).await;
    shop.tenant.stack_suspend(shop.id).await.unwrap();
    east.spaces().is_gone("taken-back").await;
    east.stop().await;
}

async fn a_namespace_that_was_there_before_stays_when_an_attempt_fails(
    Ground { fleet, cluster }: Ground,
) {
    let (east, shop) = (
        fleet.site("leaves", &cluster).await,
        fleet.stack("shop").await,
    );
    east.spaces().make("left", json!({})).await;
    east.serves(&shop).await;
    let one = shop.submit(&(space("left") + &invalid("left"))).await;
    east.fails_with(&one).await;
    let phase = east.spaces().at("left", "/status/phase").await;
    assert_eq!(phase.unwrap(), "Active");
    east.stop().await;
}

/// Objects that were applied stay, and the next cycle tries all of it again.
async fn what_was_applied_stays_and_the_next_cycle_tries_again(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("partial", &cluster).await,
        fleet.stack("shop").await,
    );
    east.spaces().make("partial", json!({})).await;
    east.view()
        .fault(Which::writes().of("", "services"), Fault::Forbid);
    east.serves(&shop).await;
    let one = shop
        .submit(&(map("partial", "a", "1") + &service("partial")))
        .await;
    let event = east.fails_with(&one).await;
    assert!(event.message.unwrap().contains("Service partial/good"));
    assert!(
        east.maps("partial").get("a").await.is_some(),
        "what was applied stays"
    );
    east.view().heal();
    east.reaches(&one).await;
    assert!(
        east.objects("v1", "Service", "partial")
            .get("good")
            .await
            .is_some()
    );
    let failures = east
        .events_of(&one)
        .await
        .into_iter()
        .filter(|event| event.status == EventStatus::Failure);
    assert!(failures.count() >= 1, "the failure stays in the history");
    east.stop().await;
}

async fn busy_servers_are_asked_again_and_nobody_hears_of_it(Ground { fleet, cluster }: Ground) {
    for code in [429, 500, 503, 504] {
        let name = format!("busy-{code}");
        let (east, shop) = (fleet.site(&name, &cluster).await, fleet.stack(&name).await);
        let maps_only = Which::all().verbs(&[Verb::Patch]).of("", "configmaps");
        east.view()
            .fault_times(maps_only, Fault::Refuse(Refusal::code(code)), 2);
        east.serves(&shop).await;
        let one = shop.submit(&maps(&name, 1)).await;
        east.reaches(&one).await;
        let events = east.events_of(&one).await;
        assert_eq!(events.len(), 1, "{code}: {events:?}");
        east.stop().await;
    }
}

async fn other_refusals_fail_at_once_and_are_reported(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.quiet_site("refused", &cluster).await,
        fleet.stack("shop").await,
    );
    // Were it repeated, the attempt would take for ever.
    east.settings.lock().await.retry.total = std::time::Duration::from_secs(3600);
    east.settings.lock().await.retry.first = std::time::Duration::from_secs(3600);
    east.start().await;
    let services = Which::all().verbs(&[Verb::Patch]).of("", "services");
    east.view().fault(services, Fault::Forbid);
    east.serves(&shop).await;
    let one = shop.submit(&(space("refused") + &service("refused"))).await;
    let event = east.fails_with(&one).await;
    assert!(event.message.unwrap().contains("403"));
    east.stop().await;
}

async fn unknown_kinds_and_missing_namespaces_are_named(Ground { fleet, cluster }: Ground) {
    let (east, shop) = (
        fleet.site("names", &cluster).await,
        fleet.stack("shop").await,
    );
    east.serves(&shop).await;
    let unknown = "apiVersion: nobody.example.com/v1\nkind: Ghost\nmetadata: {name: g}\n";
    let one = shop.submit(unknown).await;
    let message = east.fails_with(&one).await.message.unwrap();
    assert!(
        message.contains("Ghost") && message.contains("CRD"),
        "{message}"
    );
    let two = shop.submit(&map("nowhere-at-all", "a", "1")).await;
    let message = east.fails_with(&two).await.message.unwrap();
    assert!(message.contains("nowhere-at-all"), "{message}");
    east.stop().await;
}

/// A stack that hangs in repetitions takes nothing from the others, nor from signs of life.
async fn a_stack_that_hangs_delays_no_other(Ground { fleet, cluster }: Ground) {
    let east = fleet.quiet_site("hangs", &cluster).await;
    east.settings.lock().await.retry = evenkeel_agent::settings::Retry::default();
    east.start().await;
    let (slow, quick, gone) = (
        fleet.stack("slow").await,
        fleet.stack("quick").await,
        fleet.stack("gone").await,
    );
    for stack in [&slow, &quick, &gone] {
        east.serves(stack).await;
    }
    let first = gone.submit(&maps("hung-gone", 1)).await;
    east.reaches(&first).await;
    let services = Which::all().verbs(&[Verb::Patch]).of("", "services");
    east.view()
        .fault(services, Fault::Refuse(Refusal::code(503)));
    let stuck = slow
        .submit(&(space("hung-slow") + &service("hung-slow")))
        .await;
    until("the slow stack to be at it", async || {
        east.spaces().get("hung-slow").await
    })
    .await;
    let two = quick.submit(&maps("hung-quick", 1)).await;
    east.reaches(&two).await;
    gone.delete().await;
    east.maps("hung-gone").is_gone("m0").await;
    east.goes_on().await;
    assert!(east.events_of(&stuck).await.is_empty(), "it still tries");
    east.kill().await;
}
