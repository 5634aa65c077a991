//! The checksum of a manifest: lower-case hex SHA-256 of its bytes, exactly as submitted.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

/// Lower-case hex SHA-256.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[schema(value_type = String, pattern = "^[0-9a-f]{64}$")]
#[serde(try_from = "String", into = "String")]
pub struct Checksum(String);

/// A text that is not a checksum.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a checksum: 64 lower-case hexadecimal digits are expected")]
pub struct InvalidChecksum(String);

impl Checksum {
    /// The checksum of `bytes`.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(hex::encode(Sha256::digest(bytes)))
    }

    /// The hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Checksum {
    type Error = InvalidChecksum;

    fn try_from(text: String) -> Result<Self, InvalidChecksum> {
        let digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if text.len() == 64 && text.bytes().all(digit) {
            Ok(Self(text))
        } else {
            Err(InvalidChecksum(text))
        }
    }
}

impl FromStr for Checksum {
    type Err = InvalidChecksum;

    fn from_str(text: &str) -> Result<Self, InvalidChecksum> {
        Self::try_from(text.to_owned())
    }
}

impl From<Checksum> for String {
    fn from(checksum: Checksum) -> Self {
        checksum.0
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_nothing_is_the_well_known_digest() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Checksum::of("").as_str(), empty);
        assert_eq!(empty.parse::<Checksum>().unwrap(), Checksum::of(b""));
    }

    #[test]
    fn upper_case_and_md5_are_refused() {
        assert!(
            "D41D8CD98F00B204E9800998ECF8427E"
                .parse::<Checksum>()
                .is_err()
        );
        assert!(
            Checksum::of("x")
                .as_str()
                .to_uppercase()
                .parse::<Checksum>()
                .is_err()
        );
    }
}
