//! Signatures, as the Standard Webhooks convention has them: a receiver that checks id, time and
//! body against the signature knows that the broker sent them, and when.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use evenkeel_ambient::Random;
use ring::hmac;

/// What a made-up secret begins with; the rest is base 64.
const PREFIX: &str = "whsec_";
const SECRET_BYTES: usize = 32;

/// A secret to sign with.
pub(crate) fn made_up_secret(random: &dyn Random) -> String {
    let mut bytes = [0; SECRET_BYTES];
    random.fill(&mut bytes);
    format!("{PREFIX}{}", STANDARD.encode(bytes))
}

/// The signature of one message: `v1,` and the base 64 of its HMAC-SHA256.
pub(crate) fn signature(secret: &str, id: &str, timestamp: i64, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key_bytes(secret));
    let mut context = hmac::Context::with_key(&key);
    context.update(format!("{id}.{timestamp}.").as_bytes());
    context.update(body);
    format!("v1,{}", STANDARD.encode(context.sign()))
}

/// A secret is base 64 if it says so, and otherwise the text itself.
fn key_bytes(secret: &str) -> Vec<u8> {
    let decoded = secret
        .strip_prefix(PREFIX)
        .and_then(|text| STANDARD.decode(text).ok());
    decoded.unwrap_or_else(|| secret.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed independently with Python's `hmac` module.
    #[test]
    fn a_signature_is_what_other_implementations_compute() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let signed = signature(
            secret,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            br#"{"test": 2432232314}"#,
        );
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn every_part_counts() {
        let one = signature("s", "id", 1, b"body");
        assert_ne!(one, signature("t", "id", 1, b"body"));
        assert_ne!(one, signature("s", "ie", 1, b"body"));
        assert_ne!(one, signature("s", "id", 2, b"body"));
        assert_ne!(one, signature("s", "id", 1, b"bodies"));
    }
}
