//! What was done about every key, in words from a closed list.

use std::borrow::Cow;

/// What became of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Word {
    /// It was made.
    Created,
    /// It was changed.
    Updated,
    /// It was nobody's and became ours.
    Adopted,
    /// It is gone.
    Deleted,
    /// Its deletion was asked for and is not confirmed.
    Deleting,
    /// It stays, and is not ours any more.
    Released,
    /// It was left alone, rightly.
    Kept,
    /// It was left alone although somebody else changed it, as the policy says.
    Drifted,
    /// It was left alone until something that is under way has finished.
    Waiting,
    /// It was left alone because not everything could be seen.
    Unseen,
    /// It was left alone until somebody decides otherwise.
    Refused,
    /// It was left alone for a while, because somebody else changes it again and again.
    Contended,
    /// It had changed since it was seen; the next pass sees it as it is.
    Stale,
    /// Its action failed.
    Failed,
    /// Its action was not tried, because an earlier one failed.
    NotReached,
}

impl Word {
    /// Every word.
    pub const ALL: [Self; 15] = [
        Self::Created,
        Self::Updated,
        Self::Adopted,
        Self::Deleted,
        Self::Deleting,
        Self::Released,
        Self::Kept,
        Self::Drifted,
        Self::Waiting,
        Self::Unseen,
        Self::Refused,
        Self::Contended,
        Self::Stale,
        Self::Failed,
        Self::NotReached,
    ];

    /// The word in small letters, as metric labels and log lines use it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Adopted => "adopted",
            Self::Deleted => "deleted",
            Self::Deleting => "deleting",
            Self::Released => "released",
            Self::Kept => "kept",
            Self::Drifted => "drifted",
            Self::Waiting => "waiting",
            Self::Unseen => "unseen",
            Self::Refused => "refused",
            Self::Contended => "contended",
            Self::Stale => "stale",
            Self::Failed => "failed",
            Self::NotReached => "not-reached",
        }
    }

    /// Whether the world was written to.
    pub fn is_write(self) -> bool {
        match self {
            Self::Created
            | Self::Updated
            | Self::Adopted
            | Self::Deleted
            | Self::Deleting
            | Self::Released => true,
            Self::Kept
            | Self::Drifted
            | Self::Waiting
            | Self::Unseen
            | Self::Refused
            | Self::Contended
            | Self::Stale
            | Self::Failed
            | Self::NotReached => false,
        }
    }

    /// Whether the key is now as it should be, as far as the policy lets it.
    pub fn is_settled(self) -> bool {
        match self {
            Self::Created
            | Self::Updated
            | Self::Adopted
            | Self::Deleted
            | Self::Released
            | Self::Kept
            | Self::Drifted => true,
            Self::Deleting
            | Self::Waiting
            | Self::Unseen
            | Self::Refused
            | Self::Contended
            | Self::Stale
            | Self::Failed
            | Self::NotReached => false,
        }
    }
}

/// What became of one key, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change<K> {
    /// Which thing.
    pub key: K,
    /// What became of it.
    pub word: Word,
    /// Why, as a CamelCase word from a closed list.
    pub reason: &'static str,
    /// Why, for people to read.
    pub text: Cow<'static, str>,
}

/// What became of every key of a plan, in the order of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSet<K>(Vec<Change<K>>);

impl<K> Default for ChangeSet<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K> FromIterator<Change<K>> for ChangeSet<K> {
    fn from_iter<T: IntoIterator<Item = Change<K>>>(changes: T) -> Self {
        Self(changes.into_iter().collect())
    }
}

impl<K> ChangeSet<K> {
    /// The changes in the order of the plan.
    pub fn iter(&self) -> std::slice::Iter<'_, Change<K>> {
        self.0.iter()
    }

    /// How many changes there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys that `word` became of.
    pub fn keys(&self, word: Word) -> impl Iterator<Item = &K> {
        self.iter()
            .filter(move |change| change.word == word)
            .map(|change| &change.key)
    }

    /// How many keys `word` became of.
    pub fn count(&self, word: Word) -> usize {
        self.keys(word).count()
    }

    /// How often the world was written to.
    pub fn writes(&self) -> usize {
        self.iter().filter(|change| change.word.is_write()).count()
    }

    /// Whether every key is now as it should be.
    pub fn is_settled(&self) -> bool {
        self.iter().all(|change| change.word.is_settled())
    }
}

impl<'a, K> IntoIterator for &'a ChangeSet<K> {
    type Item = &'a Change<K>;
    type IntoIter = std::slice::Iter<'a, Change<K>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_listed_once_and_spelled_differently() {
        let mut spelled: Vec<_> = Word::ALL.map(Word::as_str).to_vec();
        spelled.sort_unstable();
        spelled.dedup();
        assert_eq!(spelled.len(), Word::ALL.len());
        assert!(Word::ALL.is_sorted(), "the list follows the declaration");
    }
}
