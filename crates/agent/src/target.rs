//! What the agent is to hold, and what an answer of the broker changes about it.
//!
//! - An answer speaks of all stacks at once; of each stack its highest sequence id counts.
//! - An older revision than the one that is held is refused, unless that one said to remove the
//!   stack: a stack that returns may return with an older revision than its tombstone.
//! - Absence is no order. What an absent stack has stays as it is until somebody says otherwise.
//! - An agent that is not ACTIVE is told nothing, which changes nothing.

use std::collections::BTreeMap;

use evenkeel_api::DeploymentObject;
use evenkeel_client::TargetState;
use evenkeel_model::{AgentId, SequenceId, StackId};
use serde::{Deserialize, Serialize};

/// What the agent was last told, without texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Target {
    /// Which agent was told; a key may be exchanged for another agent's.
    pub(crate) agent: Option<AgentId>,
    /// The version of the answer; `None` when it is worth asking for all of it again.
    pub(crate) version: Option<String>,
    /// Whether the agent is to work.
    pub(crate) active: bool,
    /// What is to become of each stack.
    pub(crate) orders: BTreeMap<StackId, DeploymentObject>,
    /// Stacks of which nothing is said any more, and the revision that was last held.
    #[serde(default)]
    pub(crate) absent: BTreeMap<StackId, SequenceId>,
}

/// A revision that is older than what is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) object: DeploymentObject,
    pub(crate) held: SequenceId,
}

impl Target {
    /// What holds after `answer`, and which of its revisions are refused.
    pub(crate) fn after(&self, agent: AgentId, answer: TargetState) -> (Self, Vec<Refused>) {
        let known = if self.agent.is_none_or(|known| known == agent) {
            self.clone()
        } else {
            Self::default()
        };
        let told = Self {
            agent: Some(agent),
            version: Some(answer.version),
            active: answer.active,
            ..known.clone()
        };
        match answer.active {
            true => told.with(&known, newest(answer.objects)),
            false => (told, Vec::new()),
        }
    }

    fn with(
        mut self,
        known: &Self,
        mut said: BTreeMap<StackId, DeploymentObject>,
    ) -> (Self, Vec<Refused>) {
        let mut refused = Vec::new();
        said.retain(|stack, object| match known.too_old(*stack, object) {
            Some(held) => {
                let object = object.clone();
                refused.push(Refused { object, held });
                false
            }
            None => true,
        });
        let kept: Vec<_> = refused.iter().map(|one| one.object.stack_id).collect();
        for (stack, order) in std::mem::take(&mut self.orders) {
            if kept.contains(&stack) {
                self.orders.insert(stack, order);
            } else if !said.contains_key(&stack) && !order.kind.removes() {
                self.absent.insert(stack, order.sequence_id);
            }
        }
        self.absent.retain(|stack, _| !said.contains_key(stack));
        self.orders.append(&mut said);
        (self, refused)
    }

    /// The revision that is held, if `object` is older.
    fn too_old(&self, stack: StackId, object: &DeploymentObject) -> Option<SequenceId> {
        let ordered = self
            .orders
            .get(&stack)
            .filter(|order| !order.kind.removes());
        let held = ordered.map(|order| order.sequence_id);
        let held = held.or_else(|| self.absent.get(&stack).copied());
        held.filter(|held| object.sequence_id < *held && !object.kind.removes())
    }
}

/// The newest object of each stack, without its text.
fn newest(objects: Vec<DeploymentObject>) -> BTreeMap<StackId, DeploymentObject> {
    let mut newest = BTreeMap::<_, DeploymentObject>::new();
    for mut object in objects {
        object.yaml_content = None;
        let known = newest.get(&object.stack_id);
        if known.is_none_or(|known| known.sequence_id < object.sequence_id) {
            newest.insert(object.stack_id, object);
        }
    }
    newest
}

#[cfg(test)]
pub(crate) mod tests {
    use evenkeel_model::{Checksum, DeploymentId, ObjectKind, ObjectRef};
    use jiff::Timestamp;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    const ME: AgentId = AgentId(Uuid::from_u128(1));

    fn stack(number: u8) -> StackId {
        StackId(Uuid::from_u128(number.into()))
    }

    pub(crate) fn object(number: u8, sequence: i64, kind: ObjectKind) -> DeploymentObject {
        let object = ObjectRef {
            id: DeploymentId(Uuid::from_u128(sequence.unsigned_abs().into())),
            sequence_id: SequenceId(sequence),
            stack_id: stack(number),
            kind,
            yaml_checksum: Checksum::of(""),
            submitted_at: Timestamp::UNIX_EPOCH,
            take_from: Vec::new(),
        };
        DeploymentObject::new(object, None)
    }

    fn answer(objects: Vec<DeploymentObject>) -> TargetState {
        TargetState {
            version: "v".into(),
            active: true,
            inbox: 0,
            objects,
        }
    }

    fn told(known: &Target, objects: Vec<DeploymentObject>) -> (Target, Vec<i64>) {
        let (target, refused) = known.after(ME, answer(objects));
        let refused = refused.iter().map(|one| one.object.sequence_id.0);
        (target, refused.collect())
    }

    fn sequence(target: &Target, number: u8) -> Option<i64> {
        let order = target.orders.get(&stack(number));
        order.map(|order| order.sequence_id.0)
    }

    #[test]
    fn of_each_stack_the_highest_sequence_id_counts() {
        let objects = vec![
            object(1, 5, ObjectKind::Revision),
            object(2, 6, ObjectKind::Revision),
            object(1, 7, ObjectKind::Revision),
            object(1, 4, ObjectKind::Revision),
        ];
        let (target, refused) = told(&Target::default(), objects);
        assert_eq!(
            (sequence(&target, 1), sequence(&target, 2)),
            (Some(7), Some(6))
        );
        assert!(refused.is_empty());
    }

    #[test]
    fn an_older_revision_is_refused() {
        let (held, _) = told(&Target::default(), vec![object(1, 7, ObjectKind::Revision)]);
        let (target, refused) = told(&held, vec![object(1, 5, ObjectKind::Revision)]);
        assert_eq!((sequence(&target, 1), refused), (Some(7), vec![5]));
    }

    #[test]
    fn a_stack_that_returns_may_be_older_than_its_tombstone() {
        let (gone, _) = told(&Target::default(), vec![object(1, 7, ObjectKind::Release)]);
        let (target, refused) = told(&gone, vec![object(1, 5, ObjectKind::Revision)]);
        assert_eq!((sequence(&target, 1), refused), (Some(5), vec![]));
    }

    #[test]
    fn an_absent_stack_is_neither_removed_nor_taken_back_in_time() {
        let (held, _) = told(&Target::default(), vec![object(1, 7, ObjectKind::Revision)]);
        let (absent, _) = told(&held, vec![]);
        assert_eq!(sequence(&absent, 1), None);
        assert_eq!(absent.absent.get(&stack(1)), Some(&SequenceId(7)));
        let (target, refused) = told(&absent, vec![object(1, 5, ObjectKind::Revision)]);
        assert_eq!((sequence(&target, 1), refused), (None, vec![5]));
        let (target, _) = told(&absent, vec![object(1, 8, ObjectKind::Deletion)]);
        assert_eq!(sequence(&target, 1), Some(8));
        assert!(target.absent.is_empty());
    }

    #[test]
    fn what_an_inactive_agent_is_told_changes_nothing_but_that() {
        let (held, _) = told(&Target::default(), vec![object(1, 7, ObjectKind::Revision)]);
        let quiet = TargetState {
            active: false,
            ..answer(vec![])
        };
        let (target, _) = held.after(ME, quiet);
        assert_eq!((sequence(&target, 1), target.active), (Some(7), false));
        let (target, _) = told(&target, vec![object(1, 7, ObjectKind::Revision)]);
        assert!(target.active);
    }

    #[test]
    fn another_agent_begins_anew() {
        let (held, _) = told(&Target::default(), vec![object(1, 7, ObjectKind::Revision)]);
        let other = AgentId(Uuid::from_u128(2));
        let (target, refused) = held.after(other, answer(vec![object(1, 5, ObjectKind::Revision)]));
        assert_eq!(sequence(&target, 1), Some(5));
        assert!(refused.is_empty());
    }

    proptest! {
        /// Whatever is said in whatever order, the revision of a stack never goes back unless the
        /// stack was removed in between.
        #[test]
        fn revisions_never_go_back(says in proptest::collection::vec(
            proptest::collection::vec((1_u8..4, 1_i64..9, any::<bool>()), 0..4), 1..12)
        ) {
            let mut target = Target::default();
            for said in says {
                let objects = said.iter().map(|(number, sequence, removes)| {
                    let kind = if *removes { ObjectKind::Release } else { ObjectKind::Revision };
                    object(*number, *sequence, kind)
                });
                let (next, _) = told(&target, objects.collect());
                for (stack, order) in &target.orders {
                    let Some(new) = next.orders.get(stack) else { continue };
                    prop_assert!(order.kind.removes() || new.kind.removes()
                        || order.sequence_id <= new.sequence_id);
                }
                target = next;
            }
        }
    }
}
