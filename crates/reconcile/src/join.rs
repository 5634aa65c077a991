//! Desired state, snapshot and record side by side, one row for each key, in one walk over all
//! three.

use std::iter::{self, Peekable};

use crate::desired::{Desired, Key, Rank, Wanted};
use crate::snapshot::{Observed, Recorded, Snapshot};

/// All that is known of one key.
pub(crate) struct Row<'a, K, I, L, V> {
    pub(crate) key: &'a K,
    pub(crate) wanted: Option<&'a Wanted<I, V>>,
    pub(crate) observed: Option<&'a Observed<L, V>>,
    /// Further things that claim the key.
    pub(crate) extra: &'a [Observed<L, V>],
    pub(crate) recorded: Option<&'a Recorded<V>>,
}

impl<K, I, L, V> Row<'_, K, I, L, V> {
    /// The place in the order of work: as wanted, else as seen.
    pub(crate) fn rank(&self) -> Rank {
        let wanted = self.wanted.map(|wanted| wanted.rank);
        wanted
            .or(self.observed.map(|seen| seen.rank))
            .unwrap_or_default()
    }
}

/// One row for each key that anybody knows of, in the order of the keys.
pub(crate) fn rows<'a, K: Key, I, L, V>(
    desired: &'a Desired<K, I, V>,
    snapshot: &'a Snapshot<K, L, V>,
) -> impl Iterator<Item = Row<'a, K, I, L, V>> {
    let mut wanted = desired.iter().peekable();
    let mut observed = snapshot.things.iter().peekable();
    let mut extra = snapshot.extra.iter().peekable();
    let mut recorded = snapshot.record.iter().flatten().peekable();
    iter::from_fn(move || {
        let heads = [head(&mut wanted), head(&mut observed), head(&mut recorded)];
        let key = heads.into_iter().flatten().min()?;
        Some(Row {
            key,
            wanted: take(&mut wanted, key),
            observed: take(&mut observed, key),
            extra: take(&mut extra, key).map_or(&[], Vec::as_slice),
            recorded: take(&mut recorded, key),
        })
    })
}

fn head<'a, K: 'a, T: 'a>(
    side: &mut Peekable<impl Iterator<Item = (&'a K, &'a T)>>,
) -> Option<&'a K> {
    side.peek().map(|(key, _)| *key)
}

fn take<'a, K: Eq + 'a, T: 'a>(
    side: &mut Peekable<impl Iterator<Item = (&'a K, &'a T)>>,
    key: &K,
) -> Option<&'a T> {
    side.next_if(|(next, _)| *next == key)
        .map(|(_, value)| value)
}
