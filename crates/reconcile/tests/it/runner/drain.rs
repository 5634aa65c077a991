//! Stopping: no new work, time to finish, honesty about the rest.

use evenkeel_reconcile::runner::Request;

use super::*;

/// Key `n` takes `n` seconds.
fn start_sleepers(workers: usize) -> Bench {
    let settings = Settings {
        workers,
        grace: secs(10),
        ..Settings::default()
    };
    Bench::start(settings, |_, key| async move {
        sleep(secs(u64::from(key))).await;
        Outcome::Done
    })
}

#[tokio::test(start_paused = true)]
async fn runs_finish_within_the_grace_and_waiting_keys_do_not_begin() {
    let bench = start_sleepers(2);
    [3, 5, 1]
        .into_iter()
        .for_each(|key| bench.handle.add(key, Request::changed()));
    bench.for_(secs(1)).await;
    let (journal, began) = (Arc::clone(&bench.journal), Instant::now());
    assert_eq!(
        bench.stop().await,
        Drained {
            abandoned: vec![],
            unstarted: 1
        }
    );
    assert_eq!(began.elapsed().as_secs(), 4);
    assert_eq!((journal.ended("done"), journal.times(1).len()), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn what_takes_longer_is_cut_off_and_named() {
    let bench = start_sleepers(4);
    [2, 30, 40]
        .into_iter()
        .for_each(|key| bench.handle.add(key, Request::changed()));
    bench.for_(secs(1)).await;
    let began = Instant::now();
    assert_eq!(
        bench.stop().await,
        Drained {
            abandoned: vec![30, 40],
            unstarted: 0
        }
    );
    assert_eq!(began.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn nothing_writes_after_the_drain() {
    let wrote = Arc::new(Mutex::new(Vec::new()));
    let page = Arc::clone(&wrote);
    let bench = Bench::start(
        Settings {
            grace: secs(1),
            ..one_worker()
        },
        move |_, key| {
            let page = Arc::clone(&page);
            async move {
                sleep(secs(5)).await;
                page.lock().unwrap().push(key);
                Outcome::Done
            }
        },
    );
    bench.handle.add(1, Request::changed());
    bench.for_(secs(1)).await;
    assert_eq!(bench.stop().await.abandoned, [1]);
    sleep(secs(60)).await;
    assert!(wrote.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_idle_runner_stops_at_once() {
    let bench = start_sleepers(1);
    let began = Instant::now();
    assert_eq!(
        bench.stop().await,
        Drained {
            abandoned: vec![],
            unstarted: 0
        }
    );
    assert_eq!(began.elapsed(), Duration::ZERO);
}
