//! Who a client's certificate says it is: the common name is the user, organisations are groups.
//!
//! Only certificates that the server's own authority has signed get here, so the little of their
//! structure that leads to the subject is read without further ado.

use crate::access::User;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const VERSION: u8 = 0xa0;
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANISATION: &[u8] = &[0x55, 0x04, 0x0a];

/// The user that a certificate (DER) names.
pub(super) fn user(certificate: &[u8]) -> Option<User> {
    let (_, certificate, _) = element(certificate)?;
    let (_, mut fields, _) = element(certificate)?;
    if fields.first() == Some(&VERSION) {
        fields = element(fields)?.2;
    }
    // Serial number, algorithm, issuer, validity.
    for _ in 0..4 {
        fields = element(fields)?.2;
    }
    let (_, mut names, _) = element(fields)?;
    let (mut name, mut groups) = (None, Vec::new());
    while let Some((SET, set, rest)) = element(names) {
        names = rest;
        let (SEQUENCE, pair, _) = element(set)? else {
            return None;
        };
        let (_, kind, value) = element(pair)?;
        let text = std::str::from_utf8(element(value)?.1).ok()?.to_owned();
        match kind {
            COMMON_NAME => name = Some(text),
            ORGANISATION => groups.push(text),
            _ => {}
        }
    }
    let user = User::named(&name?);
    Some(
        groups
            .iter()
            .rev()
            .fold(user, |user, group| user.in_group(group)),
    )
}

/// Tag, content and what follows.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        short if short < 0x80 => (usize::from(short), rest),
        long => {
            let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            if digits.len() > 4 {
                return None;
            }
            let length = digits
                .iter()
                .fold(0, |sum, digit| sum << 8 | usize::from(*digit));
            (length, rest)
        }
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}
