//! When keys run: backoff and what ends it, debounce, resync, delays.

use evenkeel_reconcile::runner::{Debounce, Request};
use evenkeel_reconcile::{Delays, ErrorClass, RetryPolicy};

use super::*;

/// Key 1 fails with this class, every time, without jitter.
fn start_failing(class: ErrorClass) -> Bench {
    let calm = |policy: Option<RetryPolicy>| {
        policy.map(|policy| RetryPolicy {
            jitter: 0.0,
            ..policy
        })
    };
    let delays = Delays::default();
    let delays = Delays {
        transient: calm(delays.transient),
        unknown: calm(delays.unknown),
        ..delays
    };
    let bench = Bench::start(
        Settings {
            delays,
            ..one_worker()
        },
        move |_, _| async move { Outcome::failed(Trouble(class)) },
    );
    bench.handle.add(1, Request::changed().generation(1));
    bench
}

fn whole_secs(times: &[Duration]) -> Vec<u64> {
    times.iter().map(Duration::as_secs).collect()
}

#[tokio::test(start_paused = true)]
async fn failures_back_off_as_their_class_says() {
    let transient = start_failing(ErrorClass::Transient);
    let unknown = start_failing(ErrorClass::Unknown);
    transient.for_(secs(1_000)).await;
    let doubling = [0, 10, 30, 70, 150, 310, 610, 910];
    assert_eq!(whole_secs(&transient.journal.times(1)), doubling);
    let doubling = [0, 5, 15, 35, 75, 155, 315, 615, 915];
    assert_eq!(whole_secs(&unknown.journal.times(1)), doubling);
}

#[tokio::test(start_paused = true)]
async fn a_new_generation_ends_a_backoff_and_nothing_less_does() {
    let bench = start_failing(ErrorClass::Transient);
    bench.for_(secs(75)).await;
    bench.handle.add(1, Request::changed().generation(1));
    bench.handle.add(1, Request::owned());
    bench.handle.add(1, Request::resync());
    bench.for_(secs(1)).await;
    assert_eq!(whole_secs(&bench.journal.times(1)), [0, 10, 30, 70]);

    bench.handle.add(1, Request::changed().generation(2));
    bench.for_(secs(40)).await;
    assert_eq!(
        whole_secs(&bench.journal.times(1)),
        [0, 10, 30, 70, 76, 86, 106]
    );
}

#[tokio::test(start_paused = true)]
async fn a_person_who_asks_is_served_during_a_backoff() {
    let bench = start_failing(ErrorClass::Transient);
    bench.for_(secs(75)).await;
    bench.handle.add(1, Request::asked());
    bench.for_(secs(1)).await;
    assert_eq!(whole_secs(&bench.journal.times(1)), [0, 10, 30, 70, 75]);
}

#[tokio::test(start_paused = true)]
async fn success_resets_the_backoff() {
    let calls = Arc::new(Mutex::new(0));
    let bench = Bench::start(one_worker(), move |_, _| {
        let mut calls = calls.lock().unwrap();
        *calls += 1;
        let fails = *calls != 4;
        async move {
            if fails {
                Outcome::Retry(Trouble(ErrorClass::Transient))
            } else {
                Outcome::Done
            }
        }
    });
    bench.handle.add(1, Request::changed());
    bench.for_(secs(100)).await;
    assert_eq!(
        bench.journal.times(1).len(),
        4,
        "three failures, then success"
    );
    bench.handle.add(1, Request::changed());
    bench.for_(secs(11)).await;
    assert_eq!(
        bench.journal.times(1).len(),
        6,
        "the delay is ten seconds again"
    );
}

#[tokio::test(start_paused = true)]
async fn a_terminal_error_rests_until_the_spec_changes() {
    let bench = start_failing(ErrorClass::Permanent);
    bench.for_(secs(3_600)).await;
    for request in [
        Request::changed().generation(1),
        Request::owned(),
        Request::resync(),
    ] {
        bench.handle.add(1, request);
    }
    bench.for_(secs(3_600)).await;
    assert_eq!(bench.journal.times(1).len(), 1);
    let why = "1: attempt 1 failed (permanent): the other side is Permanent; no run before something changes";
    assert_eq!(bench.why(1), why);
    bench.handle.add(1, Request::changed().generation(2));
    bench.for_(secs(1)).await;
    assert_eq!(bench.journal.times(1).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_looked_at_again_and_an_event_wakes_it_sooner() {
    let bench = Bench::start(one_worker(), |_, _| async {
        Outcome::wait("a claim to be bound")
    });
    bench.handle.add(1, Request::changed());
    bench.for_(secs(3)).await;
    let why = bench.why(1);
    assert!(
        why.starts_with("1: waits for a claim to be bound; next run in "),
        "{why}"
    );
    bench.handle.add(1, Request::owned());
    bench.for_(secs(1)).await;
    assert_eq!(whole_secs(&bench.journal.times(1)), [0, 3]);
    bench.for_(secs(31)).await;
    assert_eq!(bench.journal.times(1).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn debounce_gathers_a_burst_but_cannot_postpone_for_ever() {
    let debounce = Some(Debounce {
        quiet: secs(1),
        max_wait: secs(5),
    });
    let settings = Settings {
        debounce,
        ..one_worker()
    };
    let bench = Bench::start(settings, |_, _| async { Outcome::Done });
    for _ in 0..100 {
        bench.handle.add(1, Request::changed());
        bench.for_(millis(300)).await;
    }
    // 30 s of touches, each within the quiet time of the last: one run per longest wait.
    let times = bench.journal.times(1);
    assert!((5..=6).contains(&times.len()), "{times:?}");
    assert_eq!(times[0].as_secs(), 5);

    bench.handle.add(2, Request::changed());
    bench.for_(millis(500)).await;
    bench.handle.add(2, Request::changed());
    bench.for_(secs(10)).await;
    assert_eq!(bench.journal.times(2).len(), 1, "a burst is one run");
}

#[tokio::test(start_paused = true)]
async fn delayed_keys_run_on_time_and_the_soonest_wish_counts() {
    let bench = Bench::start(one_worker(), |_, _| async { Outcome::Done });
    bench.handle.add(1, Request::changed().after(secs(60)));
    bench.handle.add(1, Request::changed().after(secs(20)));
    bench.handle.add(1, Request::changed().after(secs(40)));
    bench.handle.add(2, Request::changed().after(secs(30)));
    bench.for_(secs(100)).await;
    assert_eq!(whole_secs(&bench.journal.times(1)), [20]);
    assert_eq!(whole_secs(&bench.journal.times(2)), [30]);
}

#[tokio::test(start_paused = true)]
async fn requests_during_a_run_become_one_more_run() {
    let bench = Bench::start(Settings::default(), |_, _| async {
        sleep(secs(10)).await;
        Outcome::Done
    });
    for _ in 0..9 {
        bench.handle.add(1, Request::changed());
        bench.for_(secs(1)).await;
    }
    assert_eq!(bench.why(1), "1: running for 9 s (changed), then again");
    bench.for_(secs(100)).await;
    assert_eq!(whole_secs(&bench.journal.times(1)), [0, 10]);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_resyncs_are_spread_out() {
    let settings = Settings {
        delays: Delays::resync_every(secs(600)),
        ..Settings::default()
    };
    let bench = Bench::start(settings, |_, _| async { Outcome::Done });
    (0..1_000).for_each(|key| bench.handle.add(key, Request::listed()));
    bench.for_(secs(600)).await;
    let mut per_second = BTreeMap::<u64, usize>::new();
    for (at, _) in bench.journal.begun.lock().unwrap().iter().skip(1_000) {
        *per_second.entry(at.as_secs()).or_default() += 1;
    }
    assert!(per_second.values().sum::<usize>() >= 1_000);
    // Chance takes up to a fifth of the period: 1,000 keys over 120 s, about 8 in a second.
    assert!(
        per_second.values().all(|&runs| runs <= 30),
        "{per_second:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn ten_hours_of_resyncs_pass_in_no_time() {
    let settings = Settings {
        delays: Delays::resync_every(secs(600)),
        ..Settings::default()
    };
    let bench = Bench::start(settings, |_, key| async move {
        match key % 10 {
            0 => Outcome::Retry(Trouble(ErrorClass::Transient)),
            _ => Outcome::Done,
        }
    });
    (0..100).for_each(|key| bench.handle.add(key, Request::listed()));
    bench.for_(secs(36_000)).await;
    let counts = bench.journal.counts();
    let (failing, healthy): (Vec<_>, Vec<_>) =
        counts.into_iter().partition(|(key, _)| key % 10 == 0);
    // A period of 480 to 600 s, a backoff of 240 to 300 s at its longest.
    assert!(
        healthy.iter().all(|(_, runs)| (60..=76).contains(runs)),
        "{healthy:?}"
    );
    assert!(
        failing.iter().all(|(_, runs)| (120..=155).contains(runs)),
        "{failing:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_key_is_not_resynced() {
    let settings = Settings {
        delays: Delays::resync_every(secs(60)),
        ..Settings::default()
    };
    let bench = Bench::start(settings, |handle, key| async move {
        if key == 1 {
            handle.forget(&key);
        }
        Outcome::Done
    });
    [1, 2]
        .into_iter()
        .for_each(|key| bench.handle.add(key, Request::changed()));
    bench.for_(secs(300)).await;
    assert_eq!(bench.journal.times(1).len(), 1);
    assert!(bench.journal.times(2).len() >= 5);
    bench.handle.forget(&2);
    assert!(bench.handle.list().is_empty());
}

#[tokio::test(start_paused = true)]
async fn depth_age_and_retries_are_counted() {
    let bench = Bench::start(one_worker(), |_, key| async move {
        sleep(secs(1)).await;
        match key {
            0 => Outcome::Retry(Trouble(ErrorClass::Transient)),
            _ => Outcome::Done,
        }
    });
    (0..10).for_each(|key| bench.handle.add(key, Request::changed()));
    bench.for_(secs(50)).await;
    let deepest = *bench.journal.deepest.lock().unwrap();
    // The tenth key begins after nine seconds; it was last seen waiting after eight.
    assert_eq!((deepest.changes, deepest.oldest_change), (9, secs(8)));
    let waited = bench.journal.waited.lock().unwrap();
    let retries = waited
        .iter()
        .filter(|(reason, _)| *reason == Reason::Retry)
        .count();
    assert_eq!((retries, bench.journal.ended("transient")), (2, 3));
}
