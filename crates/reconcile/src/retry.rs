//! How often and how patiently to try again, as data.
//!
//! An error says what [class](ErrorClass) it is; a [`RetryPolicy`] says how long to wait before
//! attempt number `n`; [`retry`] is the loop for a single call. The runner uses
//! the same policies for whole runs.

use std::time::Duration;

use evenkeel_ambient::Random;
use tokio::time::{Instant, sleep};

/// What an error says about trying again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// It may well work next time: a timeout, an overloaded server, a lost connection.
    Transient,
    /// It cannot work until somebody changes something: trying again is useless.
    Permanent,
    /// Nobody can tell.
    Unknown,
}

/// An error that knows its class.
pub trait Classify {
    /// The class of this error.
    fn class(&self) -> ErrorClass;

    /// How long the other side asked us to stay away (`Retry-After`), if it did.
    fn retry_after(&self) -> Option<Duration> {
        None
    }
}

impl Classify for std::convert::Infallible {
    fn class(&self) -> ErrorClass {
        match *self {}
    }
}

/// Delays that grow by a factor up to a cap, until a total is spent.
///
/// Any field values are safe: whatever cannot be computed becomes `cap`.
///
/// ```
/// use std::time::Duration;
/// use evenkeel_ambient::SeededRandom;
/// use evenkeel_reconcile::RetryPolicy;
///
/// let calm = RetryPolicy { jitter: 0.0, ..RetryPolicy::CALLS };
/// let delays = (1..=8).map(|attempt| calm.delay(attempt, &SeededRandom::new(1)).as_secs());
/// assert_eq!(delays.collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32, 60, 60]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    /// The delay after the first failure.
    pub first: Duration,
    /// What each further delay is multiplied by.
    pub factor: f64,
    /// No delay is longer than this.
    pub cap: Duration,
    /// Give up when the next attempt would start later than this after the first; `None`: never.
    pub total: Option<Duration>,
    /// The share of a delay, 0 to 1, that chance may take off. It never adds, so `cap` holds.
    pub jitter: f64,
}

impl RetryPolicy {
    /// For single calls to a server: 1 s, doubling, 60 s at most, 5 min in all.
    pub const CALLS: Self = Self {
        first: Duration::from_secs(1),
        factor: 2.0,
        cap: Duration::from_secs(60),
        total: Some(Duration::from_secs(300)),
        jitter: 0.2,
    };

    /// Doubles from `first` up to `cap` and never gives up.
    pub const fn doubling(first: Duration, cap: Duration) -> Self {
        Self {
            first,
            cap,
            total: None,
            ..Self::CALLS
        }
    }

    /// The same delay every time, a fifth of it left to chance, without end.
    pub const fn every(period: Duration) -> Self {
        Self {
            factor: 1.0,
            ..Self::doubling(period, period)
        }
    }

    /// How long to wait after failure number `attempt` (the first is 1).
    pub fn delay(&self, attempt: u32, dice: &dyn Random) -> Duration {
        let doublings = i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX);
        let grown = self.first.as_secs_f64() * self.factor.powi(doublings);
        let full = grown.min(self.cap.as_secs_f64());
        let kept = 1.0 - self.jitter.clamp(0.0, 1.0) * dice.unit();
        Duration::try_from_secs_f64(full * kept).unwrap_or(self.cap)
    }

    /// Like [`delay`](Self::delay), but `None` when `spent` so far plus the delay passes the total.
    pub fn next(&self, attempt: u32, spent: Duration, dice: &dyn Random) -> Option<Duration> {
        let delay = self.delay(attempt, dice);
        self.allows(spent, delay).then_some(delay)
    }

    fn allows(&self, spent: Duration, delay: Duration) -> bool {
        self.total
            .is_none_or(|total| spent.saturating_add(delay) <= total)
    }
}

/// Makes one call, and again after each [transient](ErrorClass::Transient) error as `policy` says.
///
/// Every other error is returned at once. A delay that the server asked for is honoured when it
/// is longer than the policy's own.
///
/// # Errors
/// The last error, when it is not transient or the policy's total is spent.
pub async fn retry<T, E, F>(
    policy: &RetryPolicy,
    dice: &dyn Random,
    mut call: impl FnMut() -> F,
) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
    E: Classify,
{
    let started = Instant::now();
    let mut attempt = 1;
    loop {
        let error = match call().await {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let own = policy.delay(attempt, dice);
        let delay = error.retry_after().map_or(own, |asked| asked.max(own));
        if error.class() != ErrorClass::Transient || !policy.allows(started.elapsed(), delay) {
            return Err(error);
        }
        sleep(delay).await;
        attempt = attempt.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use evenkeel_ambient::SeededRandom;
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, PartialEq)]
    struct Refused(ErrorClass, Option<Duration>);

    impl Classify for Refused {
        fn class(&self) -> ErrorClass {
            self.0
        }
        fn retry_after(&self) -> Option<Duration> {
            self.1
        }
    }

    const CALM: RetryPolicy = RetryPolicy {
        jitter: 0.0,
        ..RetryPolicy::CALLS
    };

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// Calls until success or surrender; answers the seconds at which it called, and the result.
    async fn calls_of(
        policy: RetryPolicy,
        answer: impl Fn(usize) -> Result<(), Refused>,
    ) -> (Vec<u64>, Result<(), Refused>) {
        let started = Instant::now();
        let at = Mutex::new(Vec::new());
        let dice = SeededRandom::new(1);
        let result = retry(&policy, &dice, || {
            let mut at = at.lock().unwrap();
            at.push(started.elapsed().as_secs());
            std::future::ready(answer(at.len()))
        })
        .await;
        (at.into_inner().unwrap(), result)
    }

    #[tokio::test(start_paused = true)]
    async fn a_transient_error_is_retried_until_five_minutes_are_spent() {
        let overloaded = |_| Err(Refused(ErrorClass::Transient, None));
        let (at, result) = calls_of(CALM, overloaded).await;
        assert_eq!(at, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
        assert_eq!(result, overloaded(0));
    }

    #[tokio::test(start_paused = true)]
    async fn success_ends_the_attempts() {
        let third_time_lucky = |call| match call {
            3 => Ok(()),
            _ => Err(Refused(ErrorClass::Transient, None)),
        };
        assert_eq!(
            calls_of(CALM, third_time_lucky).await,
            (vec![0, 1, 3], Ok(()))
        );
    }

    #[tokio::test(start_paused = true)]
    async fn other_classes_fail_at_once() {
        for class in [ErrorClass::Permanent, ErrorClass::Unknown] {
            let (at, result) = calls_of(CALM, |_| Err(Refused(class, None))).await;
            assert_eq!((at, result), (vec![0], Err(Refused(class, None))));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_servers_wish_stretches_a_delay_and_counts_towards_the_total() {
        let busy = |_| Err(Refused(ErrorClass::Transient, Some(secs(140))));
        assert_eq!(calls_of(CALM, busy).await.0, [0, 140, 280]);
    }

    proptest! {
        #[test]
        fn no_policy_panics_or_passes_its_cap(
            first in 0_u64..1_000_000, cap in 0_u64..1_000_000, factor: f64, jitter: f64,
            attempt: u32, seed: u64,
        ) {
            let policy =
                RetryPolicy { first: secs(first), factor, cap: secs(cap), total: None, jitter };
            prop_assert!(policy.delay(attempt, &SeededRandom::new(seed)) <= secs(cap));
        }

        #[test]
        fn jitter_takes_off_no_more_than_its_share(attempt in 1_u32..50, seed: u64) {
            let dice = SeededRandom::new(seed);
            let full = CALM.delay(attempt, &dice);
            let jittered = RetryPolicy::CALLS.delay(attempt, &dice);
            prop_assert!(jittered <= full && jittered >= full.mul_f64(0.8));
        }
    }
}
