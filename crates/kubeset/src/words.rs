//! Texts that many objects share, kept once.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Texts in use: namespaces, owners, controllers.
#[derive(Debug, Default)]
pub(crate) struct Words(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    words: HashSet<Arc<str>>,
    /// How many there may be before those are dropped that nobody uses any more.
    tidy_at: usize,
}

impl Words {
    /// `text`, shared with everybody else who says it.
    pub(crate) fn word(&self, text: &str) -> Arc<str> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(word) = kept.words.get(text) {
            return word.clone();
        }
        if kept.words.len() >= kept.tidy_at {
            kept.words.retain(|word| Arc::strong_count(word) > 1);
            kept.tidy_at = 2 * kept.words.len() + 64;
        }
        let word: Arc<str> = text.into();
        kept.words.insert(word.clone());
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_kept_once_and_no_longer_than_it_is_used() {
        let words = Words::default();
        let one = words.word("default");
        assert!(Arc::ptr_eq(&one, &words.word("default")));
        for at in 0..10_000 {
            words.word(&at.to_string());
        }
        assert!(words.0.lock().unwrap().words.len() < 300);
        assert!(Arc::ptr_eq(&one, &words.word("default")));
    }
}
