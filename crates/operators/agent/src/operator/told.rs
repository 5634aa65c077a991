//! What people are told of a pass: one Event for each kind of deed.

use std::collections::BTreeSet;

use evenkeel_controller::Told;
use evenkeel_kubeset::{Converged, ObjectKey};
use evenkeel_reconcile::Word;

/// What was done to the objects of an agent, in a few sentences.
pub(super) fn of(converged: &Converged) -> Vec<Told> {
    let drifted: BTreeSet<_> = converged.drift.iter().map(|drift| &drift.key).collect();
    let with = |words: &[Word], was_drift: bool| -> Vec<&ObjectKey> {
        let changes = converged.changes().iter();
        let meant = changes.filter(|change| words.contains(&change.word));
        let keys = meant.map(|change| &change.key);
        keys.filter(|key| drifted.contains(key) == was_drift)
            .collect()
    };
    let put_right = with(&[Word::Created, Word::Updated], true);
    let deeds = [
        ("ObjectsCreated", "made", with(&[Word::Created], false)),
        (
            "ObjectsUpdated",
            "changed",
            with(&[Word::Updated, Word::Adopted], false),
        ),
        ("DriftRepaired", "put right, as others changed", put_right),
        (
            "ObjectsPruned",
            "removed, as nobody needs them any more:",
            with(&[Word::Deleted, Word::Deleting], false),
        ),
    ];
    let done = deeds.into_iter().filter(|(_, _, keys)| !keys.is_empty());
    done.map(|(reason, verb, keys)| told(reason, &format!("{verb} {}", listed(&keys))))
        .collect()
}

fn told(reason: &str, note: &str) -> Told {
    Told {
        warning: false,
        reason: reason.to_owned(),
        action: "Converge".to_owned(),
        note: note.to_owned(),
    }
}

fn listed(keys: &[&ObjectKey]) -> String {
    let names = keys
        .iter()
        .map(|key| format!("{} {}", key.kind.kind, key.name));
    names.collect::<Vec<_>>().join(", ")
}
