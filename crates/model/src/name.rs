//! Names, labels and annotations, checked once when they are parsed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a text was refused as a name, label or annotation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    /// Nothing was given.
    #[error("{what} must not be empty")]
    Empty {
        /// What the text was meant to be.
        what: &'static str,
    },
    /// It is too long.
    #[error("{what} has {length} characters, {limit} are allowed")]
    TooLong {
        /// What the text was meant to be.
        what: &'static str,
        /// How long it is.
        length: usize,
        /// How long it may be.
        limit: usize,
    },
    /// It holds a character that is not allowed there.
    #[error("{what} must not contain {character:?}")]
    Forbidden {
        /// What the text was meant to be.
        what: &'static str,
        /// The first such character.
        character: char,
    },
    /// It begins or ends with a space.
    #[error("{what} must not begin or end with a space")]
    Untrimmed {
        /// What the text was meant to be.
        what: &'static str,
    },
}

/// The rule of one kind of text.
struct Rule {
    what: &'static str,
    limit: usize,
    forbids: fn(char) -> bool,
}

impl Rule {
    fn check(&self, text: &str) -> Result<(), InvalidName> {
        let what = self.what;
        let length = text.chars().count();
        if text.is_empty() {
            return Err(InvalidName::Empty { what });
        }
        if length > self.limit {
            return Err(InvalidName::TooLong {
                what,
                length,
                limit: self.limit,
            });
        }
        if text.trim() != text {
            return Err(InvalidName::Untrimmed { what });
        }
        match text.chars().find(|&c| (self.forbids)(c)) {
            Some(character) => Err(InvalidName::Forbidden { what, character }),
            None => Ok(()),
        }
    }
}

fn control(c: char) -> bool {
    c.is_control()
}

fn blank(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident = $what:literal, $limit:tt, $forbids:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(Serialize, Deserialize, ToSchema)]
        #[schema(value_type = String, min_length = 1, max_length = $limit)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            const RULE: Rule = Rule { what: $what, limit: $limit, forbids: $forbids };

            /// Checks `text` against the rule for this kind of text.
            pub fn new(text: impl Into<String>) -> Result<Self, InvalidName> {
                let text = text.into();
                Self::RULE.check(&text).map(|()| Self(text))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidName;

            fn try_from(text: String) -> Result<Self, InvalidName> {
                Self::new(text)
            }
        }

        impl FromStr for $name {
            type Err = InvalidName;

            fn from_str(text: &str) -> Result<Self, InvalidName> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

texts! {
    /// The name of a generator, an agent, a cluster, a stack or a webhook.
    Name = "a name", 255, control;
    /// A label of an agent or a stack.
    Label = "a label", 64, blank;
    /// The key of an annotation.
    AnnotationKey = "an annotation key", 64, blank;
    /// The value of an annotation.
    AnnotationValue = "an annotation value", 64, blank;
}

/// A key with its value, on an agent or a stack.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
pub struct Annotation {
    /// What is said.
    pub key: AnnotationKey,
    /// What it says.
    pub value: AnnotationValue,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_label_has_at_most_64_characters_and_no_blanks() {
        assert!(Label::new("x".repeat(64)).is_ok());
        assert!(matches!(
            Label::new("x".repeat(65)),
            Err(InvalidName::TooLong {
                length: 65,
                limit: 64,
                ..
            })
        ));
        assert!(matches!(
            Label::new("two words"),
            Err(InvalidName::Forbidden { character: ' ', .. })
        ));
        assert_eq!(Label::new(""), Err(InvalidName::Empty { what: "a label" }));
    }

    #[test]
    fn a_name_may_hold_spaces_inside_only() {
        assert!(Name::new("the shop").is_ok());
        assert!(matches!(
            Name::new(" shop"),
            Err(InvalidName::Untrimmed { .. })
        ));
        assert!(matches!(
            Name::new("a\u{0}b"),
            Err(InvalidName::Forbidden { .. })
        ));
    }

    proptest! {
        #[test]
        fn what_parses_is_what_serialises(text in ".{0,80}") {
            if let Ok(label) = Label::new(text) {
                let json = serde_json::to_string(&label).unwrap();
                prop_assert_eq!(serde_json::from_str::<Label>(&json).unwrap(), label);
            }
        }

        #[test]
        fn a_refused_text_is_refused_by_serde_too(text in ".{0,80}") {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(
                serde_json::from_str::<Label>(&json).is_ok(),
                Label::new(text).is_ok()
            );
        }
    }
}
