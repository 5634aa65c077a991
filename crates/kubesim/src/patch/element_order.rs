//! The order of a list after a strategic merge: what the patch names stands in the patch's order,
//! what only the server has stays where it was among the rest.

use serde_json::Value;

use super::PatchError;
use super::strategic::key_of;
use crate::field_error::go_text;

/// How the items of a list are told apart: by a key, or as they are when it is empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct Items<'a> {
    key: &'a str,
}

impl<'a> Items<'a> {
    pub(super) fn by(key: &'a str) -> Self {
        Self { key }
    }

    /// Keeps the first of equal scalars.
    pub(super) fn deduplicate(self, list: &mut Vec<Value>) {
        let mut seen: Vec<Value> = Vec::new();
        list.retain(|item| {
            let new = !seen.contains(item);
            if new {
                seen.push(item.clone());
            }
            new
        });
    }

    /// The changes must come in the order that is to be set.
    pub(super) fn check_order(self, changes: &[Value], wanted: &[Value]) -> Result<(), PatchError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let is_change = |item: &&Value| item.get("$patch").is_none();
        let mut left = wanted.iter();
        for change in changes.iter().filter(is_change) {
            if !left.any(|item| self.same(item, change)) {
                return Err(out_of_order(changes, wanted));
            }
        }
        Ok(())
    }

    fn same(self, one: &Value, two: &Value) -> bool {
        match self.key {
            "" => one == two,
            key => one.get(key).is_some() && one.get(key) == two.get(key),
        }
    }

    fn place(self, item: &Value, order: &[Value]) -> Option<usize> {
        order.iter().position(|known| self.same(known, item))
    }
}

fn out_of_order(changes: &[Value], wanted: &[Value]) -> PatchError {
    let text = |list: &[Value]| go_text(&Value::Array(list.to_vec()));
    PatchError::Failed(format!(
        "The order in patch list:\n{}\n doesn't match $setElementOrder list:\n{}\n",
        text(changes),
        text(wanted)
    ))
}

/// Puts the merged items in order.
pub(super) fn order(
    merged: Vec<Value>,
    wanted: &[Value],
    server_order: &[Value],
    items: Items<'_>,
) -> Result<Vec<Value>, PatchError> {
    if !items.key.is_empty() {
        for item in merged.iter().chain(wanted) {
            key_of(item, items.key)?;
        }
    }
    let (mut named, mut others): (Vec<Value>, Vec<Value>) = merged
        .into_iter()
        .partition(|item| items.place(item, wanted).is_some());
    named.sort_by_key(|item| items.place(item, wanted));
    others.sort_by_key(|item| items.place(item, server_order));
    Ok(interleave(others, named, server_order, items))
}

/// Of the server's next item and the patch's, the server's goes first only if it stood before the
/// other one already.
fn interleave(
    others: Vec<Value>,
    named: Vec<Value>,
    server_order: &[Value],
    items: Items<'_>,
) -> Vec<Value> {
    let mut others = others.into_iter().peekable();
    let mut named = named.into_iter().peekable();
    let mut all = Vec::new();
    loop {
        let earlier = match (others.peek(), named.peek()) {
            (Some(other), Some(name)) => {
                let places = (
                    items.place(other, server_order),
                    items.place(name, server_order),
                );
                matches!(places, (Some(one), Some(two)) if one < two)
            }
            (other, _) => other.is_some(),
        };
        let next = if earlier { others.next() } else { named.next() };
        match next {
            Some(item) => all.push(item),
            None => return all,
        }
    }
}
