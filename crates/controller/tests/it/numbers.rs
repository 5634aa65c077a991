//! The numbers that tell how a controller fares.

use evenkeel_kubesim::faults::Cut;
use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;

use crate::bed::{Bed, Prober, seconds, work};

/// A number of the probes' cache.
fn number(registry: &Registry, name: &str) -> f64 {
    let mut shown = String::new();
    text::encode(&mut shown, registry).expect("numbers");
    let of_probes = |line: &&str| {
        line.starts_with(&format!("{name}{{")) && line.contains("probes.test.evenkeel.io")
    };
    let line = shown.lines().find(of_probes);
    let line = line.unwrap_or_else(|| panic!("no {name} in\n{shown}"));
    let (_, value) = line.rsplit_once(' ').expect("a value");
    value.parse().expect("a number")
}

#[tokio::test(start_paused = true)]
async fn they_tell_how_well_each_kind_is_followed() {
    let (bed, mut registry) = (Bed::new().await, Registry::default());
    bed.probe("a", 1).await;
    let manager = bed.manager_counting(&bed.view, &mut registry);
    let _working = work(manager.with(Prober::idle().controller()));
    seconds(1).await;
    assert_eq!(number(&registry, "cache_objects"), 1.0);
    assert_eq!(number(&registry, "watch_restarts_total"), 0.0);

    bed.view.cut_watches(None, Cut::Reset);
    seconds(5).await;
    assert_eq!(number(&registry, "watch_restarts_total"), 1.0);

    // A server that says nothing lets the cache grow old; its next word makes it young.
    bed.view.hold_events();
    seconds(45).await;
    assert!(number(&registry, "cache_age_seconds") >= 45.0);
    bed.view.release_events();
    bed.probe("a", 2).await;
    seconds(1).await;
    assert!(number(&registry, "cache_age_seconds") <= 1.0);
}
