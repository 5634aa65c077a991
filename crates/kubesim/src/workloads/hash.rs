//! Short hashes that controllers put into names and labels.

use serde_json::Value;

use super::template_text;

const OFFSET: u32 = 2_166_136_261;
const PRIME: u32 = 16_777_619;

/// The hash of a pod template, as it stands in `pod-template-hash`.
pub(super) fn of_template(template: &Value, collisions: Option<i64>) -> String {
    let mut hash = OFFSET;
    let text = template_text::of(template);
    let probe = collisions.map(|count| u32::try_from(count).unwrap_or_default().to_le_bytes());
    // The probe for collisions fills a buffer that is wider than its number.
    let probe = probe.map(|[a, b, c, d]| [a, b, c, d, 0, 0, 0, 0]);
    for byte in text.bytes().chain(probe.into_iter().flatten()) {
        hash = (hash ^ u32::from(byte)).wrapping_mul(PRIME);
    }
    encode(hash)
}

/// The hash of the data of a controller revision.
pub(super) fn of_revision(data: &str, collisions: Option<i64>) -> String {
    let mut hash = OFFSET;
    let probe = collisions
        .map(|count| count.to_string())
        .unwrap_or_default();
    for byte in data.bytes().chain(probe.bytes()) {
        hash = hash.wrapping_mul(PRIME) ^ u32::from(byte);
    }
    encode(hash)
}

/// Digits as letters and digits that spell no words.
fn encode(hash: u32) -> String {
    const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let digits = hash.to_string();
    let letter = |digit: u8| char::from(ALPHABET[usize::from(digit) % ALPHABET.len()]);
    digits.bytes().map(letter).collect()
}
