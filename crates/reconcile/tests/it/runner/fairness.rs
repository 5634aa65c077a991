//! No key starves another, whatever it does.

use evenkeel_reconcile::runner::{Reason, Request};
use evenkeel_reconcile::{Delays, ErrorClass, RetryPolicy};

use super::*;

const RUN: Duration = Duration::from_millis(5);
const HEALTHY: std::ops::Range<u32> = 100..200;

/// Changes each healthy key every 20 ms, for a minute: four times what one worker can do.
async fn keep_changing(bench: &Bench) {
    for _ in 0..3_000 {
        HEALTHY.for_each(|key| bench.handle.add(key, Request::changed()));
        bench.for_(millis(20)).await;
    }
}

/// The fewest and the most runs of any of 200 keys.
fn spread(bench: &Bench) -> (usize, usize) {
    let counts = bench.journal.counts();
    assert_eq!(counts.len(), 200, "some key never ran");
    (
        *counts.values().min().unwrap(),
        *counts.values().max().unwrap(),
    )
}

#[tokio::test(start_paused = true)]
async fn a_hundred_hot_keys_do_not_starve_a_hundred_healthy_ones() {
    let bench = Bench::start(one_worker(), |handle, key| async move {
        sleep(RUN).await;
        if !HEALTHY.contains(&key) {
            handle.add(key, Request::changed());
        }
        Outcome::Done
    });
    (0..100).for_each(|key| bench.handle.add(key, Request::changed()));
    keep_changing(&bench).await;
    let (least, most) = spread(&bench);
    assert!(least >= 55 && most <= least + 2, "{least}..{most}");
}

#[tokio::test(start_paused = true)]
async fn a_hundred_failing_keys_without_patience_do_not_starve_a_hundred_healthy_ones() {
    let hasty = Delays {
        transient: Some(RetryPolicy::every(millis(20))),
        ..Delays::default()
    };
    let settings = Settings {
        delays: hasty,
        ..one_worker()
    };
    let bench = Bench::start(settings, |_, key| async move {
        sleep(RUN).await;
        match HEALTHY.contains(&key) {
            true => Outcome::Done,
            false => Outcome::Retry(Trouble(ErrorClass::Transient)),
        }
    });
    (0..100).for_each(|key| bench.handle.add(key, Request::changed()));
    keep_changing(&bench).await;
    let (least, most) = spread(&bench);
    assert!(least >= 35 && most <= 2 * least, "{least}..{most}");
}

#[tokio::test(start_paused = true)]
async fn routine_work_gets_every_third_run_beside_endless_changes() {
    let bench = Bench::start(one_worker(), |handle, key| async move {
        sleep(RUN).await;
        match HEALTHY.contains(&key) {
            true => handle.add(key, Request::resync()),
            false => handle.add(key, Request::changed()),
        }
        Outcome::Done
    });
    (0..100).for_each(|key| bench.handle.add(key, Request::changed()));
    HEALTHY.for_each(|key| bench.handle.add(key, Request::resync()));
    bench.for_(secs(60)).await;
    let (least, most) = spread(&bench);
    assert!(least >= 39 && most <= 2 * least, "{least}..{most}");
}

#[tokio::test(start_paused = true)]
async fn a_change_overtakes_a_long_backlog_of_routine_work() {
    let bench = Bench::start(one_worker(), |_, _| async {
        sleep(RUN).await;
        Outcome::Done
    });
    (0..10_000).for_each(|key| bench.handle.add(key, Request::listed()));
    bench.for_(secs(1)).await;
    let before = bench.handle.load();
    bench.handle.add(9_999, Request::changed());
    bench.for_(RUN * 3).await;
    assert_eq!(bench.journal.times(9_999).len(), 1, "{}", bench.why(9_999));
    assert!(
        before.routine > 9_000 && before.oldest_routine >= millis(990),
        "{before:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn poison_objects_do_not_delay_healthy_ones() {
    let bench = Bench::start(one_worker(), |_, key| async move {
        sleep(RUN).await;
        match HEALTHY.contains(&key) {
            true => Outcome::Done,
            false => Outcome::Retry(Trouble(ErrorClass::Unknown)),
        }
    });
    (0..10).for_each(|key| bench.handle.add(key, Request::listed()));
    for _ in 0..100 {
        HEALTHY.for_each(|key| bench.handle.add(key, Request::changed()));
        bench.for_(secs(1)).await;
    }
    let waited = bench.journal.waited.lock().unwrap();
    let changes = waited
        .iter()
        .filter(|(reason, _)| *reason == Reason::Changed);
    let longest = changes.map(|(_, waited)| *waited).max().unwrap();
    // One round of a hundred runs, with no more than every third run given to the failing.
    assert!(longest <= RUN * 150, "{longest:?}");
    assert!(
        HEALTHY
            .into_iter()
            .all(|key| bench.journal.times(key).len() == 100)
    );
}
