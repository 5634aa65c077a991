//! What others did to our objects: which of it counts, and when to stop taking it back.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use evenkeel_reconcile::Contention;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::fields::{LostField, lost};
use crate::key::ObjectKey;
use crate::live::Live;

/// Fields that others may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ignore {
    /// This field and all below it, as a JSON pointer: `/spec/replicas`.
    Pointer(String),
    /// Whatever this field manager takes.
    Manager(String),
}

impl Ignore {
    fn covers(&self, field: &LostField) -> bool {
        match self {
            Self::Pointer(pointer) => field
                .pointer
                .strip_prefix(pointer.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
            Self::Manager(manager) => field.manager.as_deref() == Some(manager),
        }
    }
}

/// What somebody did to an object of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriftRecord {
    /// Which object.
    pub key: ObjectKey,
    /// When we saw it.
    pub seen_at: Timestamp,
    /// Which fields, by whom and when; empty when the object as a whole is gone.
    pub fields: Vec<LostField>,
}

/// The drift of one object: what counts of it, and what others may have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Drift {
    pub(crate) fields: Vec<LostField>,
    pub(crate) ignored: Vec<LostField>,
    /// Fields are not as we left them, yet none of them can be named.
    pub(crate) unnamed: bool,
}

impl Drift {
    /// What others did to `live`, which should be `object`.
    pub(crate) fn of(
        object: impl FnOnce() -> Value,
        live: &Live,
        manager: &str,
        ignore: &[Ignore],
    ) -> Self {
        let Some(managers) = live.managers.as_deref().filter(|_| !live.is_untouched()) else {
            return Self::default();
        };
        let lost = lost(&object(), managers, manager);
        let unnamed = lost.is_empty();
        let (ignored, fields) = lost
            .into_iter()
            .partition(|field| ignore.iter().any(|rule| rule.covers(field)));
        Self {
            fields,
            ignored,
            unnamed,
        }
    }

    pub(crate) fn counts(&self) -> bool {
        self.unnamed || !self.fields.is_empty()
    }
}

impl Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.fields.is_empty() {
            return f.write_str("fields of ours were changed");
        }
        for (at, field) in self.fields.iter().take(5).enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let who = field.manager.as_deref().unwrap_or("nobody any more");
            write!(f, "{comma}{} (owned by {who})", field.pointer)?;
        }
        match self.fields.len() {
            0..=5 => Ok(()),
            more => write!(f, " and {} more", more - 5),
        }
    }
}

/// Takes the fields that others may have out of what is applied.
pub(crate) fn without(mut object: Value, fields: &[LostField]) -> Value {
    for field in fields {
        let Some((parent, name)) = field.pointer.rsplit_once('/') else {
            continue;
        };
        let name = name.replace("~1", "/").replace("~0", "~");
        if let Some(Value::Object(map)) = object.pointer_mut(parent) {
            map.remove(&name);
        }
    }
    object
}

/// A field that somebody takes again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fight {
    /// Which object.
    pub key: ObjectKey,
    /// Which field.
    pub pointer: String,
    /// Who takes it.
    pub manager: Option<String>,
    /// How often we took it back of late.
    pub times: usize,
    /// Until when we leave it.
    pub until: Timestamp,
}

impl Fight {
    pub(crate) fn contention(&self) -> Contention {
        let who = self.manager.as_deref().unwrap_or("somebody");
        Contention {
            over: format!("{who} took {} {} times of late", self.pointer, self.times),
            until: self.until,
        }
    }
}

/// What we took back of late.
#[derive(Debug, Default)]
pub(crate) struct Fights(BTreeMap<(ObjectKey, String), Vec<Timestamp>>);

impl Fights {
    /// This many times within the window make a fight.
    const MANY: usize = 3;
    const WINDOW: SignedDuration = SignedDuration::from_mins(10);
    const FIRST_PAUSE: SignedDuration = SignedDuration::from_mins(1);
    const LONGEST_PAUSE: SignedDuration = SignedDuration::from_hours(1);

    /// Notes that we take these fields back.
    pub(crate) fn took_back(&mut self, key: &ObjectKey, fields: &[LostField], now: Timestamp) {
        for field in fields {
            let times = self
                .0
                .entry((key.clone(), field.pointer.clone()))
                .or_default();
            // A quiet spell ends a fight.
            if times
                .last()
                .is_some_and(|last| now.duration_since(*last) > Self::WINDOW + Self::LONGEST_PAUSE)
            {
                times.clear();
            }
            times.push(now);
        }
    }

    /// The fight over one of these fields, if we are to stay out of it for now.
    pub(crate) fn over(
        &self,
        key: &ObjectKey,
        fields: &[LostField],
        now: Timestamp,
    ) -> Option<Fight> {
        fields.iter().find_map(|field| {
            let times = self.0.get(&(key.clone(), field.pointer.clone()))?;
            let (first, last) = (times[times.len().checked_sub(Self::MANY)?], *times.last()?);
            let rounds = u32::try_from(times.len() - Self::MANY).unwrap_or(u32::MAX);
            let pause = Self::FIRST_PAUSE.checked_mul(2_i32.saturating_pow(rounds.min(30)));
            let pause = pause
                .unwrap_or(Self::LONGEST_PAUSE)
                .min(Self::LONGEST_PAUSE);
            let until = last.saturating_add(pause).ok()?;
            let fierce = last.duration_since(first) <= Self::WINDOW + pause && now < until;
            fierce.then(|| Fight {
                key: key.clone(),
                pointer: field.pointer.clone(),
                manager: field.manager.clone(),
                times: times.len(),
                until,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::key::GroupKind;

    fn field(pointer: &str, manager: Option<&str>) -> LostField {
        LostField {
            pointer: pointer.into(),
            manager: manager.map(Into::into),
            at: None,
        }
    }

    #[test]
    fn rules_cover_a_field_and_all_below_or_a_manager() {
        let pointer = Ignore::Pointer("/spec/replicas".into());
        assert!(pointer.covers(&field("/spec/replicas", None)));
        assert!(pointer.covers(&field("/spec/replicas/x", None)));
        assert!(!pointer.covers(&field("/spec/replicasMax", None)));
        let manager = Ignore::Manager("hpa".into());
        assert!(manager.covers(&field("/anything", Some("hpa"))));
        assert!(!manager.covers(&field("/anything", None)));
    }

    #[test]
    fn fields_that_others_may_have_are_not_applied() {
        let object = json!({"spec": {"replicas": 3, "a/b": 1}});
        let fields = [field("/spec/replicas", None), field("/spec/a~1b", None)];
        assert_eq!(without(object, &fields), json!({"spec": {}}));
    }

    #[test]
    fn a_fight_is_left_for_longer_and_longer() {
        let key = ObjectKey::new(GroupKind::new("", "ConfigMap"), Some("n"), "c");
        let fields = [field("/data/a", Some("other"))];
        let second = |second| Timestamp::from_second(second).unwrap();
        let mut fights = Fights::default();
        for at in [0, 10] {
            fights.took_back(&key, &fields, second(at));
            assert_eq!(fights.over(&key, &fields, second(at + 1)), None);
        }
        fights.took_back(&key, &fields, second(20));
        let fight = fights.over(&key, &fields, second(21)).unwrap();
        assert_eq!(
            (fight.times, fight.until, fight.manager.as_deref()),
            (3, second(80), Some("other"))
        );
        assert_eq!(fights.over(&key, &fields, second(80)), None, "one more try");
        fights.took_back(&key, &fields, second(80));
        assert_eq!(
            fights.over(&key, &fields, second(81)).unwrap().until,
            second(200)
        );
        assert_eq!(
            fights.over(&key, &[field("/data/b", None)], second(81)),
            None
        );
    }
}
