//! Messages written by hand, field by field.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).expect("a short field");
    [&[number << 3 | 2, length], bytes].concat()
}

fn varint(number: u8, value: u8) -> Vec<u8> {
    vec![number << 3, value]
}

fn sent(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let names = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
    [
        MAGIC.to_vec(),
        field(1, &names),
        field(2, raw),
        field(3, b""),
        field(4, b""),
    ]
    .concat()
}

#[test]
fn a_secret_keeps_its_bytes_and_loses_what_was_never_set() {
    let metadata = [field(1, b"a"), field(2, b""), field(8, b"")].concat();
    let entry = [field(1, b"key"), field(2, b"value")].concat();
    let body = sent(
        "v1",
        "Secret",
        &[field(1, &metadata), field(2, &entry), field(3, b"Opaque")].concat(),
    );
    let secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "a"},
        "data": {"key": "dmFsdWU="},
        "type": "Opaque",
    });
    assert_eq!(decode(&body), Ok(secret));
}

#[test]
fn inlined_sources_numbers_and_times_are_found() {
    let empty_dir = field(2, &field(2, b""));
    let volume = [field(1, b"v"), empty_dir].concat();
    let spec = [field(1, &volume), varint(5, 0), field(3, b"Always")].concat();
    let metadata = field(8, &varint(1, 100));
    let pod = decode(&sent(
        "v1",
        "Pod",
        &[field(1, &metadata), field(2, &spec)].concat(),
    ))
    .unwrap();
    assert_eq!(
        pod["spec"]["volumes"],
        json!([{"name": "v", "emptyDir": {}}])
    );
    assert_eq!(pod["spec"]["activeDeadlineSeconds"], 0);
    assert_eq!(pod["metadata"]["creationTimestamp"], "1970-01-01T00:01:40Z");
}

#[test]
fn options_of_a_deletion_are_read_by_their_own_name() {
    let body = sent(
        "v1",
        "DeleteOptions",
        &[varint(1, 0), field(4, b"Foreground")].concat(),
    );
    let options = decode(&body).unwrap();
    assert_eq!(options["gracePeriodSeconds"], 0);
    assert_eq!(options["propagationPolicy"], "Foreground");
}

#[test]
fn what_is_no_message_is_refused() {
    assert_eq!(decode(b"{}"), Err(ProtobufError::NoPrefix));
    assert_eq!(decode(b"k8s\0\x0a\x7f"), Err(ProtobufError::Truncated));
    let unknown = decode(&sent("v1", "Nothing", b""));
    assert!(matches!(unknown, Err(ProtobufError::UnknownKind { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn no_bytes_make_it_panic(raw in prop::collection::vec(any::<u8>(), 0..100)) {
        let mut body = sent("v1", "Pod", b"");
        body.extend(raw);
        let _ = decode(&body);
    }
}
