//! A million keys fit.

use evenkeel_reconcile::Delays;
use evenkeel_reconcile::runner::{Moment, Queue, Request};

use super::*;

/// What the process holds in memory, as the kernel counts it.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("procfs");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .expect("VmRSS");
    let kilobytes = line.split_whitespace().nth(1).expect("a number");
    kilobytes.parse::<usize>().expect("a number") * 1024
}

#[test]
#[cfg(target_os = "linux")]
fn a_million_queued_keys_take_less_than_300_bytes_each() {
    const KEYS: usize = 1_000_000;
    let before = resident_bytes();
    let mut queue = Queue::new(Delays::default(), None, Arc::new(SeededRandom::new(1)));
    for key in 0..KEYS {
        let key: Arc<str> = format!("namespace-{:03}/object-{key:07}", key % 997).into();
        queue.add(key, Request::changed().generation(1), Moment::START);
    }
    let bytes = resident_bytes().saturating_sub(before) / KEYS;
    assert_eq!(queue.load(Moment::START).changes, KEYS);
    // The lower bound shows that something was measured: the key's own text is 30 bytes.
    assert!((60..300).contains(&bytes), "{bytes} bytes a key");
}
