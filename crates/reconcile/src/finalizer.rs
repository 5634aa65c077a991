//! The life of an object whose effects outlive it, from the first hold to the last release.
//!
//! Flow: hold the object with our finalizer, converge, and when somebody deletes the object, clean
//! up, see that nothing is left, release.
//!
//! Guarantees: no effect before the hold was confirmed; no release before an authoritative look
//! found nothing left, unless the effects are to stay; other finalizers are never touched.
//!
//! Assumptions: [`Life`] is read from the API server's own reply, not from a cache that may be
//! older than our last write.

/// What is known of an object that has effects outside itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Life {
    /// Whether somebody asked for its deletion.
    pub deleting: bool,
    /// Whether our finalizer holds it.
    pub held: bool,
    /// What is left of its effects.
    pub effects: Effects,
    /// What becomes of its effects when it goes.
    pub on_delete: OnDelete,
}

/// What is left of an object's effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effects {
    /// Nobody has looked, or not everything could be seen.
    Unknown,
    /// Something is left.
    Remain,
    /// An authoritative look found nothing.
    Gone,
}

/// What becomes of an object's effects when it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDelete {
    /// They are removed.
    #[default]
    Delete,
    /// They stay.
    Retain,
}

/// The next thing to do in an object's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LifeStep {
    /// Add our finalizer, in a write of its own, and come back with the reply.
    Hold,
    /// Bring its effects to what it says.
    Converge,
    /// Remove its effects, then look again.
    CleanUp,
    /// Remove our finalizer.
    Release,
    /// Nothing: it is no longer ours to care for.
    LetGo,
}

impl Life {
    /// The next thing to do.
    pub fn next(self) -> LifeStep {
        match (self.deleting, self.held, self.on_delete, self.effects) {
            (false, false, _, _) => LifeStep::Hold,
            (false, true, _, _) => LifeStep::Converge,
            (true, false, _, _) => LifeStep::LetGo,
            (true, true, OnDelete::Retain, _) => LifeStep::Release,
            (true, true, OnDelete::Delete, Effects::Unknown | Effects::Remain) => LifeStep::CleanUp,
            (true, true, OnDelete::Delete, Effects::Gone) => LifeStep::Release,
        }
    }
}

/// The finalizers of an object with `ours` among them; the others keep their places.
pub fn held(finalizers: &[String], ours: &str) -> Vec<String> {
    let mut all = finalizers.to_vec();
    if !all.iter().any(|name| name == ours) {
        all.push(ours.to_owned());
    }
    all
}

/// The finalizers of an object without `ours`; the others keep their places.
pub fn released(finalizers: &[String], ours: &str) -> Vec<String> {
    finalizers
        .iter()
        .filter(|name| *name != ours)
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: Life = Life {
        deleting: false,
        held: true,
        effects: Effects::Unknown,
        on_delete: OnDelete::Delete,
    };

    #[test]
    fn nothing_happens_before_the_hold() {
        assert_eq!(
            Life {
                held: false,
                ..HELD
            }
            .next(),
            LifeStep::Hold
        );
        assert_eq!(HELD.next(), LifeStep::Converge);
    }

    #[test]
    fn release_waits_for_an_authoritative_look() {
        let deleted = Life {
            deleting: true,
            ..HELD
        };
        assert_eq!(deleted.next(), LifeStep::CleanUp);
        assert_eq!(
            Life {
                effects: Effects::Remain,
                ..deleted
            }
            .next(),
            LifeStep::CleanUp
        );
        assert_eq!(
            Life {
                effects: Effects::Gone,
                ..deleted
            }
            .next(),
            LifeStep::Release
        );
    }

    #[test]
    fn effects_that_are_to_stay_do_not_hold_the_object() {
        let kept = Life {
            deleting: true,
            on_delete: OnDelete::Retain,
            ..HELD
        };
        assert_eq!(
            Life {
                effects: Effects::Remain,
                ..kept
            }
            .next(),
            LifeStep::Release
        );
    }

    #[test]
    fn an_object_deleted_before_we_held_it_is_let_go() {
        assert_eq!(
            Life {
                deleting: true,
                held: false,
                ..HELD
            }
            .next(),
            LifeStep::LetGo
        );
    }

    #[test]
    fn other_finalizers_keep_their_places() {
        let others = ["a".to_owned(), "b".to_owned()];
        let with = held(&others, "ours");
        assert_eq!(with, ["a", "b", "ours"]);
        assert_eq!(held(&with, "ours"), with);
        assert_eq!(released(&with, "ours"), others);
    }
}
