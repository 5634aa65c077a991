//! API keys as people hold them: `brokkr_<short>_<long>`.
//!
//! The short part is public and names the key; the long part is the secret, of which only a hash
//! is kept. A key opens something only if all three parts are right.

use std::fmt::Write as _;

use evenkeel_ambient::Random;
use evenkeel_model::{ApiKey, KeyHash, KeyMaterial};
use subtle::ConstantTimeEq as _;

const PREFIX: &str = "brokkr";
const SHORT_PREFIX: &str = "BR";
const SHORT_LENGTH: usize = 8;
const SECRET_BYTES: usize = 24;
const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// A key that was just minted. It is shown once and not kept.
pub(crate) struct Minted {
    pub(crate) text: String,
    pub(crate) material: KeyMaterial,
}

/// Mints a key.
pub(crate) fn mint(random: &dyn Random) -> Minted {
    let mut public = [0; SHORT_LENGTH];
    let mut secret = [0; SECRET_BYTES];
    random.fill(&mut public);
    random.fill(&mut secret);
    let short_token = short_token(&public);
    let long = base58(&secret);
    let text = format!("{PREFIX}_{short_token}_{long}");
    Minted {
        text,
        material: KeyMaterial {
            hash: KeyHash::of(&long),
            short_token,
        },
    }
}

/// A key that somebody presents: well-formed, but not yet known to open anything.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Presented<'a> {
    pub(crate) short_token: &'a str,
    pub(crate) hash: KeyHash,
}

impl<'a> Presented<'a> {
    /// Takes a key apart. Anything that could not have been minted is refused.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (prefix, rest) = text.split_once('_')?;
        let (short_token, long) = rest.split_once('_')?;
        let well_formed = prefix == PREFIX
            && short_token.len() == SHORT_LENGTH
            && short_token.starts_with(SHORT_PREFIX)
            && (SECRET_BYTES..=33).contains(&long.len())
            && [short_token, long]
                .iter()
                .all(|part| part.bytes().all(is_base58));
        well_formed.then(|| Self {
            short_token,
            hash: KeyHash::of(long),
        })
    }

    /// Whether this is that key. Takes the same time wherever the two differ.
    pub(crate) fn opens(&self, key: &ApiKey) -> bool {
        let (mine, its) = (self.hash.0.as_str(), key.hash.0.as_str());
        let same_hash = mine.as_bytes().ct_eq(its.as_bytes());
        let same_short = self
            .short_token
            .as_bytes()
            .ct_eq(key.short_token.as_bytes());
        (same_hash & same_short).into()
    }
}

fn is_base58(byte: u8) -> bool {
    ALPHABET.contains(&byte)
}

fn short_token(random: &[u8; SHORT_LENGTH]) -> String {
    let mut token = SHORT_PREFIX.to_owned();
    for byte in &random[SHORT_PREFIX.len()..] {
        // Public, so a slight bias towards the first letters gives nothing away.
        token.push(char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()]));
    }
    token
}

/// Base 58 without look-alike letters: each leading zero byte becomes a `1`.
fn base58(bytes: &[u8]) -> String {
    let mut digits: Vec<u32> = Vec::new();
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in &mut digits {
            carry += *digit << 8;
            *digit = carry % 58;
            carry /= 58;
        }
        while carry > 0 {
            digits.push(carry % 58);
            carry /= 58;
        }
    }
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let mut text = "1".repeat(zeros);
    for digit in digits.iter().rev() {
        let _ = text.write_char(char::from(ALPHABET[*digit as usize]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_ambient::SeededRandom;
    use evenkeel_model::{KeyId, Role};
    use jiff::Timestamp;
    use uuid::Uuid;

    fn kept(minted: &Minted) -> ApiKey {
        ApiKey {
            id: KeyId(Uuid::nil()),
            role: Role::Admin,
            hash: minted.material.hash.clone(),
            short_token: minted.material.short_token.clone(),
            description: None,
            created_at: Timestamp::UNIX_EPOCH,
            expires_at: None,
            revoked_at: None,
        }
    }

    #[test]
    fn base58_is_the_usual_one() {
        assert_eq!(base58(b"Hello World!"), "2NEpo7TZRRrLZSi2U");
        assert_eq!(base58(&[0, 0, 0x28, 0x7f, 0xb4, 0xcd]), "11233QC4");
    }

    #[test]
    fn every_minted_key_opens_what_is_kept_of_it() {
        let random = SeededRandom::new(3);
        for _ in 0..500 {
            let minted = mint(&random);
            let presented = Presented::parse(&minted.text).expect(&minted.text);
            assert!(presented.opens(&kept(&minted)));
            assert!(!presented.opens(&kept(&mint(&random))));
        }
    }

    #[test]
    fn the_prefix_and_the_short_token_count_too() {
        let random = SeededRandom::new(4);
        let minted = mint(&random);
        let long = minted.text.rsplit('_').next().unwrap();
        let short = &minted.material.short_token;
        assert_eq!(Presented::parse(&format!("x_y_{long}")), None);
        assert_eq!(Presented::parse(&format!("other_{short}_{long}")), None);
        let stranger = format!("brokkr_BRzzzzzz_{long}");
        assert!(!Presented::parse(&stranger).unwrap().opens(&kept(&minted)));
    }

    #[test]
    fn what_could_not_have_been_minted_is_refused() {
        for text in [
            "",
            "brokkr",
            "brokkr__",
            "brokkr_BR123456_",
            "brokkr_BR123456_0OIl",
            "_ _ _",
        ] {
            assert_eq!(Presented::parse(text), None, "{text}");
        }
    }
}
