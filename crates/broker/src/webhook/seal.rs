//! Sealing: addresses and secrets are unreadable at rest.
//!
//! AES-256-GCM; a sealed text is the byte 1, twelve random bytes, and the ciphertext.

use std::fmt;

use evenkeel_ambient::Random;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

const VERSION: u8 = 1;
/// The bytes of a sealing key.
pub(crate) const KEY_BYTES: usize = 32;

/// A key that is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a sealing key has 64 hexadecimal digits")]
pub(crate) struct BadKey;

/// A sealed text that this key does not open, or that was tampered with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the sealed text cannot be opened with this key")]
pub(crate) struct CannotOpen;

/// What seals and opens.
pub(crate) struct Sealer(LessSafeKey);

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer")
    }
}

impl Sealer {
    /// From 64 hexadecimal digits.
    pub(crate) fn from_hex(digits: &str) -> Result<Self, BadKey> {
        let bytes = hex::decode(digits.trim()).map_err(|_| BadKey)?;
        let key = UnboundKey::new(&AES_256_GCM, &bytes).map_err(|_| BadKey)?;
        Ok(Self(LessSafeKey::new(key)))
    }

    /// 64 random hexadecimal digits.
    pub(crate) fn random_hex(random: &dyn Random) -> String {
        let mut bytes = [0; KEY_BYTES];
        random.fill(&mut bytes);
        hex::encode(bytes)
    }

    /// Seals a text.
    pub(crate) fn seal(&self, random: &dyn Random, text: &[u8]) -> Vec<u8> {
        let mut nonce = [0; NONCE_LEN];
        random.fill(&mut nonce);
        let mut sealed = text.to_vec();
        let unique = Nonce::assume_unique_for_key(nonce);
        // Fails only for texts of many gigabytes; what cannot be sealed must not be kept.
        if self
            .0
            .seal_in_place_append_tag(unique, Aad::from([VERSION]), &mut sealed)
            .is_err()
        {
            sealed.clear();
        }
        [&[VERSION], &nonce[..], &sealed].concat()
    }

    /// Opens a sealed text.
    pub(crate) fn open(&self, sealed: &[u8]) -> Result<String, CannotOpen> {
        let (&[VERSION], rest) = sealed.split_at_checked(1).ok_or(CannotOpen)? else {
            return Err(CannotOpen);
        };
        let (nonce, text) = rest.split_at_checked(NONCE_LEN).ok_or(CannotOpen)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| CannotOpen)?;
        let mut text = text.to_vec();
        let opened = self.0.open_in_place(nonce, Aad::from([VERSION]), &mut text);
        let opened = opened.map_err(|_| CannotOpen)?;
        String::from_utf8(opened.to_vec()).map_err(|_| CannotOpen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_ambient::SeededRandom;

    fn sealer(random: &SeededRandom) -> Sealer {
        Sealer::from_hex(&Sealer::random_hex(random)).unwrap()
    }

    #[test]
    fn what_is_sealed_can_be_opened_and_not_read() {
        let random = SeededRandom::new(1);
        let sealer = sealer(&random);
        let sealed = sealer.seal(&random, b"https://example.org/hook");
        assert_eq!(sealer.open(&sealed).unwrap(), "https://example.org/hook");
        assert!(!String::from_utf8_lossy(&sealed).contains("example"));
        assert_ne!(sealed, sealer.seal(&random, b"https://example.org/hook"));
    }

    #[test]
    fn another_key_or_a_changed_byte_opens_nothing() {
        let random = SeededRandom::new(2);
        let (mine, other) = (sealer(&random), sealer(&random));
        let sealed = mine.seal(&random, b"secret");
        assert_eq!(other.open(&sealed), Err(CannotOpen));
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(mine.open(&changed), Err(CannotOpen), "{at}");
        }
        assert_eq!(mine.open(b""), Err(CannotOpen));
    }

    #[test]
    fn a_key_has_sixty_four_digits() {
        assert!(Sealer::from_hex("abc").is_err() && Sealer::from_hex(&"ab".repeat(31)).is_err());
    }
}
