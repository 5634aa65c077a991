//! The stream behind the body of a watch.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use tokio::time::{Instant, sleep_until};

use crate::body::{Body, Reset};
use crate::faults::{Cut, Feed, Freshness, Sight};
use crate::store::{Event, Expired, ResourceId, Snapshot};

use super::{Lens, Start, Terms, line};

/// How long a watch runs when the client names no limit.
const LONGEST: Duration = Duration::from_secs(45 * 60);
/// How often a client that wants bookmarks gets one.
const BOOKMARK_PERIOD: Duration = Duration::from_secs(60);
/// A last bookmark comes this long before the end, so that the client resumes near it.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);
/// Events that wait are sent together, in chunks of about this size.
const CHUNK: usize = 64 * 1024;

/// Starts a watch of `resource` as `sight` shows it. A start that the log no longer reaches is
/// told in the stream, as a real server does.
pub(crate) fn watch(
    sight: &Sight,
    resource: &ResourceId,
    terms: Terms,
    lens: Arc<dyn Lens>,
) -> Body {
    match open(sight, resource, terms, &*lens) {
        Ok((feed, first)) => Watch::new(feed, first, terms, lens).into_body(),
        Err(expired) => {
            let mut chunk = Vec::new();
            line::expired(&mut chunk, &expired);
            chunk.into()
        }
    }
}

/// The feed of a watch, and what it tells before that.
fn open(
    sight: &Sight,
    resource: &ResourceId,
    terms: Terms,
    lens: &dyn Lens,
) -> Result<(Feed, Vec<u8>), Expired> {
    if let Start::After(revision) = terms.start {
        return Ok((sight.subscribe(resource, revision)?, Vec::new()));
    }
    let state = sight.snapshot(resource, Freshness::Cached);
    let feed = sight.subscribe(resource, state.revision)?;
    let mut first = tell_state(&state, lens);
    if terms.start == Start::StateWithEnd && terms.bookmarks {
        line::bookmark(&mut first, state.revision, true, lens);
    }
    Ok((feed, first))
}

fn tell_state(state: &Snapshot, lens: &dyn Lens) -> Vec<u8> {
    let mut out = Vec::new();
    for (key, object) in &state.objects {
        if lens.selects(key, object) {
            line::added(&mut out, object, lens);
        }
    }
    out
}

/// A watch that runs.
struct Watch {
    feed: Feed,
    lens: Arc<dyn Lens>,
    /// What is to be told before anything that happens.
    first: Vec<u8>,
    deadline: Instant,
    next_bookmark: Option<Instant>,
    /// How the watch ends, once that is known.
    end: Option<End>,
}

/// What is still to be said at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Nothing,
    Reset,
}

/// What a watch waited for.
enum Wake {
    Told(Result<Arc<Event>, Cut>),
    Bookmark,
    Deadline,
}

impl Watch {
    fn new(feed: Feed, first: Vec<u8>, terms: Terms, lens: Arc<dyn Lens>) -> Self {
        let deadline = Instant::now() + terms.timeout.unwrap_or(LONGEST);
        let next_bookmark = terms.bookmarks.then(|| next_bookmark(deadline));
        Self {
            feed,
            lens,
            first,
            deadline,
            next_bookmark,
            end: None,
        }
    }

    fn into_body(self) -> Body {
        Body::stream(stream::unfold(self, |mut watch| async move {
            let chunk = watch.next_chunk().await?;
            Some((chunk, watch))
        }))
    }

    /// The next piece of the body; `None` at its end.
    async fn next_chunk(&mut self) -> Option<Result<Bytes, Reset>> {
        let mut chunk = std::mem::take(&mut self.first);
        while chunk.is_empty() {
            if let Some(end) = self.end.replace(End::Nothing) {
                return (end == End::Reset).then_some(Err(Reset));
            }
            self.end = None;
            match self.wait().await {
                Wake::Told(told) => self.tell(&mut chunk, told),
                Wake::Bookmark => self.bookmark(&mut chunk),
                Wake::Deadline => self.end = Some(End::Nothing),
            }
        }
        Some(Ok(chunk.into()))
    }

    async fn wait(&mut self) -> Wake {
        let bookmark = self.next_bookmark.unwrap_or(self.deadline);
        tokio::select! {
            // In this order: what has happened is told before the stream ends.
            biased;
            told = self.feed.next() => Wake::Told(told),
            () = sleep_until(self.deadline) => Wake::Deadline,
            () = sleep_until(bookmark), if self.next_bookmark.is_some() => Wake::Bookmark,
        }
    }

    /// Writes what was told, and what waits behind it as long as the chunk is small.
    fn tell(&mut self, chunk: &mut Vec<u8>, told: Result<Arc<Event>, Cut>) {
        let mut next = Some(told);
        while let Some(told) = next {
            match told {
                Ok(event) => line::event(chunk, &event, &*self.lens),
                Err(Cut::Close) => self.end = Some(End::Nothing),
                Err(Cut::Reset) => self.end = Some(End::Reset),
            }
            let full = self.end.is_some() || chunk.len() >= CHUNK;
            next = if full { None } else { self.feed.try_next() };
        }
    }

    fn bookmark(&mut self, chunk: &mut Vec<u8>) {
        line::bookmark(chunk, self.feed.progress(), false, &*self.lens);
        self.next_bookmark = Some(next_bookmark(self.deadline));
    }
}

/// In a minute, or shortly before the end when that comes first.
fn next_bookmark(deadline: Instant) -> Instant {
    let now = Instant::now();
    let last = deadline
        .checked_sub(LAST_BOOKMARK)
        .filter(|last| *last > now);
    last.map_or(now + BOOKMARK_PERIOD, |last| {
        last.min(now + BOOKMARK_PERIOD)
    })
}
