//! Shares of the broker's time: a bucket that fills at a steady rate and is emptied by requests.

use tokio::time::Instant;

/// How fast a bucket fills and how much it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    /// Requests per second; 0 for no limit.
    pub(crate) per_second: u32,
    /// How many may come at once.
    pub(crate) burst: u32,
}

/// What is left of one caller's share.
#[derive(Debug, Default)]
pub(crate) struct Bucket {
    /// Since when the share has been counted, and what was left then. Nothing yet: it is full.
    counted: Option<(Instant, f64)>,
}

impl Bucket {
    /// Takes one request; otherwise says in how many seconds there is one again.
    pub(crate) fn take(&mut self, rate: Rate) -> Result<(), u64> {
        if rate.per_second == 0 {
            return Ok(());
        }
        let (now, fills) = (Instant::now(), f64::from(rate.per_second));
        let full = f64::from(rate.burst.max(1));
        let left = self.counted.map_or(full, |(then, left)| {
            (now.duration_since(then).as_secs_f64().mul_add(fills, left)).min(full)
        });
        let enough = left >= 1.0;
        self.counted = Some((now, if enough { left - 1.0 } else { left }));
        if enough {
            Ok(())
        } else {
            Err(((1.0 - left) / fills).ceil().max(1.0) as u64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_then_the_rate_counts() {
        let rate = Rate {
            per_second: 2,
            burst: 5,
        };
        let mut bucket = Bucket::default();
        assert!((0..5).all(|_| bucket.take(rate).is_ok()));
        assert_eq!(bucket.take(rate), Err(1));
        tokio::time::advance(Duration::from_millis(1001)).await;
        assert!(bucket.take(rate).is_ok() && bucket.take(rate).is_ok());
        assert!(bucket.take(rate).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_rate_of_nothing_is_no_limit() {
        let mut bucket = Bucket::default();
        let rate = Rate {
            per_second: 0,
            burst: 0,
        };
        assert!((0..1000).all(|_| bucket.take(rate).is_ok()));
    }
}
