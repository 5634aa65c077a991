//! A stream of server-sent events.

use futures::{Stream, StreamExt};
use reqwest::Response;

/// A stream that says nothing but goes on is ended here.
const MAX_BYTES: usize = 8 << 20;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// `message` unless the server says otherwise.
    pub(super) name: String,
    pub(super) data: String,
}

/// The events of a response, until it ends or breaks.
pub(super) struct Events {
    bytes: std::pin::Pin<Box<dyn Stream<Item = Vec<u8>> + Send>>,
    pending: Vec<u8>,
    seen: usize,
}

impl Events {
    pub(super) fn of(response: Response) -> Self {
        let bytes = response.bytes_stream();
        let bytes = bytes.take_while(|chunk| std::future::ready(chunk.is_ok()));
        let bytes = bytes.filter_map(|chunk| std::future::ready(chunk.ok().map(|it| it.to_vec())));
        Self {
            bytes: Box::pin(bytes),
            pending: Vec::new(),
            seen: 0,
        }
    }

    /// The next event; `None` when there will be none.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some(block) = take_block(&mut self.pending) {
                if let Some(event) = parse(&block) {
                    return Some(event);
                }
            }
            let chunk = self.bytes.next().await?;
            self.seen += chunk.len();
            if self.seen > MAX_BYTES {
                return None;
            }
            self.pending
                .extend(chunk.into_iter().filter(|byte| *byte != b'\r'));
        }
    }
}

/// The lines up to the next empty one.
fn take_block(pending: &mut Vec<u8>) -> Option<String> {
    let end = pending.windows(2).position(|pair| pair == b"\n\n")?;
    let block: Vec<_> = pending.drain(..end + 2).collect();
    Some(String::from_utf8_lossy(&block).into_owned())
}

fn parse(block: &str) -> Option<Event> {
    let mut name = "message".to_owned();
    let mut data = Vec::new();
    for line in block.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut name),
            "data" => data.push(value),
            _ => {}
        }
    }
    (!data.is_empty()).then(|| Event {
        name,
        data: data.join("\n"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_told_apart_by_empty_lines() {
        let mut bytes =
            b": hi\n\nevent: endpoint\ndata: /m\n\ndata: a\ndata:b\n\ndata: half".to_vec();
        let mut events = Vec::new();
        while let Some(block) = take_block(&mut bytes) {
            events.extend(parse(&block));
        }
        let event = |name: &str, data: &str| Event {
            name: name.to_owned(),
            data: data.to_owned(),
        };
        assert_eq!(events, [event("endpoint", "/m"), event("message", "a\nb")]);
        assert_eq!(bytes, b"data: half");
    }
}
