//! Labels and annotations of agents and stacks.

use evenkeel_model::{AgentId, AnnotationKey, AnnotationValue, Checksum, Label, StackId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// Tags have no ids of their own; clients that expect one get this, always the same for the same.
fn id(owner: Uuid, kind: &str, text: &str) -> Uuid {
    let digest = Checksum::of(format!("{owner}/{kind}/{text}"));
    let number = u128::from_str_radix(&digest.as_str()[..32], 16).unwrap_or_default();
    uuid::Builder::from_random_bytes(number.to_be_bytes()).into_uuid()
}

macro_rules! tags {
    ($($(#[$doc:meta])* $name:ident of $owner:ident: $owner_type:ident {
        $($(#[$field_doc:meta])* $field:ident: $type:ty,)+
    } known_by $known:ident)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        pub struct $name {
            /// Always the same for the same tag.
            pub id: Uuid,
            /// Whose it is.
            pub $owner: $owner_type,
            $($(#[$field_doc])* pub $field: $type,)+
        }

        impl $name {
            /// The tag of this owner.
            pub fn new($owner: $owner_type, $($field: $type),+) -> Self {
                let id = id($owner.0, stringify!($known), $known.as_str());
                Self { id, $owner, $($field),+ }
            }
        }
    )+};
}

tags! {
    /// A label of an agent.
    AgentLabel of agent_id: AgentId {
        /// The label.
        label: Label,
    } known_by label

    /// A label of a stack.
    StackLabel of stack_id: StackId {
        /// The label.
        label: Label,
    } known_by label

    /// An annotation of an agent.
    AgentAnnotation of agent_id: AgentId {
        /// What is said.
        key: AnnotationKey,
        /// What it says.
        value: AnnotationValue,
    } known_by key

    /// An annotation of a stack.
    StackAnnotation of stack_id: StackId {
        /// What is said.
        key: AnnotationKey,
        /// What it says.
        value: AnnotationValue,
    } known_by key
}

/// A label to be put on an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewAgentLabel {
    /// The agent; the one of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The label.
    pub label: Label,
}

/// An annotation to be put on an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewAgentAnnotation {
    /// The agent; the one of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// What is said.
    pub key: AnnotationKey,
    /// What it says.
    pub value: AnnotationValue,
}

/// An annotation to be put on a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewStackAnnotation {
    /// The stack; the one of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack_id: Option<StackId>,
    /// What is said.
    pub key: AnnotationKey,
    /// What it says.
    pub value: AnnotationValue,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_has_the_same_id_whenever_it_is_shown() {
        let (owner, other) = (AgentId(Uuid::from_u128(1)), AgentId(Uuid::from_u128(2)));
        let label = |owner, text: &str| AgentLabel::new(owner, text.parse().unwrap()).id;
        assert_eq!(label(owner, "edge"), label(owner, "edge"));
        assert_ne!(label(owner, "edge"), label(owner, "core"));
        assert_ne!(label(owner, "edge"), label(other, "edge"));
    }
}
