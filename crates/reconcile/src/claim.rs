//! Four ways to prove that a thing is ours.
//!
//! Which one fits depends on the world: a [`Mark`] where things carry labels, annotations or tags;
//! a [`NamePrefix`] where they carry nothing but a name; a [`Ledger`](crate::Ledger) where not even
//! the name is ours to choose; an [`OwnerReference`] where the world itself knows owners. In doubt
//! a thing is not ours.

use crate::ownership::Ownership;

/// What a thing shows of its ownership.
pub trait Evidence {
    /// The id that the world knows it by.
    fn id(&self) -> &str;

    /// Its name.
    fn name(&self) -> &str;

    /// The value of the mark (label, annotation, tag) called `name`.
    fn mark(&self, name: &str) -> Option<&str> {
        let _ = name;
        None
    }

    /// The id of the owner that controls it, where the world knows owners.
    fn controller(&self) -> Option<&str> {
        None
    }
}

/// A way to prove that a thing is ours.
pub trait Claim {
    /// A version of desired state, as far as things or records show it.
    type Version;

    /// Whose `thing` is.
    fn ownership(&self, thing: &impl Evidence) -> Ownership<Self::Version>;
}

/// A claim that would be true of too much.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadClaim {
    /// Without a name everything, or nothing, would be ours.
    #[error("the {0} of a claim must not be empty")]
    Empty(&'static str),
    /// `app` is also the beginning of `apple`.
    #[error("the name prefix {0:?} must end with one of - . _ / :")]
    OpenPrefix(String),
}

fn filled(text: impl Into<String>, what: &'static str) -> Result<String, BadClaim> {
    let text = text.into();
    if text.is_empty() {
        Err(BadClaim::Empty(what))
    } else {
        Ok(text)
    }
}

/// Ours is what carries our name in a mark; another mark may carry the version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    owner_mark: String,
    version_mark: Option<String>,
    me: String,
}

impl Mark {
    /// Ours is what carries `me` in the mark called `owner_mark`.
    pub fn new(owner_mark: impl Into<String>, me: impl Into<String>) -> Result<Self, BadClaim> {
        let owner_mark = filled(owner_mark, "owner mark")?;
        Ok(Self {
            owner_mark,
            version_mark: None,
            me: filled(me, "owner")?,
        })
    }

    /// The same, with the version in the mark called `version_mark`.
    #[must_use]
    pub fn versioned(mut self, version_mark: impl Into<String>) -> Self {
        self.version_mark = Some(version_mark.into());
        self
    }

    /// The marks that make a thing ours at `version`, to be set in the call that creates it.
    pub fn marks<'m>(&'m self, version: &'m str) -> impl Iterator<Item = (&'m str, &'m str)> {
        let versioned = self.version_mark.as_deref().map(|mark| (mark, version));
        [(self.owner_mark.as_str(), self.me.as_str())]
            .into_iter()
            .chain(versioned)
    }
}

impl Claim for Mark {
    type Version = String;

    fn ownership(&self, thing: &impl Evidence) -> Ownership<String> {
        match thing.mark(&self.owner_mark) {
            Some(owner) if owner == self.me => {
                let version = self
                    .version_mark
                    .as_deref()
                    .and_then(|mark| thing.mark(mark));
                Ownership::Mine {
                    version: version.map(str::to_owned),
                }
            }
            Some(owner) => Ownership::Other {
                owner: owner.to_owned(),
            },
            None => Ownership::Nobody,
        }
    }
}

/// Ours is what has a name that begins with our prefix. Everything else counts as another's, since
/// a name can be taken over by nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePrefix(String);

impl NamePrefix {
    /// Ours is what has a name that begins with `prefix`, which ends with a separator.
    pub fn new(prefix: impl Into<String>) -> Result<Self, BadClaim> {
        let prefix = filled(prefix, "name prefix")?;
        if prefix.ends_with(['-', '.', '_', '/', ':']) {
            Ok(Self(prefix))
        } else {
            Err(BadClaim::OpenPrefix(prefix))
        }
    }

    /// The name in the world of what we call `name`.
    pub fn name(&self, name: &str) -> String {
        format!("{}{name}", self.0)
    }

    /// What we call the thing that the world calls `name`.
    pub fn strip<'n>(&self, name: &'n str) -> Option<&'n str> {
        name.strip_prefix(&self.0)
    }
}

impl Claim for NamePrefix {
    type Version = String;

    fn ownership(&self, thing: &impl Evidence) -> Ownership<String> {
        match self.strip(thing.name()) {
            Some(_) => Ownership::Mine { version: None },
            None => Ownership::Other {
                owner: "whoever chose its name".to_owned(),
            },
        }
    }
}

/// Ours is what our owner controls. Owners are told apart by the id that the world gave them, never
/// by name: one that was deleted and made anew is another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerReference {
    owner: String,
    version_mark: Option<String>,
}

impl OwnerReference {
    /// Ours is what the owner with the id `owner` controls.
    pub fn new(owner: impl Into<String>) -> Result<Self, BadClaim> {
        Ok(Self {
            owner: filled(owner, "owner")?,
            version_mark: None,
        })
    }

    /// The same, with the version in the mark called `version_mark`.
    #[must_use]
    pub fn versioned(mut self, version_mark: impl Into<String>) -> Self {
        self.version_mark = Some(version_mark.into());
        self
    }
}

impl Claim for OwnerReference {
    type Version = String;

    fn ownership(&self, thing: &impl Evidence) -> Ownership<String> {
        match thing.controller() {
            Some(owner) if owner == self.owner => {
                let version = self
                    .version_mark
                    .as_deref()
                    .and_then(|mark| thing.mark(mark));
                Ownership::Mine {
                    version: version.map(str::to_owned),
                }
            }
            Some(owner) => Ownership::Other {
                owner: owner.to_owned(),
            },
            None => Ownership::Nobody,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Thing {
        name: &'static str,
        marks: &'static [(&'static str, &'static str)],
        controller: Option<&'static str>,
    }

    impl Evidence for Thing {
        fn id(&self) -> &str {
            "1"
        }

        fn name(&self) -> &str {
            self.name
        }

        fn mark(&self, name: &str) -> Option<&str> {
            self.marks
                .iter()
                .find(|(mark, _)| *mark == name)
                .map(|(_, value)| *value)
        }

        fn controller(&self) -> Option<&str> {
            self.controller
        }
    }

    #[test]
    fn a_mark_tells_mine_from_others_and_nobodys() {
        let claim = Mark::new("owner", "k8s").unwrap().versioned("version");
        let whose = |marks| {
            claim.ownership(&Thing {
                marks,
                ..Thing::default()
            })
        };
        assert_eq!(
            whose(&[("owner", "k8s"), ("version", "7")]),
            Ownership::mine_at("7".into())
        );
        assert_eq!(
            whose(&[("owner", "k8s")]),
            Ownership::Mine { version: None }
        );
        assert_eq!(
            whose(&[("owner", "bob")]),
            Ownership::Other {
                owner: "bob".into()
            }
        );
        assert_eq!(whose(&[("version", "7")]), Ownership::Nobody);
    }

    #[test]
    fn what_a_mark_writes_it_reads_as_its_own() {
        let claim = Mark::new("owner", "k8s").unwrap().versioned("version");
        let marks: Vec<_> = claim.marks("7").collect();
        assert_eq!(marks, [("owner", "k8s"), ("version", "7")]);
    }

    #[test]
    fn a_prefix_owns_its_names_and_no_longer_words() {
        let claim = NamePrefix::new("k8s-").unwrap();
        let whose = |name| {
            claim.ownership(&Thing {
                name,
                ..Thing::default()
            })
        };
        assert!(whose("k8s-foo").is_mine());
        assert!(!whose("k8sfoo").is_mine());
        assert_eq!(claim.strip(&claim.name("foo")), Some("foo"));
        assert_eq!(
            NamePrefix::new("k8s"),
            Err(BadClaim::OpenPrefix("k8s".into()))
        );
    }

    #[test]
    fn an_owner_that_was_made_anew_is_another_owner() {
        let claim = OwnerReference::new("uid-2").unwrap();
        let whose = |controller| {
            claim.ownership(&Thing {
                controller,
                ..Thing::default()
            })
        };
        assert!(whose(Some("uid-2")).is_mine());
        assert_eq!(
            whose(Some("uid-1")),
            Ownership::Other {
                owner: "uid-1".into()
            }
        );
        assert_eq!(whose(None), Ownership::Nobody);
    }

    #[test]
    fn no_claim_is_true_of_everything() {
        assert_eq!(Mark::new("owner", ""), Err(BadClaim::Empty("owner")));
        assert_eq!(NamePrefix::new(""), Err(BadClaim::Empty("name prefix")));
        assert_eq!(OwnerReference::new(""), Err(BadClaim::Empty("owner")));
    }
}
