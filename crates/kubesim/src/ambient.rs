//! The simulator's own clock and dice, handed in by whoever makes a cluster.
//!
//! A cluster reads the time and draws randomness only from here, so a test holds both in its
//! hand. Durations (bookmarks, time limits, delays) run on tokio's time, which tests can pause.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use tokio::time::Instant;
use uuid::Uuid;

/// Tells the wall-clock time.
pub trait Clock: Debug + Send + Sync + 'static {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// A source of random bytes; everything else is derived from them.
pub trait Random: Debug + Send + Sync + 'static {
    /// Fills `bytes` with randomness.
    fn fill(&self, bytes: &mut [u8]);

    /// A random (version 4) UUID.
    fn uuid(&self) -> Uuid {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }

    /// The five characters that the server puts behind a `generateName`: no vowels and no digits
    /// that look like one, so that no words come out.
    fn name_suffix(&self) -> String {
        const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
        let mut bytes = [0; 5];
        self.fill(&mut bytes);
        bytes
            .iter()
            .map(|byte| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()]))
            .collect()
    }
}

/// The clock and the dice of one cluster.
#[derive(Debug, Clone)]
pub struct Ambient {
    /// Stamps objects.
    pub clock: Arc<dyn Clock>,
    /// Makes uids and generated names.
    pub random: Arc<dyn Random>,
}

impl Ambient {
    /// The machine's clock and randomness.
    pub fn system() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
        }
    }

    /// The same run every time: a clock that follows tokio's (pausable) time from a fixed date,
    /// and dice that fall by `seed`.
    pub fn seeded(seed: u64) -> Self {
        let clock = VirtualClock::from(Timestamp::constant(1_767_225_600, 0));
        Self {
            clock: Arc::new(clock),
            random: Arc::new(SeededRandom::new(seed)),
        }
    }
}

impl Default for Ambient {
    fn default() -> Self {
        Self::system()
    }
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the clock"
    )]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock that advances with tokio's time, so that a paused test moves it by sleeping.
#[derive(Debug, Clone, Copy)]
pub struct VirtualClock {
    start: Timestamp,
    origin: Instant,
}

impl From<Timestamp> for VirtualClock {
    /// Shows `start` now.
    fn from(start: Timestamp) -> Self {
        Self {
            start,
            origin: Instant::now(),
        }
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.origin.elapsed()).unwrap_or_default();
        self.start.saturating_add(passed).unwrap_or(self.start)
    }
}

/// The operating system's own randomness.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that draws real randomness"
    )]
    fn fill(&self, bytes: &mut [u8]) {
        rand::rng().fill_bytes(bytes);
    }
}

/// The same numbers every time for the same seed.
#[derive(Debug)]
pub struct SeededRandom(Mutex<StdRng>);

impl SeededRandom {
    /// Dice that always fall the same way for `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed)))
    }
}

impl Random for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .fill_bytes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_virtual_clock_follows_paused_time() {
        let clock = VirtualClock::from(Timestamp::UNIX_EPOCH);
        tokio::time::sleep(Duration::from_secs(90)).await;
        assert_eq!(clock.now().as_second(), 90);
    }

    #[tokio::test]
    async fn one_seed_gives_one_run() {
        let (one, two) = (Ambient::seeded(7), Ambient::seeded(7));
        assert_eq!(one.random.uuid(), two.random.uuid());
        assert_eq!(one.random.name_suffix(), two.random.name_suffix());
        assert_ne!(one.random.uuid(), Ambient::seeded(8).random.uuid());
    }

    #[test]
    fn suffixes_are_five_safe_characters() {
        let suffix = SystemRandom.name_suffix();
        assert_eq!(suffix.len(), 5);
        assert!(
            suffix
                .chars()
                .all(|c| !"aeiou013y".contains(c) && c.is_ascii_alphanumeric())
        );
    }
}
