//! Manifests in memory, by checksum, so that a new revision is read once and not by every agent.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evenkeel_model::Checksum;
use evenkeel_store::{Result, Store};

/// The manifests that were last asked for.
#[derive(Debug)]
pub(crate) struct Texts {
    half: usize,
    kept: Mutex<Generations>,
    /// One reads while the others wait: they most likely want the same.
    reading: tokio::sync::Mutex<()>,
}

/// What was asked for since the young half was last full, and before that.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<Checksum, Arc<str>>,
    young_bytes: usize,
    old: HashMap<Checksum, Arc<str>>,
}

impl Texts {
    /// Keeps about so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self {
            half: bytes / 2,
            kept: Mutex::default(),
            reading: tokio::sync::Mutex::default(),
        }
    }

    /// The text with this checksum.
    pub(crate) async fn get(
        &self,
        store: &dyn Store,
        checksum: &Checksum,
    ) -> Result<Option<Arc<str>>> {
        if let Some(text) = self.find(checksum) {
            return Ok(Some(text));
        }
        let _reading = self.reading.lock().await;
        if let Some(text) = self.find(checksum) {
            return Ok(Some(text));
        }
        let read = store.manifest_get(checksum).await?;
        Ok(read.map(|text| self.put(checksum.clone(), text.into())))
    }

    /// Keeps a text.
    pub(crate) fn put(&self, checksum: Checksum, text: Arc<str>) -> Arc<str> {
        let mut kept = self.lock();
        if kept.young_bytes + text.len() > self.half {
            kept.old = std::mem::take(&mut kept.young);
            kept.young_bytes = 0;
        }
        kept.young_bytes += text.len();
        kept.young.insert(checksum, Arc::clone(&text));
        text
    }

    fn find(&self, checksum: &Checksum) -> Option<Arc<str>> {
        let mut kept = self.lock();
        if let Some(text) = kept.young.get(checksum) {
            return Some(Arc::clone(text));
        }
        let text = kept.old.remove(checksum)?;
        drop(kept);
        Some(self.put(checksum.clone(), text))
    }

    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(texts: &Texts, text: &str) -> Checksum {
        let checksum = Checksum::of(text);
        texts.put(checksum.clone(), text.into());
        checksum
    }

    #[test]
    fn what_is_asked_for_stays_and_the_rest_goes() {
        let texts = Texts::new(20);
        let wanted = keep(&texts, "wanted");
        let forgotten = keep(&texts, "gone");
        for round in 0..10 {
            keep(&texts, &format!("round {round}"));
            assert!(texts.find(&wanted).is_some(), "{round}");
        }
        assert!(texts.find(&forgotten).is_none());
        let kept = texts.lock();
        let bytes: usize = kept
            .young
            .values()
            .chain(kept.old.values())
            .map(|t| t.len())
            .sum();
        assert!(bytes <= 40, "{bytes}");
    }
}
