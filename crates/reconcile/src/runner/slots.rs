//! Keys with a number: a map whose values keep their place while they live.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::{Index, IndexMut};

/// The number of a key. Reused after the key is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u32);

/// A map from keys to values that can also be reached by a small number, so that ordered sets
/// need four bytes for a key instead of the key.
#[derive(Debug)]
pub(super) struct Slots<K, V> {
    by_key: HashMap<K, Slot>,
    places: Vec<Option<(K, V)>>,
    free: Vec<Slot>,
}

impl<K: Clone + Eq + Hash, V> Slots<K, V> {
    pub(super) fn new() -> Self {
        Self {
            by_key: HashMap::new(),
            places: Vec::new(),
            free: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }

    pub(super) fn slot_of(&self, key: &K) -> Option<Slot> {
        self.by_key.get(key).copied()
    }

    pub(super) fn key(&self, slot: Slot) -> &K {
        &self.place(slot).0
    }

    pub(super) fn get_or_insert_with(&mut self, key: K, value: impl FnOnce() -> V) -> Slot {
        if let Some(slot) = self.slot_of(&key) {
            return slot;
        }
        let slot = self.free.pop().unwrap_or_else(|| self.append());
        self.places[slot.0 as usize] = Some((key.clone(), value()));
        self.by_key.insert(key, slot);
        slot
    }

    fn append(&mut self) -> Slot {
        let slot = Slot(u32::try_from(self.places.len()).expect("fewer than 2^32 keys"));
        self.places.push(None);
        slot
    }

    pub(super) fn remove(&mut self, slot: Slot) {
        if let Some((key, _)) = self.places[slot.0 as usize].take() {
            self.by_key.remove(&key);
            self.free.push(slot);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(K, V)> {
        self.places.iter().flatten()
    }

    fn place(&self, slot: Slot) -> &(K, V) {
        self.places[slot.0 as usize]
            .as_ref()
            .expect("a slot is used only while its key lives")
    }
}

impl<K: Clone + Eq + Hash, V> Index<Slot> for Slots<K, V> {
    type Output = V;

    fn index(&self, slot: Slot) -> &V {
        &self.place(slot).1
    }
}

impl<K: Clone + Eq + Hash, V> IndexMut<Slot> for Slots<K, V> {
    fn index_mut(&mut self, slot: Slot) -> &mut V {
        let place = self.places[slot.0 as usize].as_mut();
        &mut place.expect("a slot is used only while its key lives").1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_keeps_its_slot_and_a_freed_slot_is_reused() {
        let mut slots = Slots::new();
        let a = slots.get_or_insert_with("a", || 1);
        let b = slots.get_or_insert_with("b", || 2);
        assert_eq!(slots.get_or_insert_with("a", || 9), a);
        assert_eq!((slots[a], slots[b], slots.len()), (1, 2, 2));

        slots.remove(a);
        assert_eq!((slots.slot_of(&"a"), slots.len()), (None, 1));
        let c = slots.get_or_insert_with("c", || 3);
        assert_eq!((c, *slots.key(c), slots[c]), (a, "c", 3));
    }
}
