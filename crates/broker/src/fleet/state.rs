//! Target state: what one agent is served, and the version by which it asks whether that changed.

use std::fmt::Write as _;

use evenkeel_model::{
    AgentStatus, Assignment, Checksum, ObjectControl, ObjectKind, ObjectRef, Order,
};

/// What an agent is served at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TargetState {
    /// Whether the agent is to work; one that is not gets nothing.
    pub(crate) active: bool,
    /// In ascending order of sequence id.
    pub(crate) objects: Vec<Served>,
    /// Grows with every question that the agent is asked.
    pub(crate) inbox: i64,
    /// Names the state: the same on every broker, another one whenever anything differs.
    pub(crate) version: String,
}

/// One object that is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Served {
    pub(crate) object: ObjectRef,
    pub(crate) control: ObjectControl,
}

impl TargetState {
    /// What follows from the agent's assignments.
    pub(crate) fn of<'a>(
        status: AgentStatus,
        assignments: impl IntoIterator<Item = &'a Assignment>,
    ) -> Self {
        let active = status == AgentStatus::Active;
        let (mut objects, mut inbox) = (Vec::new(), 0);
        for assignment in assignments.into_iter().filter(|_| active) {
            objects.extend(served(assignment));
            inbox = inbox.max(assignment.asked);
        }
        objects.sort_unstable_by_key(|served| served.object.sequence_id);
        let version = version(active, &objects, inbox);
        Self {
            active,
            objects,
            inbox,
            version,
        }
    }
}

/// What is served of an assignment. A failed attempt takes nothing away. A deletion marker on a
/// stack that lives on is served until this agent has confirmed it; those that end an assignment
/// go with the assignment itself.
fn served(assignment: &Assignment) -> Option<Served> {
    let wanted = assignment.wanted.as_ref()?;
    let confirmed = assignment.observed.applied == Some(wanted.sequence_id);
    let emptied = assignment.order == Order::Serve && wanted.kind == ObjectKind::Deletion;
    (!(emptied && confirmed)).then(|| Served {
        object: wanted.clone(),
        control: assignment.served_control(),
    })
}

fn version(active: bool, objects: &[Served], inbox: i64) -> String {
    let mut text = String::from(if active { "active" } else { "inactive" });
    for Served { object, control } in objects {
        let _ = write!(text, " {}", object.sequence_id);
        if !control.is_default() {
            let (suspended, approved) = (control.suspended, control.approved);
            let _ = write!(text, ":{suspended}:{}:{approved}", control.reconcile_token);
            if let Some(mode) = control.drift {
                let _ = write!(text, ":{mode}");
            }
        }
    }
    if inbox > 0 {
        let _ = write!(text, " asked {inbox}");
    }
    let mut digest = String::from(Checksum::of(text));
    digest.truncate(32);
    digest
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_model::{
        AgentId, Control, DeploymentId, DriftMode, Observed, SequenceId, StackId,
    };
    use jiff::Timestamp;
    use uuid::Uuid;

    fn assignment(stack: u128, sequence: i64, order: Order, kind: ObjectKind) -> Assignment {
        let stack_id = StackId(Uuid::from_u128(stack));
        Assignment {
            agent_id: AgentId(Uuid::nil()),
            stack_id,
            order,
            ordered_at: Timestamp::UNIX_EPOCH,
            wanted: Some(ObjectRef {
                id: DeploymentId(Uuid::from_u128(sequence.unsigned_abs().into())),
                sequence_id: SequenceId(sequence),
                stack_id,
                kind,
                yaml_checksum: Checksum::of("x"),
                submitted_at: Timestamp::UNIX_EPOCH,
                take_from: Vec::new(),
            }),
            control: Control::default(),
            asked: 0,
            observed: Observed::default(),
        }
    }

    fn applied(mut assignment: Assignment) -> Assignment {
        assignment.observed.applied = assignment.desired();
        assignment
    }

    fn sequences(state: &TargetState) -> Vec<i64> {
        state
            .objects
            .iter()
            .map(|served| served.object.sequence_id.0)
            .collect()
    }

    #[test]
    fn objects_ascend_whatever_the_order_of_stacks() {
        let rows = [
            assignment(1, 9, Order::Serve, ObjectKind::Revision),
            assignment(2, 3, Order::Release, ObjectKind::Release),
            assignment(3, 5, Order::Delete, ObjectKind::Deletion),
        ];
        assert_eq!(
            sequences(&TargetState::of(AgentStatus::Active, &rows)),
            [3, 5, 9]
        );
    }

    #[test]
    fn an_inactive_agent_gets_nothing_and_can_tell() {
        let rows = [assignment(1, 9, Order::Serve, ObjectKind::Revision)];
        let paused = TargetState::of(AgentStatus::Inactive, &rows);
        let idle = TargetState::of(AgentStatus::Active, &[]);
        assert!(paused.objects.is_empty() && !paused.active);
        assert_ne!(paused.version, idle.version);
    }

    #[test]
    fn what_was_applied_stays_and_what_was_emptied_goes() {
        let kept = applied(assignment(1, 4, Order::Serve, ObjectKind::Revision));
        let emptied = applied(assignment(2, 5, Order::Serve, ObjectKind::Deletion));
        let to_empty = assignment(3, 6, Order::Serve, ObjectKind::Deletion);
        let state = TargetState::of(AgentStatus::Active, &[kept, emptied, to_empty]);
        assert_eq!(sequences(&state), [4, 6]);
    }

    #[test]
    fn the_version_changes_with_control_and_with_questions() {
        let plain = assignment(1, 4, Order::Serve, ObjectKind::Revision);
        let with = |control| Assignment {
            control,
            ..plain.clone()
        };
        let asked = Assignment {
            asked: 7,
            ..plain.clone()
        };
        let now = Timestamp::UNIX_EPOCH;
        let free = Control::default;
        let rows = [
            with(free().suspend(&evenkeel_model::Actor::SYSTEM, now)),
            with(free().reconcile()),
            with(free().reconcile().reconcile()),
            with(free().approve(SequenceId(4))),
            with(free().about_drift(Some(DriftMode::Off))),
            with(free().about_drift(Some(DriftMode::Warn))),
            asked,
            plain.clone(),
        ];
        let of = |row: &Assignment| TargetState::of(AgentStatus::Active, [row]).version;
        let versions: std::collections::BTreeSet<_> = rows.iter().map(of).collect();
        assert_eq!(versions.len(), rows.len(), "each differs from each");
        let elsewhere = with(free().approve(SequenceId(3)));
        assert_eq!(
            of(&elsewhere),
            of(&plain),
            "the approval is of another object"
        );
    }

    #[test]
    fn the_version_changes_with_the_objects_only() {
        let row = assignment(1, 4, Order::Serve, ObjectKind::Revision);
        let mut failed = row.clone();
        failed.observed.attempts = 3;
        failed.observed.last_error = Some("no".into());
        let of = |row: &Assignment| TargetState::of(AgentStatus::Active, [row]).version;
        assert_eq!(of(&row), of(&failed));
        assert_ne!(
            of(&row),
            of(&assignment(1, 5, Order::Serve, ObjectKind::Revision))
        );
    }
}
