//! One key's misfortune is its own.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use evenkeel_ambient::Random;
use evenkeel_reconcile::runner::{FailureKind, Request};

use super::*;

const PANICS: u32 = 0;
const PANICS_LATE: u32 = 1;
const HANGS: u32 = 2;

async fn misfortune(key: u32) -> Outcome<Trouble> {
    sleep(millis(1)).await;
    match key {
        PANICS_LATE => panic!("late, in run {key}"),
        HANGS => std::future::pending().await,
        _ => Outcome::Done,
    }
}

type Reports = Arc<Mutex<Vec<(u32, FailureKind)>>>;

fn start_misfortunes(settings: Settings) -> (Bench, Reports) {
    let reports = Reports::default();
    let told = Arc::clone(&reports);
    let runner = Runner::new(settings, Arc::new(SeededRandom::new(7)))
        .report(move |&key, failure| told.lock().unwrap().push((key, failure.kind)));
    let bench = Bench::start_with(runner, |_, key| {
        assert_ne!(key, PANICS, "before the first await");
        misfortune(key)
    });
    (0..10).for_each(|key| bench.handle.add(key, Request::changed()));
    (bench, reports)
}

#[tokio::test(start_paused = true)]
async fn a_panic_and_a_hang_harm_only_their_keys() {
    let (bench, reports) = start_misfortunes(Settings {
        timeout: secs(2),
        ..one_worker()
    });
    bench.for_(secs(4)).await;
    assert!(
        (3..10).all(|key| bench.journal.times(key).len() == 1),
        "{:?}",
        bench.journal.counts()
    );
    assert_eq!(bench.journal.ended("done"), 7);
    assert_eq!(
        (bench.journal.ended("panic"), bench.journal.ended("timeout")),
        (2, 1)
    );
    let expected = [
        (PANICS, FailureKind::Panic),
        (PANICS_LATE, FailureKind::Panic),
        (HANGS, FailureKind::Timeout),
    ];
    assert_eq!(*reports.lock().unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn misfortune_is_explained_and_retried() {
    let (bench, _) = start_misfortunes(Settings {
        timeout: secs(2),
        ..one_worker()
    });
    bench.for_(secs(3)).await;
    let (late, hangs) = (bench.why(PANICS_LATE), bench.why(HANGS));
    assert!(
        late.starts_with("1: attempt 1 failed (panic): late, in run 1; next run in "),
        "{late}"
    );
    let text = "2: attempt 1 failed (timeout): the run did not end within 2s; next run in ";
    assert!(hangs.starts_with(text), "{hangs}");
    bench.for_(secs(20)).await;
    assert!(
        (0..3).all(|key| bench.journal.times(key).len() >= 2),
        "{:?}",
        bench.journal.counts()
    );
}

#[tokio::test(start_paused = true)]
async fn a_report_that_panics_is_survived() {
    let runner = Runner::new(one_worker(), Arc::new(SeededRandom::new(7)))
        .report(|_, _| panic!("the reporter"));
    let bench = Bench::start_with(runner, |_, key| misfortune(key));
    [PANICS_LATE, 5]
        .into_iter()
        .for_each(|key| bench.handle.add(key, Request::changed()));
    bench.for_(secs(60)).await;
    assert!(bench.journal.times(PANICS_LATE).len() > 1 && bench.journal.ended("done") == 1);
}

#[derive(Debug)]
struct Unspeakable;

impl std::fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("no words")
    }
}

impl std::error::Error for Unspeakable {}

impl Classify for Unspeakable {
    fn class(&self) -> ErrorClass {
        ErrorClass::Transient
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_panics_when_it_is_shown_counts_as_a_panic_of_its_key() {
    let runner = Runner::new(one_worker(), Arc::new(SeededRandom::new(7)));
    let (handle, shutdown) = (runner.handle(), CancellationToken::new());
    let work = |_: u32| async { Outcome::Retry(Unspeakable) };
    let running = tokio::spawn(runner.run(work, shutdown.clone()));
    handle.add(1, Request::changed());
    sleep(secs(1)).await;
    let why = handle.find(&1).unwrap().to_string();
    assert!(
        why.starts_with("1: attempt 1 failed (panic): no words; next run in "),
        "{why}"
    );
    shutdown.cancel();
    assert!(running.await.unwrap().abandoned.is_empty());
}

/// What a key's runs and events look like from outside, on real threads.
#[derive(Default)]
struct Watched {
    running: AtomicBool,
    events: AtomicUsize,
    seen: AtomicUsize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_key_runs_twice_at_once_and_no_event_is_lost_under_a_hundred_thousand_of_them() {
    let keys: Arc<Vec<Watched>> = Arc::new((0..50).map(|_| Watched::default()).collect());
    let twice = Arc::new(AtomicUsize::new(0));
    let (watched, overlaps) = (Arc::clone(&keys), Arc::clone(&twice));
    let bench = Bench::start(
        Settings {
            workers: 8,
            ..Settings::default()
        },
        move |_, key| {
            let (watched, overlaps) = (Arc::clone(&watched), Arc::clone(&overlaps));
            async move {
                let me = &watched[key as usize];
                let overlap = me.running.swap(true, Ordering::SeqCst);
                overlaps.fetch_add(usize::from(overlap), Ordering::SeqCst);
                me.seen
                    .store(me.events.load(Ordering::SeqCst), Ordering::SeqCst);
                tokio::task::yield_now().await;
                me.running.store(false, Ordering::SeqCst);
                Outcome::Done
            }
        },
    );
    let dice = SeededRandom::new(3);
    for event in 0..100_000 {
        let key = dice.next_u64() % 50;
        keys[key as usize].events.fetch_add(1, Ordering::SeqCst);
        bench.handle.add(key as u32, random_request(&dice));
        if event % 64 == 0 {
            tokio::task::yield_now().await;
        }
    }
    while !bench.handle.list().is_empty() {
        sleep(millis(1)).await;
    }
    assert_eq!(twice.load(Ordering::SeqCst), 0, "a key ran twice at once");
    for (key, watched) in keys.iter().enumerate() {
        let (events, seen) = (watched.events.load(Ordering::SeqCst), &watched.seen);
        assert_eq!(
            seen.load(Ordering::SeqCst),
            events,
            "key {key} missed its last event"
        );
    }
}

fn random_request(dice: &SeededRandom) -> Request {
    let request = match dice.next_u64() % 4 {
        0 => Request::changed(),
        1 => Request::owned(),
        2 => Request::resync(),
        _ => Request::listed(),
    };
    request.after(Duration::from_micros(dice.next_u64() % 300))
}
