//! Bounds on what agents may say. A report must not be lost because it says too much: what is
//! over the bound is left out, the least telling first.

use evenkeel_model::{DriftRecord, HealthStatus, ObjectAction, ObjectChange, ObjectHealth};

/// The most bytes of a message.
const MESSAGE: usize = 64 << 10;
/// The most bytes of one object's reason.
const REASON: usize = 2 << 10;
/// The most objects of one report.
const OBJECTS: usize = 500;
/// The most findings of drift in one report, and the most fields of one.
const FINDINGS: usize = 100;
const FIELDS: usize = 50;

/// At most so many bytes, ending with a whole character. PostgreSQL has no place for NUL.
pub(super) fn text(mut text: String, most: usize) -> String {
    text.truncate(text.floor_char_boundary(most));
    if text.contains('\0') {
        text = text.replace('\0', "\u{fffd}");
    }
    text
}

pub(super) fn message(message: String) -> String {
    text(message, MESSAGE)
}

fn reason(reason: String) -> String {
    text(reason, REASON)
}

/// What was done to each object; of too many, first what went wrong, last what did not change.
pub(super) fn changes(mut changes: Vec<ObjectChange>) -> Vec<ObjectChange> {
    if changes.len() > OBJECTS {
        changes.sort_by_key(|change| dullness(change.action));
        changes.truncate(OBJECTS);
    }
    for change in &mut changes {
        change.reason = change.reason.take().map(reason);
    }
    changes
}

const fn dullness(action: ObjectAction) -> u8 {
    match action {
        ObjectAction::Failed | ObjectAction::Refused | ObjectAction::Held => 0,
        ObjectAction::Deleted | ObjectAction::Kept | ObjectAction::Adopted => 1,
        ObjectAction::Created | ObjectAction::Updated => 2,
        ObjectAction::Unchanged => 3,
    }
}

/// How each object is doing; of too many, the healthy ones are left out first.
pub(super) fn objects(mut objects: Vec<ObjectHealth>) -> Vec<ObjectHealth> {
    if objects.len() > OBJECTS {
        objects.sort_by_key(|object| object.status == HealthStatus::Healthy);
        objects.truncate(OBJECTS);
    }
    for object in &mut objects {
        object.reason = object.reason.take().map(reason);
    }
    objects
}

/// What others changed; of too many, the last.
pub(super) fn drift(mut records: Vec<DriftRecord>) -> Vec<DriftRecord> {
    records.sort_by_key(|record| record.at);
    records.drain(..records.len().saturating_sub(FINDINGS));
    for record in &mut records {
        record.fields.truncate(FIELDS);
        record.manager = record.manager.take().map(reason);
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_model::ObjectKey;

    fn change(number: usize, action: ObjectAction) -> ObjectChange {
        ObjectChange {
            object: ObjectKey {
                group: String::new(),
                kind: "ConfigMap".to_owned(),
                namespace: Some("default".to_owned()),
                name: number.to_string(),
            },
            action,
            reason: None,
        }
    }

    #[test]
    fn what_went_wrong_is_kept_when_much_is_left_out() {
        let mut many: Vec<_> = (0..2000)
            .map(|number| change(number, ObjectAction::Unchanged))
            .collect();
        many.push(change(2000, ObjectAction::Failed));
        let kept = changes(many);
        assert_eq!(kept.len(), OBJECTS);
        assert_eq!(kept[0].action, ObjectAction::Failed);
    }

    #[test]
    fn a_text_ends_with_a_whole_character() {
        assert_eq!(text("aéé".to_owned(), 4), "aé");
        assert_eq!(text("short".to_owned(), 64), "short");
        assert_eq!(text("a\0b".to_owned(), 64), "a\u{fffd}b");
    }
}
