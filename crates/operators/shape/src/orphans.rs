//! Cloud shapes that nobody declares, until they are ripe for removal.

use std::collections::BTreeMap;

use evenkeel_shapes_cloud::Shape as CloudShape;
use jiff::Timestamp;

use crate::key::ShapeKey;
use crate::settings::Orphanage;

/// How many surveys in a row have to see an orphan.
const SURVEYS: u32 = 2;

/// A cloud shape that nobody declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doomed {
    /// The shape as it was seen; it is removed only as such.
    pub shape: CloudShape,
    /// The uid of the Shape that it says it was made for.
    pub uid: Option<String>,
    /// Why it would be removed.
    pub why: String,
}

impl Doomed {
    pub(crate) fn new(shape: &CloudShape, key: &ShapeKey, why: String) -> Self {
        Self {
            shape: shape.clone(),
            uid: key.uid().map(str::to_owned),
            why,
        }
    }
}

/// The orphans that earlier surveys saw.
#[derive(Debug, Default)]
pub(crate) struct Orphans(BTreeMap<String, Seen>);

#[derive(Debug, Clone, Copy)]
struct Seen {
    first: Timestamp,
    surveys: u32,
}

impl Orphans {
    /// A complete survey saw these and no others. Answers which of them are ripe: seen twice and
    /// for long enough, the oldest first, no more than the cap.
    pub(crate) fn seen(
        &mut self,
        now_seen: Vec<Doomed>,
        house: &Orphanage,
        now: Timestamp,
    ) -> Vec<Doomed> {
        let earlier = std::mem::take(&mut self.0);
        for doomed in &now_seen {
            let known = earlier.get(&doomed.shape.id);
            let seen = Seen {
                first: known.map_or(now, |known| known.first),
                surveys: known.map_or(1, |known| known.surveys.saturating_add(1)),
            };
            self.0.insert(doomed.shape.id.clone(), seen);
        }
        let is_ripe = |doomed: &Doomed| {
            let seen = self.0[&doomed.shape.id];
            seen.surveys >= SURVEYS && now.duration_since(seen.first) >= house.grace
        };
        let mut ripe: Vec<_> = now_seen.into_iter().filter(is_ripe).collect();
        ripe.sort_by_key(|doomed| self.0[&doomed.shape.id].first);
        ripe.truncate(house.cap);
        ripe
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use jiff::SignedDuration;

    use super::*;
    use crate::settings::OrphanMode;

    fn orphan(id: &str) -> Doomed {
        let shape = CloudShape {
            id: id.to_owned(),
            name: id.to_owned(),
            form: "Circle".to_owned(),
            colour: "red".to_owned(),
            labels: BTreeMap::new(),
            token: None,
            version: 1,
            created_at: Timestamp::UNIX_EPOCH,
        };
        Doomed {
            shape,
            uid: None,
            why: String::new(),
        }
    }

    const HOUSE: Orphanage = Orphanage {
        mode: OrphanMode::Collect,
        grace: SignedDuration::from_secs(100),
        cap: 2,
    };

    fn ripe(orphans: &mut Orphans, ids: &[&str], second: i64) -> Vec<String> {
        let seen = ids.iter().map(|id| orphan(id)).collect();
        let now = Timestamp::from_second(second).unwrap();
        orphans
            .seen(seen, &HOUSE, now)
            .into_iter()
            .map(|doomed| doomed.shape.id)
            .collect()
    }

    #[test]
    fn it_takes_two_surveys_and_the_grace() {
        let mut orphans = Orphans::default();
        assert!(ripe(&mut orphans, &["a"], 0).is_empty());
        assert!(
            ripe(&mut orphans, &["a"], 60).is_empty(),
            "not for long enough"
        );
        assert_eq!(ripe(&mut orphans, &["a"], 100), ["a"]);
        let mut once = Orphans::default();
        assert!(
            ripe(&mut once, &["a"], 1_000).is_empty(),
            "not often enough"
        );
    }

    #[test]
    fn one_that_was_declared_meanwhile_starts_anew() {
        let mut orphans = Orphans::default();
        ripe(&mut orphans, &["a"], 0);
        ripe(&mut orphans, &[], 60);
        assert!(ripe(&mut orphans, &["a"], 120).is_empty());
        assert!(ripe(&mut orphans, &["a"], 180).is_empty());
    }

    #[test]
    fn no_more_than_the_cap_go_at_once() {
        let mut orphans = Orphans::default();
        ripe(&mut orphans, &["a", "b", "c"], 0);
        assert_eq!(ripe(&mut orphans, &["a", "b", "c"], 100), ["a", "b"]);
        assert_eq!(ripe(&mut orphans, &["c"], 160), ["c"]);
    }
}
