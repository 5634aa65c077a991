//! From the words of the cluster to those of the fleet.

use evenkeel_kubeset::{Health, ObjectKey as ClusterKey};
use evenkeel_model::{HealthStatus, ObjectAction, ObjectChange, ObjectKey};
use evenkeel_reconcile::{Change, Word};

pub(crate) fn object(key: &ClusterKey) -> ObjectKey {
    ObjectKey {
        group: key.kind.group.clone(),
        kind: key.kind.kind.clone(),
        namespace: key.namespace.clone(),
        name: key.name.clone(),
    }
}

/// What became of one object, as an event says it.
pub(crate) fn change(change: &Change<ClusterKey>) -> ObjectChange {
    let action = action(change);
    let tells = action != ObjectAction::Unchanged || change.word != Word::Kept;
    ObjectChange {
        object: object(&change.key),
        action,
        reason: tells.then(|| change.text.to_string()),
    }
}

fn action(change: &Change<ClusterKey>) -> ObjectAction {
    match change.word {
        Word::Created => ObjectAction::Created,
        Word::Updated => ObjectAction::Updated,
        Word::Adopted => ObjectAction::Adopted,
        Word::Deleted | Word::Deleting => ObjectAction::Deleted,
        Word::Kept if is_as_wanted(change) => ObjectAction::Unchanged,
        Word::Kept | Word::Released => ObjectAction::Kept,
        Word::Drifted | Word::Waiting | Word::Stale => ObjectAction::Unchanged,
        Word::Refused if needs_approval(change) => ObjectAction::Held,
        Word::Refused => ObjectAction::Refused,
        Word::Unseen | Word::Contended | Word::Failed | Word::NotReached => ObjectAction::Failed,
    }
}

fn is_as_wanted(change: &Change<ClusterKey>) -> bool {
    matches!(change.reason, "Current" | "DriftUnchecked")
}

/// Whether a person can let it go on by approving it.
pub(crate) fn needs_approval(change: &Change<ClusterKey>) -> bool {
    change.word == Word::Refused
        && matches!(change.reason, "Braked" | "NeedsApproval" | "EmptyDesired")
}

/// How an object is doing, and why.
pub(crate) fn health(health: &Health) -> (HealthStatus, Option<String>) {
    match health {
        Health::Current => (HealthStatus::Healthy, None),
        Health::Failed(why) => (HealthStatus::Failing, Some(why.clone())),
        Health::InProgress(why) => (HealthStatus::Degraded, Some(why.clone())),
        Health::Missing | Health::Terminating => (HealthStatus::Degraded, Some(health.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use evenkeel_kubeset::GroupKind;

    use super::*;

    fn said(word: Word, reason: &'static str) -> ObjectAction {
        let key = ClusterKey::new(GroupKind::new("", "ConfigMap"), Some("n"), "c");
        let text = "because".into();
        change(&Change {
            key,
            word,
            reason,
            text,
        })
        .action
    }

    #[test]
    fn what_is_as_wanted_is_unchanged_and_what_stays_is_kept() {
        assert_eq!(said(Word::Kept, "Current"), ObjectAction::Unchanged);
        assert_eq!(said(Word::Kept, "OfOther"), ObjectAction::Kept);
    }

    #[test]
    fn what_waits_for_approval_is_held_and_what_is_anothers_is_refused() {
        assert_eq!(said(Word::Refused, "Braked"), ObjectAction::Held);
        assert_eq!(said(Word::Refused, "OwnedByOther"), ObjectAction::Refused);
    }
}
