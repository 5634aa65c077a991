//! How the operator knows its own shapes in the cloud.
//!
//! By labels where the cloud has them; by a name prefix where it has only names; by checkpoints
//! (`ShapeRef`) where not even the name says whose a shape is. A checkpoint proves ownership in the
//! first two as well, when somebody took a mark off; a mark of another owner always wins.

use std::collections::BTreeMap;

use evenkeel_reconcile::claim::BadClaim;
use evenkeel_reconcile::{Claim, Evidence, Mark, Matches, NamePrefix, Ownership};
use evenkeel_shapes_cloud::{Change, NewShape, Query, Shape};

use crate::key::ShapeKey;
use crate::subject::Subject;

const OWNER: &str = "evenkeel.io/owner";
const UID: &str = "evenkeel.io/uid";
const RESOURCE: &str = "evenkeel.io/shape";
const VERSION: &str = "evenkeel.io/version";

/// How the operator knows its own shapes.
#[derive(Debug, Clone)]
pub enum Marking {
    /// Each carries our name in a label.
    Labels(Mark),
    /// The name of each begins with our prefix.
    Prefix(NamePrefix),
    /// What was made is written down in ShapeRefs.
    Checkpoint,
}

/// What is wanted of a cloud shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) form: &'static str,
    pub(crate) colour: String,
    /// The name, where the name is the mark.
    name: Option<String>,
    marks: BTreeMap<String, String>,
}

impl Matches<Shape> for Look {
    fn difference(&self, live: &Shape) -> Option<String> {
        if live.form != self.form {
            return Some(format!("a {}, not a {}", live.form, self.form));
        }
        if live.colour != self.colour {
            return Some(format!("{}, not {}", live.colour, self.colour));
        }
        let unmarked = self
            .marks
            .iter()
            .any(|(name, value)| live.labels.get(name) != Some(value));
        let renamed = self.name.as_ref().is_some_and(|name| live.name != *name);
        (unmarked || renamed).then(|| "its mark is not ours".to_owned())
    }
}

impl Look {
    /// What makes `live` look like this, with what others wrote left alone.
    pub(crate) fn change(&self, live: &Shape) -> Change {
        let mut labels = live.labels.clone();
        labels.extend(self.marks.clone());
        Change {
            form: Some(self.form.to_owned()),
            colour: Some(self.colour.clone()),
            name: self.name.clone(),
            labels: (labels != live.labels).then_some(labels),
        }
    }
}

/// A cloud shape as evidence of its ownership.
struct Seen<'a>(&'a Shape);

impl Evidence for Seen<'_> {
    fn id(&self) -> &str {
        &self.0.id
    }

    fn name(&self) -> &str {
        &self.0.name
    }

    fn mark(&self, name: &str) -> Option<&str> {
        self.0.labels.get(name).map(String::as_str)
    }
}

impl Marking {
    /// By labels that carry the name `owner`.
    pub fn labels(owner: &str) -> Result<Self, BadClaim> {
        Mark::new(OWNER, owner).map(|mark| Self::Labels(mark.versioned(VERSION)))
    }

    /// By names that begin with `prefix`.
    pub fn prefix(prefix: &str) -> Result<Self, BadClaim> {
        NamePrefix::new(prefix).map(Self::Prefix)
    }

    /// What is wanted of the cloud shape of `subject`.
    pub(crate) fn look(&self, subject: &Subject, form: &'static str, colour: &str) -> Look {
        let mut look = Look {
            form,
            colour: colour.to_owned(),
            name: None,
            marks: BTreeMap::new(),
        };
        match self {
            Self::Labels(mark) => {
                let version = look.version();
                let marks = mark.marks(&version);
                look.marks = marks
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect();
                look.marks.insert(UID.to_owned(), subject.uid.clone());
                look.marks
                    .insert(RESOURCE.to_owned(), subject.key.to_string());
            }
            Self::Prefix(_) => look.name = Some(self.name(subject)),
            Self::Checkpoint => {}
        }
        look
    }

    /// The cloud shape of `subject`, to be made with its mark and `token` in one call.
    pub(crate) fn new_shape(&self, subject: &Subject, look: &Look, token: String) -> NewShape {
        NewShape {
            name: self.name(subject),
            form: look.form.to_owned(),
            colour: look.colour.clone(),
            labels: look.marks.clone(),
            token: Some(token),
        }
    }

    /// What the cloud shape of `subject` is called. Where names are all there is, the name alone
    /// finds it again.
    fn name(&self, subject: &Subject) -> String {
        let unique = || format!("{}.{}", subject.path(), subject.uid);
        match self {
            Self::Labels(_) => subject.path(),
            Self::Prefix(prefix) => prefix.name(&unique()),
            Self::Checkpoint => unique(),
        }
    }

    /// What finds whatever was made for `subject`.
    pub(crate) fn query(&self, subject: &Subject) -> Query {
        match self {
            Self::Labels(_) => Query::label(UID, &subject.uid),
            Self::Prefix(_) | Self::Checkpoint => Query {
                name: Some(self.name(subject)),
                ..Query::default()
            },
        }
    }

    /// Whose `live` is, as far as its own marks say.
    pub(crate) fn ownership(&self, live: &Shape) -> Ownership<String> {
        match self {
            Self::Labels(mark) => mark.ownership(&Seen(live)),
            // Whoever has no prefix is not another owner: it may be adopted.
            Self::Prefix(prefix) => match prefix.ownership(&Seen(live)) {
                Ownership::Other { .. } => Ownership::Nobody,
                ours => ours,
            },
            Self::Checkpoint => Ownership::Nobody,
        }
    }

    /// Which resource `live` says it was made for.
    pub(crate) fn key(&self, live: &Shape) -> ShapeKey {
        let uid = match self {
            Self::Labels(_) => live.labels.get(UID).map(String::as_str),
            Self::Prefix(prefix) => prefix.strip(&live.name).and_then(last_part),
            Self::Checkpoint => None,
        };
        let Some(uid) = uid.filter(|_| self.ownership(live).is_mine()) else {
            return ShapeKey::of_cloud(&live.id, &live.name);
        };
        ShapeKey::of_resource(uid, format!("{} ({})", live.id, live.name))
    }

    /// What takes our mark off `live`; `None` where it carries none.
    pub(crate) fn unmark(&self, live: &Shape) -> Option<Change> {
        match self {
            Self::Labels(_) => {
                let ours = |name: &String| [OWNER, UID, RESOURCE, VERSION].contains(&name.as_str());
                let mut labels = live.labels.clone();
                labels.retain(|name, _| !ours(name));
                Some(Change {
                    labels: Some(labels),
                    ..Change::default()
                })
            }
            Self::Prefix(prefix) => Some(Change {
                name: Some(prefix.strip(&live.name)?.to_owned()),
                ..Change::default()
            }),
            Self::Checkpoint => None,
        }
    }
}

impl Look {
    /// What tells one wish from another.
    pub(crate) fn version(&self) -> String {
        format!("{}.{}", self.form, self.colour)
    }
}

fn last_part(name: &str) -> Option<&str> {
    name.rsplit_once('.').map(|(_, uid)| uid)
}
