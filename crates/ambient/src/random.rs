//! Dice, handed in by whoever started the program.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use uuid::Uuid;

/// Dice that many owners share.
pub type SharedRandom = Arc<dyn Random>;

/// A source of random bytes; everything else is derived from them.
pub trait Random: Debug + Send + Sync + 'static {
    /// Fills `bytes` with randomness.
    fn fill(&self, bytes: &mut [u8]);

    /// A random 64-bit number.
    fn next_u64(&self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// A random number from 0 up to, but not including, 1.
    fn unit(&self) -> f64 {
        // 53 bits are all that a double can hold without rounding up to 1.
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A random (version 4) UUID.
    fn uuid(&self) -> Uuid {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }
}

/// The operating system's own randomness, fit for secrets.
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

/// The same numbers every time for the same seed. For tests, never for secrets.
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
        let mut rng = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rng.fill_bytes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_sequence() {
        let (one, two) = (SeededRandom::new(7), SeededRandom::new(7));
        assert_eq!(one.uuid(), two.uuid());
        assert_ne!(one.next_u64(), SeededRandom::new(8).next_u64());
    }

    #[test]
    fn unit_stays_below_one() {
        let dice = SeededRandom::new(1);
        assert!((0..10_000).all(|_| (0.0..1.0).contains(&dice.unit())));
    }

    #[test]
    fn uuids_are_version_four() {
        assert_eq!(SystemRandom.uuid().get_version_num(), 4);
    }
}
