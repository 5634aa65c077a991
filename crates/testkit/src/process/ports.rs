//! Free ports on the loopback address.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// Below the range from which Linux takes ports for outgoing connections: a port from that range
/// can be taken by a neighbour's request between our look and the program's bind.
const FIRST: u32 = 18_000;
const COUNT: u32 = 14_000;

/// A port that nobody listens on. Each call in this process gives another one, and processes begin
/// their search at different places.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(2_654_435_761) >> 8;
    (0..COUNT)
        .map(|_| {
            let step = start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
            (FIRST + step % COUNT) as u16
        })
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_calls_give_two_ports() {
        assert_ne!(free_port(), free_port());
    }
}
