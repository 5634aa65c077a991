//! Closed word lists: an enum whose variants have one spelling on the wire, in the database and
//! in the log.

/// A word that is not in the list it was looked up in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not a known {list}")]
pub struct UnknownWord {
    /// What kind of word was expected.
    pub list: &'static str,
    /// What was found instead.
    pub word: String,
}

/// Declares an enum together with the one spelling of each variant.
macro_rules! words {
    ($(#[doc = $about:literal])* $name:ident as $list:literal {
        $($(#[$doc:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every word of the list.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The one spelling.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        // Derived, the schema would name the variants: a literal that came through a macro is not
        // recognised as their spelling.
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::Type::String)
                    .enum_values(Some(Self::ALL.iter().map(|word| word.as_str())))
                    .description(Some(concat!($($about),*).trim()))
                    .into()
            }
        }

        impl utoipa::ToSchema for $name {}

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::UnknownWord { list: $list, word: word.to_owned() }),
                }
            }
        }
    };
}

pub(crate) use words;

#[cfg(test)]
mod tests {
    use crate::DriftMode;

    #[test]
    fn the_schema_spells_words_as_the_wire_does() {
        let schema = serde_json::to_value(<DriftMode as utoipa::PartialSchema>::schema());
        let wanted = serde_json::json!({
            "type": "string",
            "description": "What an agent does about drift.",
            "enum": ["off", "warn", "enforce"],
        });
        assert_eq!(schema.unwrap(), wanted);
    }
}
